package document_test

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/guardrail/detect"
)

// jsonTexts are members whose text is often JSON.
var jsonTexts = []struct {
	name, body string
	answer     bool
}{
	{"content of an answer", `{"choices":[{"index":0,"message":{"role":"assistant","content":%s}}]}`, true},
	{"output_text", `{"object":"response","output":[{"type":"message","content":[{"type":"output_text","text":%s}]}]}`, true},
	{"result of a tool", `{"messages":[{"role":"tool","tool_call_id":"call_1","content":%s}]}`, false},
	{"output of a function", `{"input":[{"type":"function_call_output","call_id":"call_1","output":%s}]}`, false},
}

// jsonRules find what the tests of this file contain.
func jsonRules(deny bool) []detect.Rule {
	return []detect.Rule{
		{Detector: must(detect.Email()), Deny: deny, Mark: "[REDACTED:email]"},
		{Detector: must(detect.Card()), Deny: deny, Mark: "[REDACTED:card]"},
		{Detector: must(detect.Words([]string{"café", "forbidden"})), Deny: deny, Mark: "[REDACTED:words]"},
	}
}

func TestTextsThatAreJSONStayJSON(t *testing.T) {
	for _, test := range []struct{ text, want string }{
		{`{"note":"write to:\nann@example.com"}`, `{"note":"write to:\n[REDACTED:email]"}`},
		{` [{"pan":4111111111111111}] `, ` [{"pan":"[REDACTED:card]"}] `},
		{`{"note":"pay:\n4111 1111 1111 1111"}`, `{"note":"pay:\n[REDACTED:card]"}`},
		{`{"note":"the caf\u00e9","of":"ann\u0040example.com"}`, `{"note":"the [REDACTED:words]","of":"[REDACTED:email]"}`},
		// What only begins as JSON is plain text.
		{`[note] it is forbidden`, `[note] it is [REDACTED:words]`},
		{`[4111 1111 1111 1111]`, `[[REDACTED:card]]`},
		{`{"to":"ann@example.com"`, `{"to":"[REDACTED:email]"`},
		{`{forbidden\n}`, `{[REDACTED:words]\n}`},
		{`{"to":"ann@example.com"} and {"a":1}`, `{"to":"[REDACTED:email]"} and {"a":1}`},
	} {
		for _, member := range jsonTexts {
			in, _ := json.Marshal(test.text)
			out, _ := json.Marshal(test.want)
			got, err := judge(t, jsonRules(false), fmt.Sprintf(member.body, in), member.answer)
			if want := fmt.Sprintf(member.body, out); err != nil || got != want {
				t.Errorf("%s: %s, want %s, %v", member.name, got, want, err)
			}
			if json.Valid([]byte(test.text)) && !json.Valid([]byte(test.want)) {
				t.Errorf("%s is no JSON", test.want)
			}
		}
	}
}

func TestEscapesInTextsThatAreJSONHideNothing(t *testing.T) {
	for _, text := range []string{`{"note":"x\nforbidden"}`, "\n[\"caf\\u00e9\"]\n", `{"f\u006frbidden":1}`} {
		for _, member := range jsonTexts {
			in, _ := json.Marshal(text)
			if _, err := judge(t, jsonRules(true), fmt.Sprintf(member.body, in), member.answer); err != detect.ErrDenied {
				t.Errorf("%s: %s passes, %v", member.name, text, err)
			}
		}
	}
}

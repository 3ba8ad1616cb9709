package guardrail_test

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/guardrail"
)

// textPlaces are where a text that is JSON stands as often as not.
var textPlaces = []struct {
	name, body string
	judge      func(t *testing.T, set *guardrail.Set, body []byte) (guardrail.Result, error)
}{
	{"content of an answer", `{"choices":[{"index":0,"message":{"role":"assistant","content":%s}}]}`, answer},
	{"output_text", `{"object":"response","output":[{"type":"message","content":[{"type":"output_text","text":%s}]}]}`, answer},
	{"result of a tool", `{"messages":[{"role":"tool","tool_call_id":"call_1","content":%s}]}`, request},
	{"output of a function", `{"input":[{"type":"function_call_output","call_id":"call_1","output":%s}]}`, request},
}

func answer(t *testing.T, set *guardrail.Set, body []byte) (guardrail.Result, error) {
	return set.Answer(t.Context(), body)
}

func request(t *testing.T, set *guardrail.Set, body []byte) (guardrail.Result, error) {
	return set.Request(t.Context(), body)
}

func TestTextsThatAreJSONStayJSON(t *testing.T) {
	set := argumentRules(t, guardrail.Redact)
	for _, test := range []struct{ text, want string }{
		{`{"note":"write to:\nann@example.com"}`, `{"note":"write to:\n[REDACTED:email]"}`},
		{` [{"pan":4111111111111111}] `, ` [{"pan":"[REDACTED:card]"}] `},
		{`{"note":"pay:\n4111 1111 1111 1111"}`, `{"note":"pay:\n[REDACTED:card]"}`},
		{`{"note":"the caf\u00e9","of":"ann\u0040example.com"}`, `{"note":"the [REDACTED:words]","of":"[REDACTED:email]"}`},
		// What only begins as JSON is a text.
		{`[note] it is forbidden`, `[note] it is [REDACTED:words]`},
		{`[4111 1111 1111 1111]`, `[[REDACTED:card]]`},
		{`{"to":"ann@example.com"`, `{"to":"[REDACTED:email]"`},
		{`{forbidden\n}`, `{[REDACTED:words]\n}`},
		{`{"to":"ann@example.com"} and {"a":1}`, `{"to":"[REDACTED:email]"} and {"a":1}`},
	} {
		for _, place := range textPlaces {
			in, _ := json.Marshal(test.text)
			out, _ := json.Marshal(test.want)
			r, err := place.judge(t, set, fmt.Appendf(nil, place.body, in))
			if want := fmt.Sprintf(place.body, out); err != nil || string(r.Body) != want {
				t.Errorf("%s: %s, want %s, %v", place.name, r.Body, want, err)
			}
			if json.Valid([]byte(test.text)) && !json.Valid([]byte(test.want)) {
				t.Errorf("%s is no JSON", test.want)
			}
		}
	}
}

func TestEscapesInTextsThatAreJSONHideNothing(t *testing.T) {
	set := argumentRules(t, guardrail.Deny)
	for _, text := range []string{`{"note":"x\nforbidden"}`, "\n[\"caf\\u00e9\"]\n", `{"f\u006frbidden":1}`} {
		for _, place := range textPlaces {
			in, _ := json.Marshal(text)
			if r, err := place.judge(t, set, fmt.Appendf(nil, place.body, in)); err != nil || r.Verdict == nil {
				t.Errorf("%s: %s passes, %v", place.name, text, err)
			}
		}
	}
}

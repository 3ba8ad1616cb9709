package judge_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/guardrail"
	"github.com/gatehouse-proxy/gatehouse/internal/guardrail/judge"
	"github.com/gatehouse-proxy/gatehouse/internal/openai"
	"github.com/gatehouse-proxy/gatehouse/internal/testkit/jsontest"
)

// What ends a text of a Response: its own done event, that of its part or item, or that of all.
func TestATextOfAResponseEndsWithItsEvent(t *testing.T) {
	const here, elsewhere = `"output_index":0,"content_index":0`, `"output_index":0,"content_index":1`
	for ending, ends := range map[string]bool{
		`{"type":"response.output_text.done",` + here + `,"text":""}`:                               true,
		`{"type":"response.output_text.done",` + elsewhere + `,"text":""}`:                          false,
		`{"type":"response.output_text.done","output_index":1,"content_index":0}`:                   false,
		`{"type":"response.output_text.done","output_index":0,"content_index":0,"summary_index":0}`: false,
		`{"type":"response.refusal.done",` + here + `}`:                                             false,
		`{"type":"response.output_text.added",` + here + `}`:                                        false,
		`{"type":"response.content_part.done",` + here + `}`:                                        true,
		`{"type":"response.content_part.done",` + elsewhere + `}`:                                   false,
		`{"type":"response.content_part.added",` + here + `}`:                                       false,
		`{"type":"response.output_item.done","output_index":0}`:                                     true,
		`{"type":"response.output_item.done","output_index":1}`:                                     false,
		`{"type":"response.output_item.added","output_index":0,"item":{}}`:                          false,
		`{"type":"response.completed","response":{}}`:                                               true,
		`{"type":"response.incomplete","response":{}}`:                                              true,
		`{"type":"response.failed","response":{}}`:                                                  true,
		`{"type":"error"}`: true,
		`{"type":"response.in_progress","response":{}}`:                                                false,
		`{"type":"response.output_text.delta","output_index":0,"content_index":1,"delta":"x "}`:        true, // clients join the parts
		`{"type":"response.output_text.delta","output_index":1,"content_index":0,"delta":"x "}`:        false,
		`{"type":"response.refusal.delta","output_index":0,"content_index":1,"delta":"x "}`:            false,
		`{"type":"response.reasoning_text.delta","output_index":0,"content_index":1,"delta":"x "}`:     false,
		`{"type":"response.output_text.delta","output_index":0,"content_index":0,"delta":"","a":"b "}`: false,
	} {
		got := sentOn(t, forbidden(t, judge.Redact).Stream(guardrail.Responses), `{"type":"response.output_text.delta",`+here+`,"delta":"forb"}`, ending)
		if now := jsontest.Has(t, got[1], `{"delta":"forb"}`); now != ends || now == jsontest.Has(t, got[2], `{"delta":"forb"}`) {
			t.Errorf("%s: got %q", ending, got)
		}
	}
	// Without an index of the item, its id counts.
	for id, ends := range map[string]bool{`"item_id":"a"`: true, `"item_id":"b"`: false, `"item":{"id":"a"}`: true, `"item":{"id":"b"}`: false, `"item_id":"a","output_index":0`: false} {
		got := sentOn(t, forbidden(t, judge.Redact).Stream(guardrail.Responses), `{"type":"response.x.delta","item_id":"a","delta":"forb"}`, `{"type":"response.output_item.done",`+id+`}`)
		if now := jsontest.Has(t, got[1], `{"delta":"forb"}`); now != ends {
			t.Errorf("%s: got %q", id, got)
		}
	}
}

func TestDeltasContinueTheTextOfTheirPartOrItem(t *testing.T) {
	for _, test := range []struct{ added, typ, key, delta string }{
		{"content_part", "output_text", "text", "output_text"},
		{"content_part", "text", "text", "output_text"},
		{"content_part", "refusal", "refusal", "refusal"},
		{"content_part", "reasoning_text", "text", "reasoning_text"},
		{"reasoning_summary_part", "summary_text", "text", "reasoning_summary_text"},
		{"output_item", "function_call", "arguments", "function_call_arguments"},
		{"output_item", "mcp_call", "arguments", "mcp_call_arguments"},
		{"output_item", "custom_tool_call", "input", "custom_tool_call_input"},
		{"output_item", "code_interpreter_call", "code", "code_interpreter_call_code"},
	} {
		what := "part"
		if test.added == "output_item" {
			what = "item"
		}
		added := func(key string) string {
			return fmt.Sprintf(`{"type":"response.%s.added","output_index":0,"%s":{"type":"%s","%s":"\"a forb"}}`, test.added, what, test.typ, key)
		}
		for _, c := range []struct {
			name, added string
			denied      bool
		}{
			{"its text", added(test.key), true}, {"another member", added("title"), false}, {"another type", strings.Replace(added(test.key), `"type":"`+test.typ, `"type":"other`, 1), false},
			{"another event", strings.Replace(added(test.key), ".added", ".begun", 1), false},
		} {
			s := forbidden(t, judge.Deny).Stream(guardrail.Responses)
			_, _, err := s.Push(openai.NewEvent(nil, []byte(c.added)))
			_, v, err2 := s.Push(openai.NewEvent(nil, fmt.Appendf(nil, `{"type":"response.%s.delta","output_index":0,"delta":"idden b"}`, test.delta)))
			if _, end := s.Close(); (v != nil || end != nil) != c.denied || err != nil || err2 != nil {
				t.Errorf("%s, %s: %v, %v, %v, %v", test.typ, c.name, v, end, err, err2)
			}
		}
	}
}

// Arguments are JSON, so what is taken out of a number leaves a string. Other texts are not.
func TestOnlyDeltasOfArgumentsAreJSON(t *testing.T) {
	set := redacting(t, judge.Rule{Detector: judge.Card}, 0)
	for kind, want := range map[string]string{"function_call_arguments": `"[REDACTED:card]"`, "mcp_call_arguments": `"[REDACTED:card]"`, "custom_tool_call_input": `[REDACTED:card]`, "output_text": `[REDACTED:card]`} {
		got := strings.Join(sentOn(t, set.Stream(guardrail.Responses), `{"type":"response.`+kind+`.delta","delta":"[41111111"}`, `{"type":"response.`+kind+`.delta","delta":"11111111]"}`), "\n")
		if all := fmt.Sprint(jsontest.Values(t, got, "delta")...); all != "["+want+"]" {
			t.Errorf("%s: got %s", kind, got)
		}
	}
}

func TestAudioOfAResponseIsNotRead(t *testing.T) {
	for typ, held := range map[string]bool{"response.audio.delta": false, "response.output_audio.delta": false, "response.audio.transcript.delta": true} {
		event := `{"type":"` + typ + `","delta":"forb"}`
		if got := sentOn(t, forbidden(t, judge.Redact).Stream(guardrail.Responses), event); (got[0] != event) != held {
			t.Errorf("%s: got %q", typ, got)
		}
	}
}

// The name of an event counts if its data has no type.
func TestAnEventIsOfTheTypeOfItsDataOrItsName(t *testing.T) {
	for event, held := range map[[2]string]bool{
		{"response.x.delta", `{"delta":"forb"}`}: true, {"response.x", `{"type":"response.x.delta","delta":"forb"}`}: true,
		{"response.x.delta", `{"type":"response.x","delta":"forb"}`}: false, {"", `{"delta":"forb"}`}: false,
	} {
		events, _, err := forbidden(t, judge.Redact).Stream(guardrail.Responses).Push(openai.NewEvent([]byte(event[0]), []byte(event[1])))
		if got := len(events) == 1 && string(events[0].AppendTo(nil)) != event[1]; got != held || err != nil {
			t.Errorf("%s: %d events, %v", event, len(events), err)
		}
	}
}

func TestOnlyThePartsOfAMessageAreOneText(t *testing.T) {
	for kind, joined := range map[string]bool{"output_text": true, "refusal": true, "reasoning_text": false, "reasoning_summary_text": false, "x": false} {
		s := forbidden(t, judge.Deny).Stream(guardrail.Responses)
		var denied bool
		for part, text := range []string{"a forb", "idden b"} {
			_, v, err := s.Push(openai.NewEvent(nil, fmt.Appendf(nil, `{"type":"response.%s.delta","output_index":0,"content_index":%d,"delta":"%s"}`, kind, part, text)))
			if denied = denied || v != nil; err != nil {
				t.Fatal(err)
			}
		}
		if _, v := s.Close(); (denied || v != nil) != joined {
			t.Errorf("%s: denied %t", kind, !joined)
		}
	}
}

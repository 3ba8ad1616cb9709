package judge_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/guardrail"
	"github.com/gatehouse-proxy/gatehouse/internal/guardrail/judge"
	"github.com/gatehouse-proxy/gatehouse/internal/openai"
)

// held pushes one event that holds back text, and returns what is sent at the end.
func held(t *testing.T, wire guardrail.Wire, event string) string {
	t.Helper()
	return sentOn(t, forbidden(t, judge.Redact).Stream(wire), event)[1]
}

func TestAnInsertedChunkRepeatsWhatClientsRead(t *testing.T) {
	long := strings.Repeat("x", 1022)
	for event, want := range map[string]string{
		`{"id":"a","object":"o","created":1,"model":"m","provider":"p","system_fingerprint":"f","service_tier":"s","usage":{"n":1},"choices":[{"index":2,"delta":{"role":"x","content":"forb"},"logprobs":null,"finish_reason":null}]}`: `{"id":"a","object":"o","created":1,"model":"m","provider":"p","system_fingerprint":"f","service_tier":"s","choices":[{"index":2,"delta":{"content":"forb"},"finish_reason":null}]}`,
		`{"choices":[{"delta":{"content":"x"}},{"delta":{"content":"forb"}}]}`:                                                             `{"choices":[{"index":1,"delta":{"content":"forb"},"finish_reason":null}]}`,
		`{"id":"` + long + `","choices":[{"delta":{"content":"forb"}}]}`:                                                                   `{"id":"` + long + `","choices":[{"index":0,"delta":{"content":"forb"},"finish_reason":null}]}`,
		`{"id":"` + long + `x","choices":[{"delta":{"content":"forb"}}]}`:                                                                  `{"choices":[{"index":0,"delta":{"content":"forb"},"finish_reason":null}]}`,
		`{"choices":[{"delta":{"content":[{"type":"text","index":3,"text":"forb"}]}}]}`:                                                    `{"choices":[{"index":0,"delta":{"content":[{"index":3,"type":"text","text":"forb"}]},"finish_reason":null}]}`,
		`{"choices":[{"delta":{"tool_calls":[{"index":4,"id":"c","type":"function","function":{"name":"f","arguments":"{\"forb"}}]}}]}`:    `{"choices":[{"index":0,"delta":{"tool_calls":[{"index":4,"id":"c","function":{"arguments":"forb"}}]},"finish_reason":null}]}`,
		`{"choices":[{"delta":{"tool_calls":[{"id":"` + long + `x","function":{"arguments":"{\"forb"}}]}}]}`:                               `{"choices":[{"index":0,"delta":{"tool_calls":[{"function":{"arguments":"forb"}}]},"finish_reason":null}]}`,
		`{"choices":[{"delta":{"tool_calls":[{"id":"","function":{"arguments":"{\"forb"}}]}}]}`:                                            `{"choices":[{"index":0,"delta":{"tool_calls":[{"function":{"arguments":"forb"}}]},"finish_reason":null}]}`,
		`{"choices":[{"delta":{"reasoning_details":[{"index":1,"type":"reasoning.text","text":"forb","signature":"s"}]}}]}`:                `{"choices":[{"index":0,"delta":{"reasoning_details":[{"index":1,"type":"reasoning.text","text":"forb"}]},"finish_reason":null}]}`,
		`{"choices":[{"delta":{"a":{"b":{"c":"forb"}}}}]}`:                                                                                 `{"choices":[{"index":0,"delta":{"a":{"b":{"c":"forb"}}},"finish_reason":null}]}`,
		`{"choices":[{"delta":{"reasoning":"forb","reasoning_content":"forb"}}]}`:                                                          `{"choices":[{"index":0,"delta":{"reasoning":"forb","reasoning_content":"forb"},"finish_reason":null}]}`,
		`{"choices":[{"delta":{"content":"forb","refusal":"forb","reasoning":"forb"}}]}`:                                                   `{"choices":[{"index":0,"delta":{"content":"forb","refusal":"forb","reasoning":"forb"},"finish_reason":null}]}`,
		`{"choices":[{"index":0,"delta":{"content":"forb"}},{"index":1,"delta":{"refusal":"forb"}}]}`:                                      `{"choices":[{"index":0,"delta":{"content":"forb"},"finish_reason":null}]}{"choices":[{"index":1,"delta":{"refusal":"forb"},"finish_reason":null}]}`,
		`{"choices":[{"delta":{"tool_calls":[{"index":0,"function":{"arguments":"forb"}},{"index":1,"function":{"arguments":"forb"}}]}}]}`: `{"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":"forb"}}]},"finish_reason":null}]}{"choices":[{"index":0,"delta":{"tool_calls":[{"index":1,"function":{"arguments":"forb"}}]},"finish_reason":null}]}`,
	} {
		if got := held(t, guardrail.Chat, event); got != want {
			t.Errorf("after %s\ngot  %s\nwant %s", event, got, want)
		}
	}
}

func TestAnInsertedEventRepeatsItsPlace(t *testing.T) {
	long := strings.Repeat("x", 1022)
	for event, want := range map[string]string{
		`{"type":"response.output_text.delta","item_id":"i","output_index":1,"content_index":2,"delta":"forb","logprobs":[{"token":"forb"}],"obfuscation":"x","sequence_number":3}`: `{"type":"response.output_text.delta","item_id":"i","output_index":1,"content_index":2,"sequence_number":4,"logprobs":[],"delta":"forb"}`,
		`{"type":"response.refusal.delta","item_id":"i","delta":"forb"}`:                                                                      `{"type":"response.refusal.delta","item_id":"i","delta":"forb"}`,
		`{"type":"response.x.delta","item_id":"i","delta":{"a":["x",{"type":"t","b":"forb"}]}}`:                                               `{"type":"response.x.delta","item_id":"i","delta":{"a":[{"type":"t","b":"forb"}]}}`,
		`{"type":"response.x.delta","sequence_number":"3","other":{"a":1},"delta":"forb"}`:                                                    `{"type":"response.x.delta","sequence_number":"3","other":{"a":1},"delta":"forb"}`,
		`{"type":"response.x.delta","output_index":0,"a":"` + long + `x","b":"` + long + `","delta":"forb"}`:                                  `{"type":"response.x.delta","output_index":0,"b":"` + long + `","delta":"forb"}`,
		`{"type":"response.content_part.added","item_id":"i","output_index":0,"content_index":0,"part":{"type":"output_text","text":"forb"}}`: ``,
	} {
		if got := held(t, guardrail.Responses, event); got != want {
			t.Errorf("after %s\ngot  %s\nwant %s", event, got, want)
		}
	}
	// A text that came with its part or item has the kind of the deltas that continue it.
	for _, c := range []struct{ added, delta, want string }{
		{
			`{"type":"response.content_part.added","item_id":"i","content_index":0,"part":{"type":"output_text","text":"x"}}`,
			`{"type":"response.output_text.delta","item_id":"i","content_index":0,"delta":" forb"}`,
			`{"type":"response.output_text.delta","item_id":"i","content_index":0,"logprobs":[],"delta":"forb"}`,
		}, {
			`{"type":"response.output_item.added","output_index":0,"item":{"id":"i","type":"function_call","arguments":"x"}}`,
			`{"type":"response.function_call_arguments.delta","output_index":0,"item_id":"i","delta":" forb"}`,
			`{"type":"response.function_call_arguments.delta","output_index":0,"item_id":"i","delta":"forb"}`,
		},
	} {
		if got := sentOn(t, forbidden(t, judge.Redact).Stream(guardrail.Responses), c.added, c.delta); got[2] != c.want {
			t.Errorf("after %s\ngot  %s\nwant %s", c.added, got[2], c.want)
		}
	}
}

func TestAnInsertedEventHasTheNameOfItsKind(t *testing.T) {
	for _, name := range []string{"", "response.output_text.delta", "event"} {
		for _, wire := range []guardrail.Wire{guardrail.Chat, guardrail.Responses} {
			s := forbidden(t, judge.Redact).Stream(wire)
			_, _, err := s.Push(openai.NewEvent([]byte(name), []byte(`{"type":"response.output_text.delta","delta":"forb","choices":[{"delta":{"content":"forb"}}]}`)))
			events, v := s.Close()
			want := name
			if wire == guardrail.Responses && name != "" {
				want = "response.output_text.delta"
			}
			if err != nil || v != nil || len(events) != 1 || string(events[0].Name) != want {
				t.Errorf("%q: %d events, %v, %v", name, len(events), v, err)
			}
		}
	}
}

// The names, types and lists of a delta are not split over deltas, so each is read as it is.
func TestWholeMembersOfADeltaAreNotHeld(t *testing.T) {
	for member, holds := range map[string]bool{
		"name": false, "format": false, "mime_type": false, "annotations": false, "images": false, "id": false, "type": false, "role": false, "content": true, "title": true,
		strings.Repeat("k", 1021): true, strings.Repeat("k", 1024): false,
	} {
		for _, value := range []string{`"forb"`, `{"a":"forb"}`} {
			event := `{"choices":[{"delta":{"` + member + `":` + value + `}}]}`
			got := held(t, guardrail.Chat, event) != ""
			if long := len(member) > 1000; got != holds && !(long && value != `"forb"`) {
				t.Errorf("%.80s: held %t", event, got)
			}
		}
	}
	for event, want := range map[string]bool{
		`{"choices":[{"delta":{"\u0061":"forb"}}]}`: false, `{"choices":[{"message":{"content":"forb"}}]}`: false, `{"a":[{"delta":{"content":"forb"}}]}`: false, `{"choices":[{"delta":"forb"}]}`: false,
		`{"choices":[{"delta":["forb"]}]}`: true, `{"choices":{"x":{"delta":{"content":"forb"}}}}`: false,
	} {
		if got := held(t, guardrail.Chat, event) != ""; got != want {
			t.Errorf("%s: held %t", event, got)
		}
	}
}

// What ends a choice: a reason to finish, or an error for all of them.
func TestAChoiceEndsWithItsReason(t *testing.T) {
	for ending, ends := range map[string]string{
		`{"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}`:                        "0",
		`{"choices":[{"index":1,"delta":{},"finish_reason":"stop"}]}`:                        "1",
		`{"choices":[{"index":0,"finish_reason":"a"},{"index":1,"finish_reason":"length"}]}`: "01",
		`{"choices":[{"index":0,"delta":{},"finish_reason":null}]}`:                          "",
		`{"choices":[{"index":0,"delta":{},"finish_reason":""}]}`:                            "",
		`{"choices":[{"index":0,"delta":{},"finish_reason":"null"}]}`:                        "",
		`{"choices":[{"index":0,"delta":{},"finish_reason":1234}]}`:                          "",
		`{"choices":[],"usage":{"a":1}}`:                                                     "",
		`{"usage":{"a":1}}`:                                                                  "",
		`{"error":{"code":500}}`:                                                             "01",
		`{"error":null,"choices":[]}`:                                                        "",
	} {
		got := sentOn(t, forbidden(t, judge.Redact).Stream(guardrail.Chat), `{"choices":[{"index":0,"delta":{"content":"forb"}},{"index":1,"delta":{"content":"forb"}}]}`, ending)
		for i := range 2 {
			part := fmt.Sprintf(`"index":%d,"delta":{"content":"forb"}`, i)
			if now := strings.Contains(got[1], part); now != strings.Contains(ends, fmt.Sprint(i)) || now == strings.Contains(got[2], part) {
				t.Errorf("%s: got %q", ending, got)
			}
		}
	}
}

// What a choice does next sends the text before it, but not the arguments of a call.
func TestTheNextPhaseSendsTheTextBefore(t *testing.T) {
	for _, first := range []string{"reasoning", "reasoning_content", "thinking", "content", "refusal", "tool_calls", "function_call"} {
		for _, second := range []string{"reasoning", "thinking", "content", "tool_calls", "function_call"} {
			delta := func(member, text string) string {
				value := `"` + text + `"`
				switch member {
				case "tool_calls":
					value = `[{"index":0,"function":{"arguments":` + value + `}}]`
				case "function_call":
					value = `{"arguments":` + value + `}`
				}
				return `{"choices":[{"delta":{"` + member + `":` + value + `}}]}`
			}
			kind := map[string]int{"reasoning": 1, "reasoning_content": 1, "thinking": 1, "content": 2, "refusal": 2, "tool_calls": 3, "function_call": 3}
			if first == second {
				continue
			}
			got := sentOn(t, forbidden(t, judge.Redact).Stream(guardrail.Chat), delta(first, "forb"), delta(second, ". "))
			if now, want := strings.Contains(got[1], "forb"), kind[first] != kind[second] && kind[first] != 3; now != want {
				t.Errorf("%s, then %s: sent %t", first, second, now)
			}
			if empty := sentOn(t, forbidden(t, judge.Redact).Stream(guardrail.Chat), delta(first, "forb"), delta(second, "")); strings.Contains(empty[1], "forb") {
				t.Errorf("%s, then an empty %s: got %q", first, second, empty)
			}
		}
	}
}

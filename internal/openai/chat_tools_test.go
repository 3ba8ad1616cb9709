package openai_test

import (
	"encoding/json"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/openai"
)

// fragments are what a client's accumulator makes of the tool call fragments.
func fragments(t *testing.T, deltas ...string) (calls []struct{ id, name, arguments string }) {
	t.Helper()
	s := openai.NewChatStream(newCall())
	for _, d := range deltas {
		for _, p := range payloads(t, feed(s, chunk(`{"tool_calls":[`+d+`]}`, "null"))) {
			var v struct {
				Choices []struct {
					Delta struct {
						Calls []struct {
							Index    *int                             `json:"index"`
							ID       string                           `json:"id"`
							Function struct{ Name, Arguments string } `json:"function"`
						} `json:"tool_calls"`
					}
				}
			}
			if err := json.Unmarshal([]byte(p), &v); err != nil {
				t.Fatalf("%s: %v", p, err)
			}
			for _, c := range v.Choices[0].Delta.Calls {
				if c.Index == nil || *c.Index > len(calls) {
					t.Fatalf("bad index: %s", p)
				}
				if *c.Index == len(calls) {
					calls = append(calls, struct{ id, name, arguments string }{})
				}
				at := &calls[*c.Index]
				at.id += c.ID
				at.name += c.Function.Name
				at.arguments += c.Function.Arguments
			}
		}
	}
	return calls
}

func TestToolCallFragmentsAccumulateWhateverTheProvidersHabit(t *testing.T) {
	for name, deltas := range map[string][]string{
		"as OpenAI": {`{"index":0,"id":"a","type":"function","function":{"name":"f","arguments":""}}`, `{"index":0,"function":{"arguments":"{1"}}`,
			`{"index":1,"id":"b","function":{"name":"g","arguments":"{2"}}`, `{"index":0,"function":{"arguments":"}"}}`, `{"index":1,"function":{"arguments":"}"}}`},
		"no index": {`{"id":"a","function":{"name":"f","arguments":"{1"}}`, `{"function":{"arguments":"}"}}`,
			`{"id":"b","function":{"name":"g","arguments":"{2"}}`, `{"function":{"arguments":"}"}}`},
		"index always 0": {`{"index":0,"id":"a","function":{"name":"f","arguments":"{1}"}}`, `{"index":0,"id":"b","function":{"name":"g","arguments":"{2"}}`,
			`{"index":0,"function":{"arguments":"}"}}`},
		"from 1": {`{"index":1,"id":"a","function":{"name":"f","arguments":"{1"}}`, `{"index":1,"function":{"arguments":"}"}}`,
			`{"index":2,"id":"b","function":{"name":"g","arguments":"{2}"}}`},
		"id and name repeated": {`{"index":0,"id":"a","function":{"name":"f","arguments":"{1"}}`, `{"index":0,"id":"a","function":{"name":"f","arguments":"}"}}`,
			`{"index":1,"id":"b","function":{"name":"g","arguments":"{2}"}}`},
		"all in one": {`{"id":"a","function":{"name":"f","arguments":"{1}"}},{"id":"b","function":{"name":"g","arguments":"{2}"}}`},
	} {
		calls := fragments(t, deltas...)
		if len(calls) != 2 || calls[0] != (struct{ id, name, arguments string }{"a", "f", "{1}"}) ||
			calls[1] != (struct{ id, name, arguments string }{"b", "g", "{2}"}) {
			t.Errorf("%s: %+v", name, calls)
		}
	}
}

func TestTheFirstFragmentHasIDAndType(t *testing.T) {
	s := openai.NewChatStream(newCall())
	out := payloads(t, feed(s, chunk(`{"role":"assistant","tool_calls":[{"index":0,"function":{"name":"f","arguments":""}}]}`, "null"),
		chunk(`{"tool_calls":[{"index":0,"id":"late","function":{"arguments":"{}"}}]}`, "null"),
		chunk(`{"tool_calls":[{"index":1,"id":"c","type":"custom","custom":{"name":"g"}}]}`, "null")))
	for i, want := range []string{`[{"index":0,"id":"call_gen-1_1","type":"function","function":{"name":"f","arguments":""}}]`,
		`[{"index":0,"function":{"arguments":"{}"}}]`, `[{"index":1,"id":"c","type":"custom","custom":{"name":"g"}}]`} {
		delta := decode(t, out[i])["choices"].([]any)[0].(map[string]any)["delta"].(map[string]any)
		same(t, encode(delta["tool_calls"]), want)
	}
}

func TestArgumentsGivenAsAnObjectBecomeText(t *testing.T) {
	calls := fragments(t, `{"index":0,"id":"a","function":{"name":"f","arguments":{"q":"\"x\""}}}`)
	if len(calls) != 1 || calls[0].arguments != `{"q":"\"x\""}` {
		t.Fatalf("%+v", calls)
	}
}

func TestAStreamOfToolCallsEndsWithTheirReason(t *testing.T) {
	s := openai.NewChatStream(newCall())
	feed(s, chunk(`{"tool_calls":[{"index":0,"id":"a","function":{"name":"f","arguments":"{}"}}]}`, "null"), "[DONE]")
	finish(t, s)
	if sum := s.Summary(); sum.Finish != "tool_calls" || !sum.Text {
		t.Fatalf("%+v", sum)
	}
}

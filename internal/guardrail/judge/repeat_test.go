package judge_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/guardrail"
	"github.com/gatehouse-proxy/gatehouse/internal/openai"
	"github.com/gatehouse-proxy/gatehouse/internal/translate/responsesonchat"
)

// twins are two guarded streams with the same events. In one of them no event repeats another.
type twins struct {
	repeating, reading *wire
	repeated           int // events that did
}

func newTwins(set guardrail.Set, api guardrail.Wire) *twins {
	return &twins{repeating: newWire(set, api), reading: newWire(set, api)}
}

func (w *twins) push(t testing.TB, name, data string) {
	t.Helper()
	event := w.repeating.events.Next([]byte(name), []byte(data))
	if event.Repeats() {
		w.repeated++
	}
	got := w.repeating.text(w.repeating.Push(event))
	want := w.reading.text(w.reading.Push(openai.NewEvent([]byte(name), []byte(data))))
	if got != want {
		t.Fatalf("%s|%s:\n got  %s\n want %s", name, data, got, want)
	}
}

func (w *twins) close(t testing.TB) {
	t.Helper()
	got, gotVerdict := w.repeating.Close()
	want, wantVerdict := w.reading.Close()
	if got, want := w.repeating.text(got, gotVerdict, nil), w.reading.text(want, wantVerdict, nil); got != want {
		t.Fatalf("end:\n got  %s\n want %s", got, want)
	}
	if got, want := fmt.Sprint(w.repeating.Redacted()), fmt.Sprint(w.reading.Redacted()); got != want {
		t.Fatalf("redacted %s, want %s", got, want)
	}
}

// text is what the client gets of events, and how the stream ended.
func (w *wire) text(events []*openai.Event, v *guardrail.Verdict, err error) string {
	var out []byte
	for _, e := range events {
		out = w.client.Data(out, e)
	}
	return fmt.Sprintf("%s%v %v %+v", out, v, err, w.client.Summary())
}

// repeating are events that may repeat one another. TEXT, PAD and 17 stand for what differs.
var repeating = map[guardrail.Wire][]string{
	guardrail.Chat: {
		`{"id":"c1","created":17,"choices":[{"index":0,"delta":{"content":"TEXT"},"finish_reason":null}]}`,
		`{"id":"c1","created":17,"choices":[{"index":0,"delta":{"content":"TEXT"}}],"obfuscation":"PAD"}`,
		`{"obfuscation":"PAD","choices":[{"index":0,"delta":{"content":"","reasoning_content":"TEXT"}}],"created":17}`,
		`{"choices":[{"index":0,"delta":{"reasoning":"TEXT","reasoning_content":"TEXT"}}]}`,
		`{"choices":[{"index":0,"delta":{"content":"TEXT","refusal":"TEXT"}}]}`,
		`{"choices":[{"index":0,"delta":{"content":"TEXT","refusal":"jo@corp.example"}}]}`,
		`{"choices":[{"index":0,"delta":{"content":"TEXT","name":"jo@corp.example"}}]}`,
		`{"choices":[{"index":0,"delta":{"content":"TEXT"},"logprobs":{"content":[{"token":"TEXT"}]}}]}`,
		`{"choices":[{"index":0,"delta":{"content":"TEXT","content":null}}]}`,
		`{"choices":[{"index":0,"delta":{"content":"TEXT"}},{"index":1,"delta":{"content":"x"}}]}`,
		`{"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"a","function":{"name":"f","arguments":"TEXT"}}]}}]}`,
		`{"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":"TEXT"}}]}}]}`,
		`{"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":{"a":"TEXT"}}}]}}]}`,
		`{"choices":[{"index":0,"delta":{"content":[{"type":"text","text":"TEXT"}]}}]}`,
		`{"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}`,
		`{"choices":[{"index":0,"delta":{"content":"TEXT"},"finish_reason":"stop"}]}`,
		`[DONE]`,
	},
	guardrail.Responses: {
		`response.output_text.delta|{"type":"response.output_text.delta","sequence_number":17,"item_id":"m","output_index":0,"content_index":0,"delta":"TEXT","logprobs":[]}`,
		`response.output_text.delta|{"type":"response.output_text.delta","delta":"TEXT","item_id":"m","output_index":0,"content_index":1,"sequence_number":17,"obfuscation":"PAD"}`,
		`|{"type":"response.output_text.delta","output_index":0,"content_index":0,"delta":"TEXT","sequence_number":17.0}`,
		`|{"type":"response.reasoning_text.delta","output_index":1,"content_index":0,"delta":"TEXT"}`,
		`|{"type":"response.function_call_arguments.delta","output_index":2,"delta":"TEXT","sequence_number":17}`,
		`|{"type":"response.output_text.delta","output_index":0,"content_index":0,"delta":{"text":"TEXT"}}`,
		`|{"type":"response.output_text.delta","output_index":0,"content_index":0,"delta":"TEXT","logprobs":[{"token":"TEXT"}],"sequence_number":17}`,
		`|{"type":"response.output_text.delta","output_index":0,"content_index":0,"delta":"TEXT","note":"jo@corp.example","sequence_number":17}`,
		`|{"type":"response.output_text.done","output_index":0,"content_index":0,"text":"TEXT","sequence_number":17}`,
		`|{"type":"response.completed","response":{"output":[{"content":[{"type":"output_text","text":"TEXT"}]}]},"sequence_number":17}`,
	},
	guardrail.Generate: {
		`|{"candidates":[{"content":{"parts":[{"text":"TEXT"}],"role":"model"},"index":0}],"usageMetadata":{"promptTokenCount":17},"modelVersion":"m"}`,
		`|{"candidates":[{"content":{"parts":[{"text":"TEXT","thought":true}]}}],"usageMetadata":{"promptTokenCount":17,"totalTokenCount":17}}`,
		`|{"candidates":[{"content":{"parts":[{"text":"TEXT"},{"text":"jo@corp.example"}]}}]}`,
		`|{"candidates":[{"content":{"parts":[{"text":"TEXT"}]}},{"content":{"parts":[{"text":"TEXT"}]},"index":1}]}`,
		`|{"candidates":[{"content":{"parts":[{"text":"TEXT","thoughtSignature":"TEXT"}]}}],"responseId":"jo@corp.example"}`,
		`|{"candidates":[{"content":{"parts":[{"functionCall":{"name":"f","args":{"a":"TEXT"}}},{"text":"TEXT"}]}}]}`,
		`|{"candidates":[{"content":{"parts":[{"text":"TEXT"}]},"finishReason":"STOP"}]}`,
		`|{"candidates":[{"content":{"parts":[{"text":7},{"text":"TEXT"}]},"citationMetadata":{"citations":[{"title":"TEXT"}]}}]}`,
	},
	guardrail.Messages: {
		`content_block_delta|{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"TEXT"}}`,
		`content_block_delta|{"delta":{"text":"TEXT","type":"text_delta"},"index":0,"type":"content_block_delta"}`,
		`|{"type":"content_block_delta","index":1,"delta":{"type":"text_delta","text":"TEXT"}}`,
		`content_block_delta|{"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"TEXT"}}`,
		`content_block_delta|{"type":"content_block_delta","index":0,"delta":{"type":"input_json_delta","partial_json":"TEXT"}}`,
		`content_block_delta|{"type":"content_block_delta","index":0,"delta":{"type":"signature_delta","signature":"TEXT"}}`,
		`content_block_delta|{"type":"content_block_delta","index":0,"delta":{"type":"citations_delta","citation":{"cited_text":"TEXT"}}}`,
		`content_block_delta|{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"TEXT"},"note":"jo@corp.example"}`,
		`content_block_start|{"type":"content_block_start","index":0,"content_block":{"type":"text","text":"TEXT"}}`,
		`content_block_start|{"type":"content_block_start","index":0,"content_block":{"type":"thinking","thinking":"TEXT","signature":""}}`,
		`content_block_stop|{"type":"content_block_stop","index":0}`,
		`ping|{"type":"ping"}`,
		`message_delta|{"type":"message_delta","delta":{"stop_reason":"end_turn","stop_sequence":"TEXT"},"usage":{"output_tokens":17}}`,
	},
}

var (
	piecesOfText = []string{"plain", "", " to jo@", "corp.exam", "ple, and", `\"`, `\ud83d`, `\ude00`, "red mer", "cury", "jo@corp.example ", "é", `{\"a\":\"jo@corp.example\"}`, "last"}
	paddings     = []string{"aZ3", "", "xyz012", "jo@corp.example", "a b"}
	numbers      = []string{"17", "18", "9", "0", "100"}
)

func repeatedEvent(api guardrail.Wire, kind, variant byte) (name, data string) {
	form := repeating[api][int(kind)%len(repeating[api])]
	if api != guardrail.Chat {
		name, form, _ = strings.Cut(form, "|")
	}
	data = strings.ReplaceAll(form, "TEXT", piecesOfText[int(variant)%len(piecesOfText)])
	data = strings.ReplaceAll(data, "PAD", paddings[int(variant)%len(paddings)])
	return name, strings.ReplaceAll(data, "17", numbers[int(variant)%len(numbers)])
}

// FuzzAnEventThatRepeatsAnotherIsJudgedLikeIt takes a script: which event, and in which variant.
func FuzzAnEventThatRepeatsAnotherIsJudgedLikeIt(f *testing.F) {
	for i := range byte(17) {
		f.Add([]byte{i, 0, i, 0, i, 2, i, 3, i, 4, i, 1, i, 12, i, 10}, (i+1)%2)
		f.Add([]byte{i, 0, i, 5, i + 1, 0, i, 2, i, 3, i, 8, i, 9}, byte(guardrail.Chat))
		f.Add([]byte{i, 2, i + 3, 0, i, 3, i, 4, i + 1, 6, i + 1, 7, 14, 0, i, 0, i, 11}, byte(guardrail.Responses))
		f.Add([]byte{i, 0, i, 0, i, 2, i, 3, 5, 0, i + 1, 8, i, 9, 10, 0, i, 0, i, 2}, byte(guardrail.Messages))
		f.Add([]byte{i, 0, i, 0, i, 2, i, 3, i + 1, 0, i, 4, i, 8, 6, 0, i, 0, i, 10}, byte(guardrail.Generate))
	}
	f.Add([]byte("y00000!0z0z0z0!0"), byte(guardrail.Responses)) // after an event with a number, one without
	set := golden(f)
	f.Fuzz(func(t *testing.T, script []byte, wire byte) {
		api := guardrail.Wire(wire % 4)
		w := newTwins(set, api)
		for ; len(script) >= 2; script = script[2:] {
			name, data := repeatedEvent(api, script[0], script[1])
			w.push(t, name, data)
		}
		w.close(t)
	})
}

func TestWhichEventsRepeatOthers(t *testing.T) {
	for api, kinds := range map[guardrail.Wire][]byte{guardrail.Chat: {0, 1, 2, 11}, guardrail.Responses: {0, 1, 3, 4}, guardrail.Messages: {0, 1, 2, 3, 4}, guardrail.Generate: {0, 1}} {
		for _, kind := range kinds {
			w := newTwins(golden(t), api)
			for i := range byte(5) {
				name, data := repeatedEvent(api, kind, []byte{0, 7, 11, 13, 27}[i])
				w.push(t, name, data)
			}
			w.close(t)
			if w.repeated == 0 {
				t.Errorf("no event repeats %s", repeating[api][kind])
			}
		}
	}
}

type translationIDs struct{}

func (translationIDs) NewID(prefix string) string { return prefix + "_1" }
func (translationIDs) Unix() int64                { return 1 }

// A translation reads an event with the edits of the guardrail, wherever in it a text is.
func TestATranslationGetsNoTextThatWasTakenOut(t *testing.T) {
	for _, delta := range []string{
		`"content":"TEXT"`, `"content":[{"type":"text","text":"TEXT"}]`, `"content":[{"type":"thinking","thinking":[{"type":"text","text":"TEXT"}]}]`,
		`"refusal":"TEXT"`, `"reasoning":"TEXT"`, `"reasoning_content":"TEXT"`, `"reasoning_details":[{"type":"reasoning.text","text":"TEXT"}]`,
		`"tool_calls":[{"index":0,"id":"a","function":{"name":"f","arguments":"\"TEXT\""}}]`, `"content":"TEXT","annotations":[]`,
	} {
		guard, events := golden(t).Stream(guardrail.Chat), new(openai.Events)
		s := responsesonchat.NewStream(new(responsesonchat.Original), openai.Call{Model: "m", Provider: "p"}, translationIDs{})
		var out []byte
		for _, text := range []string{"to ", "jo@corp.example", " and jo@corp.example ", "and on"} {
			delta := strings.ReplaceAll(strings.ReplaceAll(delta, `\"TEXT\"`, text), "TEXT", text)
			sent, v, err := guard.Push(events.Next(nil, fmt.Appendf(nil, `{"choices":[{"index":0,"delta":{%s}}]}`, delta)))
			if v != nil || err != nil {
				t.Fatal(v, err)
			}
			for _, e := range sent {
				out = s.Data(out, e)
			}
		}
		if text := string(out); strings.Contains(text, "corp") || strings.Count(text, "[REDACTED:email]") < 2 || s.Summary().Err != nil {
			t.Errorf("%s became %s, %v", delta, text, s.Summary().Err)
		}
	}
}

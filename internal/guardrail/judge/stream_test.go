package judge_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/gatehouse-proxy/gatehouse/internal/guardrail"
	"github.com/gatehouse-proxy/gatehouse/internal/guardrail/judge"
)

// chunk is what a client reads of a chat chunk.
type chunk struct {
	Choices []struct {
		Index int
		Delta struct {
			Content, Reasoning string
			ToolCalls          []struct {
				Index    int
				Function struct{ Arguments string }
			} `json:"tool_calls"`
		}
		FinishReason *string `json:"finish_reason"`
	}
}

// client reads a chat stream as SDKs do.
type client struct {
	texts    map[string]string
	finished map[int]bool
}

func (c *client) read(t *testing.T, events []sent) {
	t.Helper()
	for _, e := range events {
		var in chunk
		if err := json.Unmarshal(e.data, &in); err != nil {
			t.Fatalf("%s: %v", e.data, err)
		}
		for _, choice := range in.Choices {
			add := func(name, text string) {
				if text != "" && c.finished[choice.Index] {
					t.Errorf("%s comes after the finish reason", e.data)
				}
				c.texts[fmt.Sprint(choice.Index, name)] += text
			}
			add("content", choice.Delta.Content)
			add("reasoning", choice.Delta.Reasoning)
			for _, call := range choice.Delta.ToolCalls {
				add(fmt.Sprint("call", call.Index), call.Function.Arguments)
			}
			if choice.FinishReason != nil {
				c.finished[choice.Index] = true
			}
		}
	}
}

// deltas are the forms of a piece of text in a chat chunk.
var deltas = []struct{ name, form string }{
	{"0content", `{"choices":[{"index":0,"delta":{"content":%s}}]}`},
	{"0reasoning", `{"choices":[{"delta":{"reasoning":%s},"index":0}]}`},
	{"0call0", `{"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":%s}}]}}]}`},
	{"0call1", `{"choices":[{"index":0,"delta":{"tool_calls":[{"function":{"arguments":%s},"index":1}]}}]}`},
	{"1content", `{"choices":[{"index":1,"delta":{"content":%s}}]}`},
}

func FuzzChatStreamsAreRedactedLikeWholeTexts(f *testing.F) {
	for i := range texts {
		f.Add(texts[i], []byte{1, 10, 2, 7, 21, 3, 3, 3, 255, 128, 4}, true)
		f.Add(texts[i], []byte{90, 91, 92, 93, 94}, false)
	}
	set := all(f)
	f.Fuzz(func(t *testing.T, text string, cuts []byte, done bool) {
		text = strings.ToValidUTF8(text, "?")
		if utf8.RuneCountInString(text)*len(cuts) >= judge.DefaultWindow {
			text = ""
		}
		s := newWire(set, guardrail.Chat)
		got := client{texts: map[string]string{}, finished: map[int]bool{}}
		sent := map[string]string{}
		push := func(data string) {
			events, v, err := s.push("", data)
			if v != nil || err != nil {
				t.Fatalf("%s: %v, %v", data, v, err)
			}
			got.read(t, events)
		}
		for _, c := range cuts { // which channel, and how much of the text it gets
			d := deltas[int(c)%len(deltas)]
			n := int(c) / len(deltas) * len(text) / 50
			for n < len(text) && !utf8.RuneStart(text[n]) {
				n++
			}
			piece, _ := json.Marshal(text[:n])
			sent[d.name] += text[:n]
			push(fmt.Sprintf(d.form, piece))
		}
		if done {
			push(`{"choices":[{"index":0,"delta":{},"finish_reason":"stop"},{"index":1,"delta":{},"finish_reason":"length"}]}`)
		}
		events, v := s.close()
		if v != nil {
			t.Fatal(v)
		}
		got.read(t, events)
		for name, text := range sent {
			if want := judge.Whole(set, text); got.texts[name] != want {
				t.Errorf("%s of %q: got %q, want %q", name, text, got.texts[name], want)
			}
		}
	})
}

func TestTextIsDelayedByNoMoreThanTheWindow(t *testing.T) {
	const window = 20
	set := compiled(t, judge.Spec{Name: "g", Window: window, Rules: []judge.Rule{{Action: judge.Redact, Detector: judge.Regexp, Pattern: `<[^>]*>`}}})
	s := newWire(set, guardrail.Chat)
	got := client{texts: map[string]string{}, finished: map[int]bool{}}
	for i := range 100 {
		text := "x"
		if i == 10 {
			text = "<" // and from here on it may always be a match
		}
		events, _, _ := s.push("", fmt.Sprintf(deltas[0].form, `"`+text+`"`))
		got.read(t, events)
		if sent := len(got.texts["0content"]); i < 10 && sent != i+1 || i >= 10 && sent != max(10, i+1-window) {
			t.Fatalf("%d of %d characters were sent", sent, i+1)
		}
	}
	events, _, _ := s.push("", fmt.Sprintf(deltas[0].form, `"> end"`))
	got.read(t, events)
	// What was sent is sent. The part of the match that was held back is taken out. The match is
	// known one character after its end, at the 102nd.
	want := strings.Repeat("x", 10) + "<" + strings.Repeat("x", 102-window-11) + "[REDACTED:pattern] end"
	if got := got.texts["0content"]; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestNothingOfWhatIsDeniedIsSent(t *testing.T) {
	text := "first words, then the secret AKIAQYLPMN5HHHFPZAM2 and more"
	set := compiled(t, judge.Spec{Name: "g", Rules: []judge.Rule{{Action: judge.Deny, Detector: judge.Secrets}, {Action: judge.Redact, Detector: judge.Email}}})
	for size := 1; size < len(text); size++ {
		s := newWire(set, guardrail.Responses)
		sent, denied := "", false
		for at := 0; at < len(text); at += size {
			piece, _ := json.Marshal(text[at:min(at+size, len(text))])
			events, v, err := s.push("", fmt.Sprintf(`{"type":"response.output_text.delta","delta":%s}`, piece))
			if err != nil || denied && len(events) > 0 {
				t.Fatalf("pieces of %d: %v, %v", size, events, err)
			}
			for _, e := range events {
				var in struct{ Delta string }
				_ = json.Unmarshal(e.data, &in)
				sent += in.Delta
			}
			if v != nil {
				if *v != (guardrail.Verdict{Guardrail: "g", Class: "secret"}) || len(events) > 0 {
					t.Errorf("pieces of %d: %+v with %v", size, v, events)
				}
				denied = true
			}
		}
		if rest, v := s.close(); !denied || len(rest) > 0 || v != nil || !strings.HasPrefix(text[:strings.Index(text, "AKIA")], sent) {
			t.Errorf("pieces of %d: denied %t, sent %q, %v, %v", size, denied, sent, rest, v)
		}
	}
}

func TestTextOnlyInTheTerminalEventIsJudged(t *testing.T) {
	_, v, err := newWire(golden(t), guardrail.Responses).push("response.completed",
		`{"type":"response.completed","response":{"output":[{"content":[{"text":"Red Mercury"}]}]}}`)
	if v == nil || err != nil {
		t.Errorf("%v, %v", v, err)
	}
}

func TestStreamsAreBounded(t *testing.T) {
	s := newWire(golden(t), guardrail.Chat)
	for i := range 600 {
		_, _, err := s.push("", fmt.Sprintf(`{"choices":[{"index":%d,"delta":{"content":"jo"}}]}`, i))
		if i < 512 && err != nil || i == 512 && !errors.Is(err, judge.ErrTooManyTexts) {
			t.Fatalf("text %d: %v", i+1, err)
		}
	}
	if events, v, err := s.push("", `{}`); events != nil || v != nil || err != nil {
		t.Error("it goes on after a failure")
	}
	if _, _, err := newWire(golden(t), guardrail.Chat).push("", `{"choices":`); !errors.Is(err, judge.ErrMalformed) {
		t.Errorf("half an event: %v", err)
	}
}

func TestAudioIsNotTakenForText(t *testing.T) {
	data := `{"type":"response.audio.delta","sequence_number":1,"delta":"jo@corp.example"}`
	events, v, err := newWire(golden(t), guardrail.Responses).push("", string([]byte(data)))
	if len(events) != 1 || string(events[0].data) != data || v != nil || err != nil {
		t.Errorf("%s, %v, %v", events, v, err)
	}
}

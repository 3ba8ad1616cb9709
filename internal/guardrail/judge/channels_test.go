package judge_test

import (
	"encoding/json"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/guardrail"
	"github.com/gatehouse-proxy/gatehouse/internal/guardrail/judge"
)

func forbidden(t testing.TB, action judge.Action) guardrail.Set {
	return compiled(t, judge.Spec{Name: "g", Rules: []judge.Rule{{Action: action, Detector: judge.Words, Words: []string{"forbidden"}}}})
}

// Events with a piece of a text for the last %s.
const (
	contentPiece = `{"choices":[{"index":0,"delta":{"content":"%s"}}]}`
	textPiece    = `{"type":"response.output_text.delta","output_index":0,"content_index":%d,"item_id":"%s","delta":"%s"}`
)

func TestPiecesThatAClientJoinsAreOneText(t *testing.T) {
	call := func(id, text string) string {
		return fmt.Sprintf(`{"choices":[{"delta":{"tool_calls":[{"index":0,"id":"%s","function":{"arguments":"%s"}}]}}]}`, id, text)
	}
	late := func(id, text string) string { return strings.Replace(call(id, text), `"id":""`, `"id":null`, 1) }
	finish := func(text, reason string) string {
		return fmt.Sprintf(`{"choices":[{"delta":{"content":"%s"},"finish_reason":%s}]}`, text, reason)
	}
	content := func(text string) string { return fmt.Sprintf(contentPiece, text) }
	text := func(part int, item, text string) string { return fmt.Sprintf(textPiece, part, item, text) }
	done := func(part int, item string) string {
		return fmt.Sprintf(`{"type":"response.output_text.done","output_index":0,"content_index":%d,"item_id":"%s","text":""}`, part, item)
	}
	for name, test := range map[string]struct {
		wire   guardrail.Wire
		events []string
	}{
		"calls take turns at one index":    {guardrail.Chat, []string{call("A", "a forb"), call("B", "x"), call("A", "idden b")}},
		"a call's id comes late":           {guardrail.Chat, []string{late("", "a forb"), call("A", "idden b")}},
		"a call's id comes once":           {guardrail.Chat, []string{call("A", "a forb"), late("", "idden b")}},
		"a null that is a word":            {guardrail.Chat, []string{finish("a forb", `"null"`), finish("idden b", `"null"`)}},
		"text behind the finish reason":    {guardrail.Chat, []string{finish("a forb", `"stop"`), content("idden b")}},
		"parts with indexes":               {guardrail.Chat, []string{`{"choices":[{"delta":{"content":[{"index":0,"type":"text","text":"a forb"},{"index":1,"type":"text","text":"idden b"}]}}]}`}},
		"a string, then parts":             {guardrail.Chat, []string{content("a forb"), `{"choices":[{"delta":{"content":[{"type":"text","text":"idden b"}]}}]}`}},
		"an item's id changes":             {guardrail.Responses, []string{text(0, "a", "a forb"), text(0, "b", "idden b")}},
		"an item without index":            {guardrail.Responses, []string{`{"type":"response.x.delta","item_id":"a","delta":"a forb"}`, `{"type":"response.x.delta","item_id":"a","delta":"idden b"}`}},
		"two parts of a message":           {guardrail.Responses, []string{text(0, "a", "a forb"), text(1, "a", "idden b")}},
		"two parts, the first of it done":  {guardrail.Responses, []string{text(0, "a", "a forb"), done(0, "a"), text(1, "a", "idden b")}},
		"two parts take turns":             {guardrail.Responses, []string{text(0, "a", "x"), text(1, "a", "a forb"), text(0, "a", "idden b")}},
		"a part that begins with text":     {guardrail.Responses, []string{`{"type":"response.content_part.added","output_index":0,"content_index":0,"item_id":"a","part":{"type":"output_text","text":"a forb"}}`, text(0, "a", "idden b")}},
		"an item that begins with text":    {guardrail.Responses, []string{`{"type":"response.output_item.added","output_index":0,"item":{"id":"f","type":"function_call","arguments":"{\"a\":\"forb"}}`, `{"type":"response.function_call_arguments.delta","output_index":0,"item_id":"f","delta":"idden\"}"}`}},
		"the same, and no index":           {guardrail.Responses, []string{`{"type":"response.output_item.added","item":{"id":"f","type":"function_call","arguments":"{\"a\":\"forb"}}`, `{"type":"response.function_call_arguments.delta","item_id":"f","delta":"idden\"}"}`}},
		"a delta that is an object":        {guardrail.Responses, []string{`{"type":"response.reasoning_summary.delta","output_index":0,"delta":{"text":"a forb"}}`, `{"type":"response.reasoning_summary.delta","output_index":0,"delta":{"text":"idden b"}}`}},
		"whole parts of a message":         {guardrail.Responses, []string{`{"type":"response.completed","response":{"output":[{"content":[{"type":"output_text","text":"a forb","annotations":[{"title":"x"}]},{"type":"output_text","text":"idden b"}]}]}}`}},
		"parts in a whole answer, no less": {guardrail.Chat, nil},
	} {
		t.Run(name, func(t *testing.T) {
			if test.events == nil {
				r, err := forbidden(t, judge.Deny).Answer(t.Context(), []byte(`{"choices":[{"message":{"content":[{"type":"text","text":"a forb"},{"type":"text","text":"idden b"}]}}]}`))
				if r.Verdict == nil || err != nil {
					t.Errorf("%s passes: %v", r.Body, err)
				}
				return
			}
			s := newWire(forbidden(t, judge.Deny), test.wire)
			for i, event := range test.events {
				_, v, err := s.push("", event)
				if err != nil || v != nil && i < len(test.events)-1 {
					t.Fatal(event, v, err)
				}
				if v != nil {
					return
				}
			}
			if _, v := s.close(); v == nil {
				t.Error("it passes")
			}
		})
	}
}

func TestTextsThatNoClientJoinsAreApart(t *testing.T) {
	set := forbidden(t, judge.Deny)
	for _, test := range []struct {
		wire   guardrail.Wire
		events []string
	}{
		{guardrail.Chat, []string{`{"choices":[{"delta":{"content":"a forb"}}]}`, `{"choices":[{"delta":{"reasoning":"idden b"}}]}`, `{"choices":[{"index":1,"delta":{"content":"idden b"}}]}`}},
		{guardrail.Responses, []string{`{"type":"response.output_text.delta","output_index":0,"content_index":0,"delta":"a forb"}`, `{"type":"response.output_text.delta","output_index":1,"content_index":0,"delta":"idden b"}`}},
	} {
		s := newWire(set, test.wire)
		for _, event := range test.events {
			if _, v, err := s.push("", event); v != nil || err != nil {
				t.Fatal(event, v, err)
			}
		}
		if _, v := s.close(); v != nil {
			t.Error(v)
		}
	}
	for _, body := range []string{
		`{"output":[{"content":[{"text":"a forb"}]},{"content":[{"text":"idden b"}]}]}`,
		`{"output":[{"content":[{"text":"a forb"},{"refusal":"idden b"}],"summary":[{"text":"idden b"}]}]}`,
	} {
		if r, err := set.Answer(t.Context(), []byte(body)); r.Verdict != nil || err != nil {
			t.Errorf("%s: %v, %v", body, r.Verdict, err)
		}
	}
}

// A surrogate pair that is split over two deltas is one character, held back or not.
func TestHalvesOfACharacterAreJoined(t *testing.T) {
	for _, pieces := range [][]string{
		{`forb\ud83d`, `\ude00 x`}, {`forb`, `\ud83d`, ``, `\ude00 x`}, {`forb\ud83d\ude00 x`}, {`forb\ud83d`, `\ude00`, ` x`},
	} {
		s, got := newWire(forbidden(t, judge.Redact), guardrail.Chat), client{texts: map[string]string{}, finished: map[int]bool{}}
		for _, piece := range pieces {
			events, _, err := s.push("", fmt.Sprintf(contentPiece, piece))
			if err != nil {
				t.Fatal(err)
			}
			got.read(t, events)
		}
		events, _ := s.close()
		got.read(t, events)
		if got := got.texts["0content"]; got != "forb😀 x" {
			t.Errorf("%q became %q", pieces, got)
		}
	}
	for pieces, want := range map[[2]string]string{{`\ud83d`, `x`}: "\ufffdx", {`x\\ud83d`, `\ude00`}: "x\\ud83d\ufffd", {`x`, `\ud83d`}: "x\ufffd", {`\ud83d\ud83d`, `\ude00`}: "\ufffd😀"} {
		s, got := newWire(forbidden(t, judge.Redact), guardrail.Chat), client{texts: map[string]string{}, finished: map[int]bool{}}
		for _, piece := range pieces {
			events, _, _ := s.push("", fmt.Sprintf(contentPiece, piece))
			got.read(t, events)
		}
		events, _ := s.close()
		if got.read(t, events); got.texts["0content"] != want {
			t.Errorf("%q became %q, want %q", pieces, got.texts["0content"], want)
		}
	}
}

func TestWhatAnEventCostsGrowsWithItsLength(t *testing.T) {
	event := func(n int) []byte {
		return []byte(`{"choices":[{"index":0,"delta":{"tool_calls":[{"index":0` + strings.Repeat(`,"a":"x"`, n) + `}]}}]}`)
	}
	deep := []byte(`{"choices":[{"index":0,"delta":` + strings.Repeat(`{"a":[`, 200) + `{"a":""` + strings.Repeat(`,"a":"x"`, 200) + strings.Repeat(`}]`, 200) + `}}]}`)
	many := func(n int) []byte {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, `,"a%d":"x"`, i)
		}
		return []byte(`{"choices":[{"index":0,"delta":{"tool_calls":[{"index":0` + b.String() + `}]}}]}`)
	}
	for _, data := range [][]byte{event(2000), many(8000), deep} {
		if !json.Valid(data) {
			t.Fatalf("%s", data)
		}
		s := newWire(forbidden(t, judge.Redact), guardrail.Chat)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, _, _ = s.push("", string(data))
		runtime.ReadMemStats(&after)
		if used, most := after.TotalAlloc-before.TotalAlloc, uint64(16<<20); used > most {
			t.Errorf("an event of %d bytes used %d of memory", len(data), used)
		}
	}
}

// A provider may announce a tool call again whose arguments have begun.
func TestACallThatIsAnnouncedAgainKeepsItsArguments(t *testing.T) {
	s, got := newWire(forbidden(t, judge.Redact), guardrail.Responses), ""
	take := func(events []sent, v *guardrail.Verdict, err error) {
		if v != nil || err != nil {
			t.Fatal(v, err)
		}
		for _, e := range events {
			var in struct{ Delta string }
			if err := json.Unmarshal(e.data, &in); err != nil {
				t.Fatalf("%s: %v", e.data, err)
			}
			got += in.Delta
		}
	}
	delta := `{"type":"response.function_call_arguments.delta","output_index":0,"delta":"%s"}`
	take(s.push("", fmt.Sprintf(delta, `[\"forb`)))
	take(s.push("", `{"type":"response.output_item.added","output_index":0,"item":{"type":"function_call","arguments":"{"}}`))
	take(s.push("", fmt.Sprintf(delta, `idden\"]`)))
	events, v := s.close()
	take(events, v, nil)
	if want := `["[REDACTED:words]"]`; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

package judge_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/guardrail"
	"github.com/gatehouse-proxy/gatehouse/internal/guardrail/judge"
	"github.com/gatehouse-proxy/gatehouse/internal/openai"
	"github.com/gatehouse-proxy/gatehouse/internal/testkit/jsontest"
)

// sentOn pushes events and returns the data of what is sent for each, and at the end.
func sentOn(t *testing.T, s guardrail.Stream, events ...string) (list []string) {
	t.Helper()
	add := func(events []*openai.Event) {
		out := ""
		for _, e := range events {
			out += string(e.AppendTo(nil))
		}
		list = append(list, out)
	}
	for _, event := range events {
		out, v, err := s.Push(openai.NewEvent(nil, []byte(event)))
		if v != nil || err != nil {
			t.Fatalf("%s: %v, %v", event, v, err)
		}
		add(out)
	}
	out, v := s.Close()
	if v != nil {
		t.Fatal(v)
	}
	add(out)
	return list
}

func TestAStreamThatHasEndedSendsNothing(t *testing.T) {
	s := golden(t).Stream(guardrail.Chat)
	if got := sentOn(t, s, "", " \n", `{"choices":[{"delta":{"content":"jo"}}]}`); got[0] != "" || got[1] != "" || got[3] == "" {
		t.Errorf("got %q", got)
	}
	if events, v, err := s.Push(openai.NewEvent(nil, []byte(`{"choices":[{"delta":{"content":"x"}}]}`))); events != nil || v != nil || err != nil {
		t.Errorf("after the end: %d events, %v, %v", len(events), v, err)
	}
	if events, v := s.Close(); events != nil || v != nil {
		t.Errorf("closed twice: %d events, %v", len(events), v)
	}
}

// The bytes of a piece in which nothing is held or taken out stay. Another value than a string
// becomes a string, because a part of it may be held.
func TestPiecesStayAsTheyAre(t *testing.T) {
	const text = `{"choices":[{"delta":{"content":"\u0061 \/ "}}]}`
	const call = `{"choices":[{"delta":{"tool_calls":[{"index":0,"function":{"arguments":{"a": 1}}}]}}]}`
	got := sentOn(t, golden(t).Stream(guardrail.Chat), text, call)
	if want := `{"choices":[{"delta":{"tool_calls":[{"index":0,"function":{"arguments":"{\"a\": 1}"}}]}}]}`; got[0] != text || got[1] != want {
		t.Errorf("got %q", got)
	}
}

// An event may hold several texts that are denied. The first is named.
func TestTheFirstTextOfAnEventIsNamed(t *testing.T) {
	for _, wire := range []guardrail.Wire{guardrail.Chat, guardrail.Responses} {
		for _, event := range []string{
			`{"choices":[{"index":0,"delta":{"content":"forbidden."}},{"index":1,"delta":{"content":"4111111111111111."}}]}`,
			`{"type":"x","a":"forbidden","b":"4111111111111111"}`,
		} {
			if _, v, err := denying(t, "forbidden").Stream(wire).Push(openai.NewEvent(nil, []byte(event))); v == nil || v.Class != "words" || err != nil {
				t.Errorf("%s: %v, %v", event, v, err)
			}
		}
	}
}

func TestAStreamHasAtMost512ToolCalls(t *testing.T) {
	s := golden(t).Stream(guardrail.Chat)
	for i := range 513 {
		choice, arguments := 0, ""
		if i == 512 {
			choice, arguments = 1, `{\"a`
		}
		_, _, err := s.Push(openai.NewEvent(nil, fmt.Appendf(nil, `{"choices":[{"index":%d,"delta":{"tool_calls":[{"index":%d,"id":"c%d","function":{"name":"f","arguments":"%s"}}]}}]}`, choice, i, i, arguments)))
		if i < 512 && err != nil || i == 512 && !errors.Is(err, judge.ErrTooManyTexts) {
			t.Fatalf("call %d: %v", i+1, err)
		}
	}
}

func TestAResponseHasAtMost512Texts(t *testing.T) {
	s := golden(t).Stream(guardrail.Responses)
	for i := range 513 {
		_, _, err := s.Push(openai.NewEvent(nil, fmt.Appendf(nil, `{"type":"response.x.delta","output_index":%d,"delta":"jo"}`, i)))
		if i < 512 && err != nil || i == 512 && !errors.Is(err, judge.ErrTooManyTexts) {
			t.Fatalf("text %d: %v", i+1, err)
		}
	}
}

func TestAFragmentWithoutIDContinuesTheCallOfItsIndex(t *testing.T) {
	for index := range 3 {
		s := forbidden(t, judge.Deny).Stream(guardrail.Chat)
		push := func(call string) *guardrail.Verdict {
			_, v, err := s.Push(openai.NewEvent(nil, []byte(`{"choices":[{"delta":{"tool_calls":[`+call+`]}}]}`)))
			if err != nil {
				t.Fatal(err)
			}
			return v
		}
		for i := range 3 {
			text := "x"
			if i == index {
				text = "a forb"
			}
			push(fmt.Sprintf(`{"index":%d,"id":"c%d","function":{"arguments":"%s"}}`, i, i, text))
		}
		if push(fmt.Sprintf(`{"index":%d,"function":{"arguments":"idden b"}}`, index)) == nil {
			t.Errorf("index %d: it passes", index)
		}
	}
}

func TestAFragmentWithoutIndexContinuesTheLastCall(t *testing.T) {
	s := forbidden(t, judge.Deny).Stream(guardrail.Chat)
	for i, call := range []string{
		`{"index":0,"id":"a","function":{"arguments":"x"}}`, `{"index":1,"id":"b","function":{"arguments":"a forb"}}`, `{"function":{"arguments":"idden b"}}`,
	} {
		_, v, err := s.Push(openai.NewEvent(nil, []byte(`{"choices":[{"delta":{"tool_calls":[`+call+`]}}]}`)))
		if (v != nil) != (i == 2) || err != nil {
			t.Errorf("%s: %v, %v", call, v, err)
		}
	}
}

// The end of one text of a part is not that of another.
func TestADoneEventEndsItsKindOnly(t *testing.T) {
	const at = `"output_index":0,"content_index":0,`
	s := forbidden(t, judge.Redact).Stream(guardrail.Responses)
	got := sentOn(t, s,
		`{"type":"response.refusal.delta",`+at+`"delta":"a forb"}`,
		`{"type":"response.output_text.done",`+at+`"text":"x"}`,
		`{"type":"response.content_part.added",`+at+`"part":{"type":"other"}}`,
		`{"type":"response.refusal.delta","output_index":0,"content_index":0,"delta":"idden b"}`)
	if !strings.HasPrefix(jsontest.String(t, got[3], "delta"), "[REDACTED:words] ") {
		t.Errorf("got %q", got)
	}
}

// A match may begin in one part of a message and end in the next, however each begins.
func TestAPartContinuesTheOneBefore(t *testing.T) {
	for _, first := range []string{
		`{"type":"response.output_text.delta","output_index":0,"content_index":0,"delta":"a forb"}`,
		`{"type":"response.content_part.added","output_index":0,"content_index":0,"part":{"type":"output_text","text":"a forb"}}`,
	} {
		for _, second := range []string{
			`{"type":"response.content_part.added","output_index":0,"content_index":1,"part":{"type":"output_text","text":"idden b"}}`,
			`{"type":"response.output_text.delta","output_index":0,"content_index":1,"delta":"idden b"}`,
		} {
			s := forbidden(t, judge.Deny).Stream(guardrail.Responses)
			_, _, _ = s.Push(openai.NewEvent(nil, []byte(first)))
			if _, v, err := s.Push(openai.NewEvent(nil, []byte(second))); v == nil || err != nil {
				t.Errorf("%s, %s: %v, %v", first, second, v, err)
			}
		}
	}
}

func TestChoicesThatAreNoObjectsAreNoChoices(t *testing.T) {
	s := forbidden(t, judge.Redact).Stream(guardrail.Chat)
	got := sentOn(t, s, `{"choices":[{"index":0,"delta":{"content":"a forb"}}]}`, `{"choices":[null,{"index":0,"delta":{"reasoning":"x "}}]}`)
	if !jsontest.Has(t, got[1], `{"content":"forb"}`) {
		t.Errorf("got %q", got)
	}
}

func TestAnItemEndsItsTextsOnly(t *testing.T) {
	delta := func(item int) string {
		return fmt.Sprintf(`{"type":"response.output_text.delta","output_index":%d,"content_index":0,"delta":"forb"}`, item)
	}
	got := sentOn(t, forbidden(t, judge.Redact).Stream(guardrail.Responses), delta(0), delta(1), `{"type":"response.output_item.done","output_index":0,"item":{}}`)
	if strings.Count(got[2], "forb") != 1 || !jsontest.Has(t, got[2], `{"output_index":0}`) || jsontest.Has(t, got[2], `{"output_index":1}`) || !jsontest.Has(t, got[3], `{"output_index":1}`) {
		t.Errorf("got %q", got)
	}
}

// The end of a stream has no number. What is inserted before it has the next one.
func TestWhatIsSentAtTheEndIsNumbered(t *testing.T) {
	delta := func(part, number int) string {
		return fmt.Sprintf(`{"type":"response.x.delta","output_index":%d,"sequence_number":%d,"delta":"forb"}`, part, number)
	}
	set := forbidden(t, judge.Redact)
	for name, got := range map[string][]string{
		"done":   sentOn(t, set.Stream(guardrail.Responses), delta(0, 7), delta(1, 8), "[DONE]"),
		"closed": sentOn(t, set.Stream(guardrail.Responses), delta(0, 7), delta(1, 8)),
	} {
		if !jsontest.Has(t, got[2], `{"sequence_number":9,"delta":"forb"}`) || !jsontest.Has(t, got[2], `{"sequence_number":10,"delta":"forb"}`) {
			t.Errorf("%s: got %q", name, got)
		}
	}
}

func TestAnIndexIsAWholeNumber(t *testing.T) {
	for index, want := range map[string]string{
		"9": "9", "10": "10", "123456789": "123456789", "1234567890": "0", "-1": "0", "1.5": "0", "1e3": "0", `"7"`: "0", "null": "0", "true": "0",
	} {
		got := sentOn(t, forbidden(t, judge.Redact).Stream(guardrail.Chat), `{"choices":[{"index":`+index+`,"delta":{"content":"forb"}}]}`)
		if !jsontest.Has(t, got[1], `{"index":`+want+`,"delta":{"content":"forb"}}`) {
			t.Errorf("%s: got %q", index, got)
		}
	}
}

// A part that begins empty begins with its first delta: the part before it may go on until then.
func TestAPartThatBeginsEmptyEndsNoOther(t *testing.T) {
	for text, ends := range map[string]bool{"": false, "x": true} {
		got := sentOn(t, forbidden(t, judge.Redact).Stream(guardrail.Responses),
			`{"type":"response.output_text.delta","output_index":0,"content_index":0,"delta":"forb"}`,
			`{"type":"response.content_part.added","output_index":0,"content_index":1,"part":{"type":"output_text","text":"`+text+`"}}`)
		if now := jsontest.Has(t, got[1], `{"delta":"forb"}`); now != ends {
			t.Errorf("%q: got %q", text, got)
		}
	}
}

func TestOnlyTheTextOfAPartContinuesTheOneBefore(t *testing.T) {
	const at = `"output_index":0,"content_index":1`
	for event, denied := range map[string]bool{
		`{"type":"response.output_text.done",` + at + `,"text":"idden b"}`:                 true,
		`{"type":"response.content_part.done",` + at + `,"part":{"text":"idden b"}}`:       true,
		`{"type":"response.output_text.done",` + at + `,"title":"idden b"}`:                false,
		`{"type":"response.x",` + at + `,"other":{"text":"idden b"}}`:                      false,
		`{"type":"response.content_part.done",` + at + `,"part":{"a":{"text":"idden b"}}}`: false,
	} {
		s := forbidden(t, judge.Deny).Stream(guardrail.Responses)
		_, _, _ = s.Push(openai.NewEvent(nil, []byte(`{"type":"response.output_text.delta","output_index":0,"content_index":0,"delta":"a forb"}`)))
		_, _, _ = s.Push(openai.NewEvent(nil, []byte(`{"type":"response.output_text.delta",`+at+`,"delta":"x "}`)))
		if _, v, err := s.Push(openai.NewEvent(nil, []byte(event))); (v != nil) != denied || err != nil {
			t.Errorf("%s: %v, %v", event, v, err)
		}
	}
}

func TestAnEventWithoutNumberGetsNone(t *testing.T) {
	const plain = `{"type":"response.y"}`
	got := sentOn(t, forbidden(t, judge.Redact).Stream(guardrail.Responses),
		`{"type":"response.x.delta","sequence_number":3,"delta":"forb"}`, `{"type":"response.x.done","sequence_number":4}`, plain)
	if !jsontest.Has(t, got[1], `{"sequence_number":5}`) || got[2] != plain {
		t.Errorf("got %q", got)
	}
}

// Numbers shift only by events that have one.
func TestAnEventWithoutNumberShiftsNone(t *testing.T) {
	got := sentOn(t, forbidden(t, judge.Redact).Stream(guardrail.Responses),
		`{"type":"response.x.delta","delta":"forb"}`, `{"type":"response.x.done","sequence_number":5}`)
	if !jsontest.Has(t, got[1], `{"delta":"forb"}`) || !jsontest.Has(t, got[1], `{"sequence_number":5}`) {
		t.Errorf("got %q", got)
	}
}

func TestAnEmptyPieceOpensNoText(t *testing.T) {
	s := golden(t).Stream(guardrail.Chat)
	for i := range 600 {
		if _, _, err := s.Push(openai.NewEvent(nil, fmt.Appendf(nil, `{"choices":[{"index":%d,"delta":{"role":"assistant","content":""}}]}`, i))); err != nil {
			t.Fatalf("choice %d: %v", i, err)
		}
	}
}

// A provider may repeat a key. Clients take one of them, so both are read.
func TestChoicesThatComeTwiceAreBothRead(t *testing.T) {
	const harmless, denied = `"choices":[{"index":0,"delta":{"content":"x "}}]`, `"choices":[{"index":0,"delta":{"content":"forbidden "}}]`
	for _, event := range []string{"{" + harmless + "," + denied + "}", "{" + denied + "," + harmless + "}"} {
		if _, v, err := forbidden(t, judge.Deny).Stream(guardrail.Chat).Push(openai.NewEvent(nil, []byte(event))); v == nil || err != nil {
			t.Errorf("%s: %v, %v", event, v, err)
		}
	}
}

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

const blockPiece = `{"type":"content_block_delta","index":%d,"delta":{"type":"%s_delta","%[2]s":"%s"}}`

// What ends a text of a message: the stop of its block, the start of another, or the end of all.
func TestATextOfAMessageEndsWithItsBlock(t *testing.T) {
	for ending, ends := range map[string]bool{
		`{"type":"content_block_stop","index":1}`:                                            true,
		`{"type":"content_block_stop","index":0}`:                                            false,
		`{"type":"content_block_start","index":2,"content_block":{"type":"text","text":""}}`: true,
		`{"type":"content_block_start","index":1,"content_block":{"type":"text","text":""}}`: false,
		`{"type":"message_delta","delta":{"stop_reason":"end_turn"}}`:                        true,
		`{"type":"message_stop"}`:                                                            true,
		`{"type":"error","error":{"type":"overloaded_error","message":"x"}}`:                 true,
		`[DONE]`:                                true,
		`{"type":"ping"}`:                       false,
		`{"type":"message_start","message":{}}`: false,
		`{"type":"new_event","index":1}`:        false,
		`{"type":"content_block_delta","index":1,"delta":{"type":"citations_delta","citation":{"cited_text":"x"}}}`:   false,
		`{"type":"content_block_delta","index":1,"delta":{"type":"signature_delta","signature":"` + signature + `"}}`: false,
		`{"type":"content_block_delta","index":2,"delta":{"type":"thinking_delta","thinking":"x "}}`:                  false,
		`{"type":"content_block_delta","index":1,"delta":{"type":"text_delta","text":""}}`:                            false,
	} {
		got := sentOn(t, forbidden(t, judge.Redact).Stream(guardrail.Messages), fmt.Sprintf(blockPiece, 1, "text", "forb"), ending)
		const rest = `{"type":"content_block_delta","index":1,"delta":{"type":"text_delta","text":"forb"}}`
		if now := strings.HasPrefix(got[1], rest); now != ends || now == strings.Contains(got[2], rest) {
			t.Errorf("%s: got %q", ending, got)
		}
	}
}

func TestAnInsertedDeltaRepeatsItsBlock(t *testing.T) {
	for event, want := range map[string]string{
		fmt.Sprintf(blockPiece, 3, "text", "forb"):                                                                                         fmt.Sprintf(blockPiece, 3, "text", "forb"),
		fmt.Sprintf(blockPiece, 0, "thinking", "forb"):                                                                                     fmt.Sprintf(blockPiece, 0, "thinking", "forb"),
		`{"type":"content_block_delta","index":0,"delta":{"type":"input_json_delta","partial_json":"{\"forb"}}`:                            `{"type":"content_block_delta","index":0,"delta":{"type":"input_json_delta","partial_json":"forb"}}`,
		`{"type":"content_block_delta","note":"x","index":0,"delta":{"type":"new_delta","a":1,"b":{"c":"forb"}}}`:                          `{"type":"content_block_delta","index":0,"delta":{"type":"new_delta","b":{"c":"forb"}}}`,
		`{"type":"content_block_start","index":5,"content_block":{"type":"text","text":"a forb","citations":[]}}`:                          fmt.Sprintf(blockPiece, 5, "text", "forb"),
		`{"type":"content_block_start","index":5,"content_block":{"type":"thinking","thinking":"a forb","signature":""}}`:                  fmt.Sprintf(blockPiece, 5, "thinking", "forb"),
		`{"type":"content_block_start","index":5,"content_block":{"type":"thinking","thinking":"a forb","signature":"` + signature + `"}}`: "",
		`{"type":"content_block_start","index":5,"content_block":{"type":"new","text":"a forb"}}`:                                          "",
		`{"type":"content_block_start","index":5,"content_block":{"type":"text","title":"a forb"}}`:                                        "",
		`{"type":"content_block_start","index":5,"content_block":{"type":"tool_use","input":{"a":"forb"}}}`:                                "",
		`{"type":"content_block_delta","index":0,"delta":{"type":"citations_delta","citation":{"cited_text":"forb"}}}`:                     "",
		`{"type":"content_block_delta","index":0,"delta":{"type":"signature_delta","signature":"forb"}}`:                                   "",
		`{"type":"message_delta","delta":{"stop_reason":"stop_sequence","stop_sequence":"forb"}}`:                                          "",
	} {
		if got := held(t, guardrail.Messages, event); got != want {
			t.Errorf("after %s\ngot  %s\nwant %s", event, got, want)
		}
	}
	s := forbidden(t, judge.Redact).Stream(guardrail.Messages)
	_, _, err := s.Push(openai.NewEvent(nil, fmt.Appendf(nil, blockPiece, 0, "text", "forb")))
	if events, v := s.Close(); err != nil || v != nil || len(events) != 1 || string(events[0].Name) != "content_block_delta" {
		t.Errorf("%d events, %v, %v", len(events), v, err)
	}
}

func TestBlocksOfTextAreOneText(t *testing.T) {
	start := func(index int, kind, text string) string {
		return fmt.Sprintf(`{"type":"content_block_start","index":%d,"content_block":{"type":"%s","%[2]s":"%s"}}`, index, kind, text)
	}
	stop := `{"type":"content_block_stop","index":0}`
	for name, c := range map[string]struct {
		events []string
		denied bool
	}{
		"deltas of a block":        {[]string{fmt.Sprintf(blockPiece, 0, "text", "a forb"), fmt.Sprintf(blockPiece, 0, "text", "idden b")}, true},
		"a ping between":           {[]string{fmt.Sprintf(blockPiece, 0, "text", "a forb"), `{"type":"ping"}`, fmt.Sprintf(blockPiece, 0, "text", "idden b")}, true},
		"a block starts with text": {[]string{start(0, "text", "a forb"), fmt.Sprintf(blockPiece, 0, "text", "idden b")}, true},
		"two blocks of text":       {[]string{fmt.Sprintf(blockPiece, 0, "text", "a forb"), stop, fmt.Sprintf(blockPiece, 1, "text", "idden b")}, true},
		"both start with text":     {[]string{start(0, "text", "a forb"), stop, start(1, "text", "idden b")}, true},
		"another block between":    {[]string{fmt.Sprintf(blockPiece, 0, "text", "a forb"), stop, fmt.Sprintf(blockPiece, 1, "thinking", "x "), fmt.Sprintf(blockPiece, 2, "text", "idden b")}, true},
		"deltas of thinking":       {[]string{start(0, "thinking", ""), fmt.Sprintf(blockPiece, 0, "thinking", "a forb"), fmt.Sprintf(blockPiece, 0, "thinking", "idden b")}, true},
		"unsigned thinking":        {[]string{`{"type":"content_block_start","index":0,"content_block":{"type":"thinking","thinking":"a forb","signature":null}}`, fmt.Sprintf(blockPiece, 0, "thinking", "idden b")}, true},
		"thinking starts":          {[]string{start(0, "thinking", "a forb"), fmt.Sprintf(blockPiece, 0, "thinking", "idden b")}, true},
		"text after thinking":      {[]string{fmt.Sprintf(blockPiece, 0, "thinking", "a forb"), stop, fmt.Sprintf(blockPiece, 1, "text", "idden b")}, false},
		"two blocks of thinking":   {[]string{fmt.Sprintf(blockPiece, 0, "thinking", "a forb"), stop, fmt.Sprintf(blockPiece, 1, "thinking", "idden b")}, false},
		"arguments":                {[]string{`{"type":"content_block_delta","index":0,"delta":{"type":"input_json_delta","partial_json":"{\"a\":\"x\\"}}`, `{"type":"content_block_delta","index":0,"delta":{"type":"input_json_delta","partial_json":"nforbidden\"}"}}`}, true},
		"arguments of two calls":   {[]string{`{"type":"content_block_delta","index":0,"delta":{"type":"input_json_delta","partial_json":"[\"a forb"}}`, stop, `{"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":"idden b\"]"}}`}, false},
		"a new kind of delta":      {[]string{`{"type":"content_block_delta","index":0,"delta":{"type":"new_delta","x":"a forb"}}`, `{"type":"content_block_delta","index":0,"delta":{"type":"new_delta","x":"idden b"}}`}, true},
		"a whole input":            {[]string{`{"type":"content_block_start","index":0,"content_block":{"type":"tool_use","input":{"a":"forbidden"}}}`}, true},
		"a citation":               {[]string{`{"type":"content_block_delta","index":0,"delta":{"type":"citations_delta","citation":{"cited_text":"forbidden"}}}`}, true},
		"an error":                 {[]string{`{"type":"error","error":{"type":"api_error","message":"forbidden"}}`}, true},
	} {
		s := newWire(forbidden(t, judge.Deny), guardrail.Messages)
		denied := false
		for _, event := range c.events {
			_, v, err := s.push("", event)
			if denied = denied || v != nil; err != nil {
				t.Fatal(name, err)
			}
		}
		if _, v := s.close(); (denied || v != nil) != c.denied {
			t.Errorf("%s: denied %t", name, !c.denied)
		}
	}
}

// A signature stays if its thinking does, also where no thinking is shown.
func TestASignatureIsEmptiedOnlyIfItsThinkingWasChanged(t *testing.T) {
	sign := func(index int) string {
		return fmt.Sprintf(`{"type":"content_block_delta","index":%d,"delta":{"type":"signature_delta","signature":"%s"}}`, index, signature)
	}
	for name, c := range map[string]struct {
		events []string
		kept   bool
	}{
		"nothing found":     {[]string{fmt.Sprintf(blockPiece, 0, "thinking", "a "), sign(0)}, true},
		"held back":         {[]string{fmt.Sprintf(blockPiece, 0, "thinking", "forb"), sign(0)}, true},
		"no thinking":       {[]string{sign(0)}, true},
		"found":             {[]string{fmt.Sprintf(blockPiece, 0, "thinking", "a forbidden b"), fmt.Sprintf(blockPiece, 0, "thinking", "c "), sign(0)}, false},
		"found at its end":  {[]string{fmt.Sprintf(blockPiece, 0, "thinking", "a forbidden"), sign(0)}, false},
		"found in another":  {[]string{fmt.Sprintf(blockPiece, 0, "thinking", "a forbidden "), `{"type":"content_block_stop","index":0}`, fmt.Sprintf(blockPiece, 1, "thinking", "a "), sign(1)}, true},
		"found in its text": {[]string{fmt.Sprintf(blockPiece, 0, "text", "a forbidden "), sign(0)}, true},
	} {
		got := sentOn(t, forbidden(t, judge.Redact).Stream(guardrail.Messages), c.events...)
		last := got[len(c.events)-1]
		if strings.HasSuffix(last, c.events[len(c.events)-1]) != c.kept || !c.kept && !jsontest.Has(t, last, `{"signature":""}`) {
			t.Errorf("%s: got %q", name, got)
		}
	}
}

func TestAMessageHasAtMost512OpenTexts(t *testing.T) {
	s := golden(t).Stream(guardrail.Messages)
	for i := range 513 {
		_, _, err := s.Push(openai.NewEvent(nil, fmt.Appendf(nil, blockPiece, i, "text", "jo")))
		if i < 512 && err != nil || i == 512 && !errors.Is(err, judge.ErrTooManyTexts) {
			t.Fatalf("text %d: %v", i+1, err)
		}
	}
}

package judge_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/gatehouse-proxy/gatehouse/internal/guardrail"
	"github.com/gatehouse-proxy/gatehouse/internal/guardrail/judge"
)

// messagesReader reads a Messages stream as SDKs do: by the name of its events, and text only for
// the block that is open.
type messagesReader struct {
	texts      []string // by block
	signatures []string
	open       bool
}

var deltaMembers = map[string]string{"text": "text_delta", "thinking": "thinking_delta", "partial_json": "input_json_delta"}

func (c *messagesReader) read(t testing.TB, events []sent) {
	t.Helper()
	for _, e := range events {
		var in struct {
			Type    string
			Index   int
			Delta   map[string]any
			Content struct{ Text, Thinking string } `json:"content_block"`
		}
		if err := json.Unmarshal(e.data, &in); err != nil || in.Type != string(e.name) {
			t.Fatalf("%s: %s, %v", e.name, e.data, err)
		}
		last := len(c.texts) - 1
		switch in.Type {
		case "content_block_start":
			if in.Index != len(c.texts) || c.open {
				t.Errorf("%s comes after %d blocks, open: %t", e.data, len(c.texts), c.open)
			}
			c.texts, c.signatures, c.open = append(c.texts, in.Content.Text+in.Content.Thinking), append(c.signatures, ""), true
		case "content_block_delta":
			if in.Index != last || !c.open {
				t.Fatalf("%s comes after %d blocks, open: %t", e.data, len(c.texts), c.open)
			}
			for member, typ := range deltaMembers {
				if text, ok := in.Delta[member].(string); ok {
					if c.texts[last] += text; in.Delta["type"] != typ || len(in.Delta) != 2 {
						t.Errorf("%s is a delta of %s", e.data, member)
					}
				}
			}
			if signature, ok := in.Delta["signature"].(string); ok {
				c.signatures[last] += signature
			}
		case "content_block_stop":
			c.open = false
		}
	}
}

const signature = "EqQBCgIYAhIM1gbcDa9GJwZA2b3hGgxBdjrkzLoky3dl1pkiMOYds"

// messagesScript returns events of a message: each byte of a script begins a block or cuts a piece
// off the text. It also returns the kinds of the blocks and their texts.
func messagesScript(text string, script []byte, done bool) (events, kinds, raw []string) {
	stop := func() {
		if n := len(raw) - 1; n >= 0 {
			if kinds[n] == "thinking" {
				events = append(events, fmt.Sprintf(`{"type":"content_block_delta","index":%d,"delta":{"type":"signature_delta","signature":"%s"}}`, n, signature))
			}
			events = append(events, fmt.Sprintf(`{"type":"content_block_stop","index":%d}`, n))
		}
	}
	take := func(c byte) string {
		n := int(c) * len(text) / 256
		for n < len(text) && !utf8.RuneStart(text[n]) {
			n++
		}
		raw[len(raw)-1] += text[:n]
		piece, _ := json.Marshal(text[:n])
		return string(piece)
	}
	for _, c := range script {
		if c < 48 || len(raw) == 0 {
			stop()
			kinds, raw = append(kinds, []string{"text", "thinking", "partial_json"}[c%3]), append(raw, "")
			kind, first := kinds[len(kinds)-1], `""`
			if kind == "partial_json" {
				events = append(events, fmt.Sprintf(`{"type":"content_block_start","index":%d,"content_block":{"type":"tool_use","id":"toolu_1","input":{}}}`, len(raw)-1))
				continue
			}
			if c%2 == 0 {
				first = take(c * 5)
			}
			events = append(events, fmt.Sprintf(`{"type":"content_block_start","index":%d,"content_block":{"type":"%s","%s":%s}}`, len(raw)-1, kind, kind, first))
			continue
		}
		kind := kinds[len(kinds)-1]
		events = append(events, fmt.Sprintf(`{"type":"content_block_delta","index":%d,"delta":{"type":"%s","%s":%s}}`, len(raw)-1, deltaMembers[kind], kind, take(c)))
	}
	if done {
		stop()
		events = append(events, `{"type":"message_delta","delta":{"stop_reason":"end_turn"}}`, `{"type":"message_stop"}`)
	}
	return events, kinds, raw
}

// readScript judges the events, and returns what a client reads.
func readScript(t testing.TB, set guardrail.Set, events []string) (got messagesReader, denied bool) {
	t.Helper()
	s := newWire(set, guardrail.Messages)
	for _, data := range events {
		var in struct{ Type string }
		_ = json.Unmarshal([]byte(data), &in)
		out, v, err := s.push(in.Type, data)
		if err != nil {
			t.Fatalf("%s: %v", data, err)
		}
		if got.read(t, out); v != nil {
			return got, true
		}
	}
	out, v := s.close()
	got.read(t, out)
	return got, v != nil
}

func addScripts(f *testing.F) {
	for i := range texts {
		f.Add(texts[i], []byte{0, 200, 1, 100, 220, 2, 80, 255, 3, 60, 4, 128, 6, 90, 250}, true)
		f.Add(texts[i], []byte{1, 60, 70, 80, 90, 100, 110}, false)
		f.Add(texts[i], []byte{2, 60, 70, 80, 90, 100, 110, 10, 255}, true)
	}
}

func FuzzMessagesStreamsAreRedactedLikeWholeTexts(f *testing.F) {
	addScripts(f)
	set := all(f)
	f.Fuzz(func(t *testing.T, text string, script []byte, done bool) {
		text = strings.ToValidUTF8(text, "?")
		if utf8.RuneCountInString(text)*len(script) >= judge.DefaultWindow {
			text = ""
		}
		events, kinds, raw := messagesScript(text, script, done)
		got, denied := readScript(t, set, events)
		if denied || len(got.texts) != len(raw) {
			t.Fatalf("denied %t, %d blocks, want %d", denied, len(got.texts), len(raw))
		}
		later := false // a text block continues the one before
		for i, text := range raw {
			isJSON := kinds[i] == "partial_json" && strings.ContainsAny(strings.TrimSpace(text)+" ", `{["`)
			if want := judge.Whole(set, text); got.texts[i] != want && !isJSON && !later {
				t.Errorf("%s of %q: got %q, want %q", kinds[i], text, got.texts[i], want)
			}
			if want := got.texts[i] == text; kinds[i] == "thinking" && (done || i < len(raw)-1) && (got.signatures[i] == signature) != want {
				t.Errorf("%q became %q with the signature %q", text, got.texts[i], got.signatures[i])
			}
			later = later || kinds[i] == "text"
		}
	})
}

// A denied text is never sent, in however many events and blocks it comes.
func FuzzMessagesStreamsSendNothingDenied(f *testing.F) {
	addScripts(f)
	f.Add("forbidden ", []byte{0, 120, 60, 3, 120, 255, 1, 150, 90, 255, 255}, true)
	f.Add("a forbidden b 4111 1111 1111 1111 ", []byte{1, 100, 250, 2, 90, 200, 255, 0, 80, 6, 120, 12, 250}, false)
	set := denying(f, "forbidden")
	f.Fuzz(func(t *testing.T, text string, script []byte, done bool) {
		events, kinds, _ := messagesScript(strings.ToValidUTF8(text, "?"), script, done)
		got, _ := readScript(t, set, events)
		joined := "" // of the text blocks
		for i, text := range got.texts {
			if kinds[i] == "text" {
				joined += text
				text = joined
			}
			body, _ := json.Marshal(map[string]string{kinds[i]: text})
			if r, err := set.Answer(t.Context(), body); r.Verdict != nil || err != nil {
				t.Errorf("%s block %d: sent %q, %v, %v", kinds[i], i, text, r.Verdict, err)
			}
		}
	})
}

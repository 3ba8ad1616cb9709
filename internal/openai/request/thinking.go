package request

import (
	"bytes"

	"github.com/gatehouse-proxy/gatehouse/internal/jsonscan"
)

// unsigned are the spellings of an empty signature that clients write: of a compact body, and of
// one with blanks.
var unsigned = [...][]byte{[]byte(`"signature":""`), []byte(`"signature": ""`)}

// DropUnsignedThinking leaves thinking blocks with an empty signature out of the messages of a
// Messages request. Anthropic answers them with 400 (invalid signature). They come from models that
// sign nothing, and from guardrails that redacted the thinking.
func DropUnsignedThinking(b *jsonscan.Body) {
	i, ok := b.Find("messages")
	if !ok {
		return
	}
	messages := b.Value(i)
	if !bytes.Contains(messages, unsigned[0]) && !bytes.Contains(messages, unsigned[1]) {
		return
	}
	var out []byte
	at := 0
	for message := range jsonscan.AllElements(messages) {
		object := message.Value(messages)
		for m := range jsonscan.AllMembers(object) {
			if m.Kind != '[' || string(m.DecodedKey(object)) != "content" {
				continue
			}
			if content, dropped := signedBlocks(m.Value(object)); dropped {
				out = append(append(out, messages[at:message.Start+m.ValueStart]...), content...)
				at = message.Start + m.ValueEnd
			}
		}
	}
	if at > 0 {
		b.Set(i, append(out, messages[at:]...))
	}
}

// signedBlocks returns an array of content blocks without unsigned thinking, and whether there was
// any.
func signedBlocks(blocks []byte) (kept []byte, dropped bool) {
	kept = []byte{'['}
	for s := range jsonscan.AllElements(blocks) {
		block := s.Value(blocks)
		if isUnsignedThinking(block) {
			dropped = true
			continue
		}
		if len(kept) > 1 {
			kept = append(kept, ',')
		}
		kept = append(kept, block...)
	}
	return append(kept, ']'), dropped
}

func isUnsignedThinking(block []byte) bool {
	thinking, empty := false, false
	for m := range jsonscan.AllMembers(block) {
		switch string(m.DecodedKey(block)) {
		case "type":
			thinking = string(m.Value(block)) == `"thinking"`
		case "signature":
			empty = string(m.Value(block)) == `""`
		}
	}
	return thinking && empty
}

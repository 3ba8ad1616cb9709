package params

import (
	"bytes"

	"github.com/gatehouse-proxy/gatehouse/internal/jsonscan"
)

// Sealed is a part of a request that only the model can read that wrote it, with the account that it
// wrote it with: reasoning that is encrypted or signed.
type Sealed struct {
	Content string // what is encrypted, or the signature; "" for thinking without one

	// Needed reports that the provider refuses the request without this part, or that nothing else in
	// the request says the same.
	Needed bool
}

var (
	encryptedKey = jsonscan.KeysOf("encrypted_content")
	signedKeys   = jsonscan.KeysOf("signature", "data")
	sealedKeys   = jsonscan.KeysOf("signature", "data", "thought_signature")
	googleKeys   = jsonscan.KeysOf("thoughtSignature", "thought_signature")
)

// EachSealed calls yield with the sealed parts of a request of any API, in their order. Needed is not
// set.
func EachSealed(b *jsonscan.Body, yield func(Sealed)) {
	if items, ok := sealing(b, "input", encryptedKey); ok {
		for s := range jsonscan.AllElements(items) {
			if part, ok := sealedItem(s.Value(items)); ok {
				yield(part)
			}
		}
	}
	if contents, ok := sealing(b, "contents", googleKeys); ok {
		each(contents, func(content []byte) {
			each(googleMember(content, "parts"), func(part []byte) {
				if signature, ok := jsonscan.String(googleMember(part, "thoughtsignature")); ok && signature != "" {
					yield(Sealed{Content: signature})
				}
			})
		})
	}
	messages, ok := sealing(b, "messages", sealedKeys)
	if !ok {
		return
	}
	for s := range jsonscan.AllElements(messages) {
		message := s.Value(messages)
		for m := range jsonscan.AllMembers(message) {
			list := m.Value(message)
			switch string(m.DecodedKey(message)) {
			case "content":
				for s := range jsonscan.AllElements(list) {
					if part, ok := sealedBlock(s.Value(list)); ok && part.Content != "" {
						yield(part)
					}
				}
			case "reasoning_details": // of a chat request
				EachDetail(list, yield)
			case "tool_calls": // likewise; Google's carrier
				for s := range jsonscan.AllElements(list) {
					signature := nested(s.Value(list), "extra_content", "google", "thought_signature")
					if content, ok := jsonscan.String(signature); ok && content != "" {
						yield(Sealed{Content: content})
					}
				}
			}
		}
	}
}

// nested returns the member of an object behind a path of keys, nil if there is none.
func nested(object []byte, path ...string) []byte {
	for _, key := range path {
		var found []byte
		for m := range jsonscan.AllMembers(object) {
			if string(m.DecodedKey(object)) == key {
				found = m.Value(object)
			}
		}
		object = found
	}
	return object
}

// EachDetail calls yield with the sealed parts of an array of reasoning_details.
func EachDetail(list []byte, yield func(Sealed)) {
	for s := range jsonscan.AllElements(list) {
		detail := s.Value(list)
		for m := range jsonscan.AllMembers(detail) {
			switch string(m.DecodedKey(detail)) {
			case "signature", "data":
				if content, ok := jsonscan.String(m.Value(detail)); ok && content != "" {
					yield(Sealed{Content: content})
				}
			}
		}
	}
}

// MayHaveEncrypted reports whether a Responses request may have encrypted content that begins with
// prefix.
func MayHaveEncrypted(b *jsonscan.Body, prefix string) bool {
	items, ok := sealing(b, "input", encryptedKey)
	return ok && bytes.Contains(items, []byte(prefix))
}

// DropSealedItems leaves parts out of the input of a Responses request.
func DropSealedItems(b *jsonscan.Body, drop func(Sealed) bool) {
	items, ok := sealing(b, "input", encryptedKey)
	if !ok {
		return
	}
	kept, dropped := without(items, func(item []byte) bool {
		part, ok := sealedItem(item)
		return ok && drop(part)
	})
	if dropped {
		i, _ := b.Find("input")
		b.Set(i, kept)
	}
}

// unsigned are the spellings of an empty signature that clients write: of a compact body, and of
// one with blanks.
var unsigned = [...][]byte{[]byte(`"signature":""`), []byte(`"signature": ""`)}

// MayHaveUnsigned reports whether a Messages request may have thinking with an empty signature, which
// Anthropic answers with 400 (invalid signature). It comes from models that sign nothing, and from
// guardrails that redacted the thinking.
func MayHaveUnsigned(b *jsonscan.Body) bool {
	messages, ok := sealing(b, "messages", signedKeys)
	return ok && (bytes.Contains(messages, unsigned[0]) || bytes.Contains(messages, unsigned[1]))
}

// DropThinking leaves thinking blocks out of the messages of a Messages request. Needed are those of
// the last turn of the assistant while it waits for results of tools, if the request has manual
// thinking: Anthropic answers a turn without them with 400.
func DropThinking(b *jsonscan.Body, drop func(Sealed) bool) {
	messages, ok := sealing(b, "messages", signedKeys)
	if !ok {
		return
	}
	last := -1 // where the turn begins that must have its thinking
	if thinksManually(b) {
		last = unansweredTurn(messages)
	}
	var out []byte
	at := 0
	for message := range jsonscan.AllElements(messages) {
		object := message.Value(messages)
		for m := range jsonscan.AllMembers(object) {
			if m.Kind != '[' || string(m.DecodedKey(object)) != "content" {
				continue
			}
			kept, dropped := without(m.Value(object), func(block []byte) bool {
				part, ok := sealedBlock(block)
				part.Needed = message.Start == last
				return ok && drop(part)
			})
			if dropped {
				out = append(append(out, messages[at:message.Start+m.ValueStart]...), kept...)
				at = message.Start + m.ValueEnd
			}
		}
	}
	if at > 0 {
		i, _ := b.Find("messages")
		b.Set(i, append(out, messages[at:]...))
	}
}

// sealing returns an array of the body that may have one of the keys in it.
func sealing(b *jsonscan.Body, field string, keys jsonscan.KeySet) (array []byte, ok bool) {
	i, ok := b.Find(field)
	if !ok || b.Members()[i].Kind != '[' || !b.Members()[i].Nested.MayHave(keys) {
		return nil, false
	}
	return b.Value(i), true
}

// sealedItem reads an item of input. One that is no reasoning, such as a compacted conversation, has
// its content nowhere else.
func sealedItem(item []byte) (part Sealed, ok bool) {
	part.Content, _ = jsonscan.String(nested(item, "encrypted_content"))
	if part.Content == "" {
		return part, false
	}
	typ, _ := jsonscan.String(nested(item, "type"))
	part.Needed = typ != "reasoning"
	return part, true
}

// sealedBlock reads a content block of a Messages request.
func sealedBlock(block []byte) (part Sealed, ok bool) {
	switch string(nested(block, "type")) {
	case `"thinking"`:
		part.Content, ok = jsonscan.String(nested(block, "signature"))
	case `"redacted_thinking"`:
		part.Content, ok = jsonscan.String(nested(block, "data"))
		ok = ok && part.Content != ""
	}
	return part, ok
}

// thinksManually reports whether a Messages request gives thinking a budget.
func thinksManually(b *jsonscan.Body) bool {
	return string(nested(value(b, "thinking"), "type")) == `"enabled"`
}

// unansweredTurn returns where the last message of the assistant begins, if the one behind it has
// results of tools; else -1.
func unansweredTurn(messages []byte) int {
	var before, last jsonscan.Span
	for s := range jsonscan.AllElements(messages) {
		before, last = last, s
	}
	if !bytes.Contains(last.Value(messages), []byte(`"tool_result"`)) {
		return -1
	}
	return before.Start
}

// without returns an array without the elements that drop names, and whether there are any.
func without(array []byte, drop func(element []byte) bool) (kept []byte, dropped bool) {
	var buffer [32]jsonscan.Span
	left := buffer[:0]
	for s := range jsonscan.AllElements(array) {
		if drop(s.Value(array)) {
			dropped = true
		} else {
			left = append(left, s)
		}
	}
	if !dropped {
		return nil, false
	}
	kept = []byte{'['}
	for i, s := range left {
		if i > 0 {
			kept = append(kept, ',')
		}
		kept = append(kept, s.Value(array)...)
	}
	return append(kept, ']'), true
}

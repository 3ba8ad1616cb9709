package messagesonchat

import (
	"github.com/gatehouse-proxy/gatehouse/internal/jsonscan"
	"github.com/gatehouse-proxy/gatehouse/internal/openai"
	"github.com/gatehouse-proxy/gatehouse/internal/translate"
)

// isCut reports whether a chat completion with this finish reason ended before the model was done.
func isCut(finish string) bool { return finish == "length" || finish == "content_filter" }

// stopReason returns the stop reason for the finish reason of a chat completion. Providers say
// "stop", or words of their own, where they should say "tool_calls".
func (b *builder) stopReason(finish string) string {
	switch {
	case finish == "length":
		return "max_tokens"
	case finish == "content_filter" || b.refused:
		return "refusal"
	case len(b.calls) > 0:
		return "tool_use"
	}
	return "end_turn"
}

// bytesPerToken is how many bytes of an answer count as a token if the provider reports no usage.
const bytesPerToken = 4

// appendUsage appends the usage of a message, whose input excludes what was read from a cache or
// written to it. Clients need a number in any case: they see by it when their context is full.
func (b *builder) appendUsage(dst []byte, sum *openai.Summary) []byte {
	u := sum.Usage
	if !sum.HasUsage {
		u = openai.Usage{Prompt: b.original.inputTokens, Completion: int64((b.output + bytesPerToken - 1) / bytesPerToken)}
	}
	dst = translate.AppendIntMember(append(dst, '{'), "input_tokens", max(u.Prompt-u.Cached-u.CacheWrite, 0))
	dst = translate.AppendIntMember(dst, "cache_creation_input_tokens", u.CacheWrite)
	dst = translate.AppendIntMember(dst, "cache_read_input_tokens", u.Cached)
	dst = translate.AppendIntMember(dst, "output_tokens", u.Completion)
	if u.Reasoning > 0 {
		dst = append(dst, `,"output_tokens_details":{`...)
		dst = append(translate.AppendIntMember(dst, "thinking_tokens", u.Reasoning), '}')
	}
	return append(dst, '}')
}

// appendStop appends the members stop_reason and stop_sequence; "" stands for null. Providers do
// not say in chat which sequence stopped an answer; a translation before may.
func appendStop(dst []byte, reason, sequence string) []byte {
	if sequence != "" {
		dst = append(translate.AppendKey(dst, "stop_reason"), `"stop_sequence"`...)
		return jsonscan.AppendString(translate.AppendKey(dst, "stop_sequence"), sequence)
	}
	dst = translate.AppendKey(dst, "stop_reason")
	if reason == "" {
		dst = append(dst, "null"...)
	} else {
		dst = jsonscan.AppendString(dst, reason)
	}
	return append(dst, `,"stop_sequence":null`...)
}

// appendHead appends a message up to its content.
func (b *builder) appendHead(dst []byte) []byte {
	dst = translate.AppendMember(append(dst, '{'), "id", b.id)
	dst = append(dst, `,"type":"message","role":"assistant"`...)
	dst = translate.AppendMember(dst, "model", b.model)
	return append(dst, `,"content":[`...)
}

// append appends the whole message.
func (b *builder) append(dst []byte, sum *openai.Summary) []byte {
	dst = b.appendHead(dst)
	for i := range b.blocks {
		it := &b.blocks[i]
		switch dst = translate.AppendComma(dst); it.kind {
		case toolBlock:
			input, ok := it.input()
			if !ok { // cut off
				input = []byte("{}")
			}
			dst = it.appendCall(dst, input)
		case redactedBlock:
			dst = it.appendRedacted(dst)
		default:
			dst = it.appendText(dst, it.waiting, it.signature())
		}
	}
	dst = appendStop(append(dst, ']'), b.stopReason(sum.Finish), sum.StopSequence)
	return append(b.appendUsage(translate.AppendKey(dst, "usage"), sum), '}')
}

var emptyText = []byte(`""`)

// signature returns the signature of a block of thinking, quoted: what the model needs to take it
// back, or an empty one. Only who made thinking can sign it.
func (it *block) signature() []byte {
	if len(it.signed.Elements) == 0 {
		return emptyText
	}
	return translate.WrapReasoning(it.signed.Elements)
}

// appendRedacted appends a block of thinking without text.
func (it *block) appendRedacted(dst []byte) []byte {
	dst = append(dst, `{"type":"redacted_thinking"`...)
	return append(translate.AppendMember(dst, "data", it.signature()), '}')
}

// appendText appends a block of text, or of thinking with its signature.
func (it *block) appendText(dst, text, signature []byte) []byte {
	if it.kind == thinkingBlock {
		dst = append(dst, `{"type":"thinking"`...)
		dst = translate.AppendTextMember(dst, "thinking", text)
		return append(translate.AppendMember(dst, "signature", signature), '}')
	}
	dst = append(dst, `{"type":"text"`...)
	return append(translate.AppendTextMember(dst, "text", text), '}')
}

func (it *block) appendCall(dst, input []byte) []byte {
	dst = append(dst, `{"type":"tool_use"`...)
	dst = translate.AppendMember(dst, "id", it.id)
	dst = translate.AppendMember(dst, "name", it.name)
	return append(translate.AppendMember(dst, "input", input), '}')
}

// callIDs is how the Messages API has the ids of calls.
var callIDs = translate.Naming{Most: 64, Hash: 12}

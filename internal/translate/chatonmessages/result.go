package chatonmessages

import (
	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/jsonscan"
	"github.com/gatehouse-proxy/gatehouse/internal/openai"
	"github.com/gatehouse-proxy/gatehouse/internal/translate"
)

// Result translates a provider's whole message to a chat completion, from which the family makes
// its result. A body that is not a message, reports an error, or has content that a chat completion
// cannot have, is a [*apierror.Error], also in the summary.
func Result(message []byte, original *Original, call openai.Call) ([]byte, openai.Summary, error) {
	var sum openai.Summary
	w := &messageWriter{original: original}
	r := reader{call: &call, original: original, to: w}
	fail := func(e *apierror.Error) ([]byte, openai.Summary, error) {
		sum.Err, sum.Finish = e, "error"
		return nil, sum, e
	}
	members, err := jsonscan.Lenient(message, nil)
	if err != nil {
		return fail(translate.ProviderFailure(&call, "answered what is not JSON").WithCause(err))
	}
	get := func(key string) []byte {
		if i, ok := jsonscan.Find(message, members, key); ok {
			return members[i].Value(message)
		}
		return nil
	}
	if string(get("type")) == `"error"` {
		return fail(call.Fault(openai.ParseProviderError(message)))
	}
	content := get("content")
	if len(content) == 0 || content[0] != '[' {
		return fail(translate.ProviderFailure(&call, "answered with what is no message"))
	}
	id := get("id")
	if text, ok := jsonscan.String(id); ok && len(id) <= maxID {
		sum.UpstreamID = text
	} else {
		id = nil
	}
	r.usage.Read(get("usage"))
	sum.Usage, sum.HasUsage = r.usage.OpenAI()
	i := int64(0)
	for span := range jsonscan.AllElements(content) {
		if bad := r.start(i, span.Value(content)); bad != nil {
			return fail(bad)
		}
		r.stop(&r.blocks[len(r.blocks)-1], false)
		i++
	}
	r.takeStop(message)
	finish, bad := r.end()
	if bad != nil {
		return fail(bad)
	}
	sum.Finish, sum.NativeFinish, sum.Text = finish, r.native(finish), w.said()

	out := append(make([]byte, 0, len(message)+256), '{')
	if sum.UpstreamID != "" {
		out = translate.AppendMember(out, "id", id)
	}
	out = append(translate.AppendComma(out), `"object":"chat.completion","choices":[`...)
	out = append(w.appendChoice(out, finish), ']')
	if sum.HasUsage {
		out = translate.AppendUsage(translate.AppendKey(out, "usage"), sum.Usage)
	}
	return append(out, '}'), sum, nil
}

// maxID bounds the id of a message that is held; known ones have 30 bytes.
const maxID = 256

// messageWriter gathers the message of a whole completion.
type messageWriter struct {
	original *Original

	content, refused, reasoning []byte // JSON without quotes
	hasContent                  bool
	unsigned                    []byte // the text of thoughts whose signature has not come
	thoughts                    int    // which block of thoughts they are
	details, annotations        []byte // elements
	calls                       []toolCall
}

// toolCall is a tool call of the message.
type toolCall struct {
	id, name  []byte
	arguments []byte // JSON without quotes
}

func (w *messageWriter) said() bool {
	return len(w.content) > 0 || len(w.reasoning) > 0 || len(w.calls) > 0
}

func (w *messageWriter) begin(bool) {}

func (w *messageWriter) text(piece []byte) {
	w.hasContent = true
	w.content = append(w.content, piece...)
}

func (w *messageWriter) refusal(text []byte) { w.refused = append(w.refused, text...) }

func (w *messageWriter) thought(n int, first bool, piece []byte) {
	if first {
		w.endThoughts()
		if len(w.reasoning) > 0 {
			w.reasoning = append(w.reasoning, `\n\n`...)
		}
	}
	w.thoughts = n
	w.reasoning = append(w.reasoning, piece...)
	w.unsigned = append(w.unsigned, piece...)
}

// endThoughts writes thoughts that were not signed.
func (w *messageWriter) endThoughts() {
	if len(w.unsigned) > 0 {
		w.detail(w.thoughts, nil, nil)
	}
}

func (w *messageWriter) signature(n int, first bool, signature []byte) {
	if first {
		w.endThoughts()
	}
	w.detail(n, signature, nil)
}

func (w *messageWriter) redacted(n int, data []byte) {
	w.endThoughts()
	w.detail(n, nil, data)
}

func (w *messageWriter) detail(n int, signature, data []byte) {
	var text []byte
	if data == nil {
		text = append(append(append(text, '"'), w.unsigned...), '"')
		w.unsigned = w.unsigned[:0]
	}
	w.details = w.original.appendThought(translate.AppendComma(w.details), n, true, text, signature, data)
}

func (w *messageWriter) citation(annotation []byte) {
	w.annotations = append(translate.AppendComma(w.annotations), annotation...)
}

func (w *messageWriter) beginCall(_ int, id, name []byte) {
	w.calls = append(w.calls, toolCall{id: id, name: name})
}

func (w *messageWriter) arguments(n int, piece []byte) {
	w.calls[n].arguments = append(w.calls[n].arguments, piece...)
}

// appendChoice appends the choice that has the message.
func (w *messageWriter) appendChoice(dst []byte, finish string) []byte {
	w.endThoughts()
	dst = append(dst, `{"index":0,"message":{"role":"assistant","content":`...)
	if w.hasContent || len(w.refused) == 0 && len(w.calls) == 0 {
		dst = append(append(append(dst, '"'), w.content...), '"')
	} else {
		dst = append(dst, "null"...)
	}
	dst = translate.AppendKey(dst, "refusal")
	if len(w.refused) > 0 {
		dst = append(append(append(dst, '"'), w.refused...), '"')
	} else {
		dst = append(dst, "null"...)
	}
	if len(w.reasoning) > 0 {
		dst = translate.AppendTextMember(dst, "reasoning_content", w.reasoning)
	}
	for _, list := range []struct {
		key      string
		elements []byte
	}{{"reasoning_details", w.details}, {"annotations", w.annotations}} {
		if len(list.elements) > 0 {
			dst = append(translate.AppendKey(dst, list.key), '[')
			dst = append(append(dst, list.elements...), ']')
		}
	}
	switch {
	case len(w.calls) == 0:
	case bool(w.original.functions):
		dst = w.original.functions.AppendCall(dst, w.calls[0].name, w.calls[0].arguments)
	default:
		dst = append(dst, `,"tool_calls":[`...)
		for _, call := range w.calls {
			dst = append(translate.AppendComma(dst), '{')
			if call.id != nil {
				dst = translate.AppendMember(dst, "id", call.id)
			}
			dst = append(translate.AppendComma(dst), `"type":"function","function":{`...)
			dst = translate.AppendMember(dst, "name", call.name)
			dst = append(translate.AppendTextMember(dst, "arguments", call.arguments), "}}"...)
		}
		dst = append(dst, ']')
	}
	dst = append(dst, `},"logprobs":null`...)
	dst = translate.AppendTextMember(dst, "finish_reason", []byte(finish))
	return append(dst, '}')
}

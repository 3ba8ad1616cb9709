package chatonresponses

import "github.com/gatehouse-proxy/gatehouse/internal/translate"

// answerWriter writes the content of a response as chat, in the order in which it arrives: as the
// chunks of a stream, or as the message of a whole completion. Texts are JSON without quotes; ids
// and names keep theirs.
type answerWriter interface {
	// begin comes before anything else, once. text says that the answer begins with text.
	begin(text bool)
	text(piece, logprobs []byte)
	refusal(piece []byte)
	reasoning(piece []byte)
	citation(annotation []byte)
	// beginCall begins tool call n, which counts from 0.
	beginCall(n int, custom bool, id, name []byte)
	arguments(n int, custom bool, piece []byte)
}

// messageWriter gathers the message of a whole completion.
type messageWriter struct {
	functions translate.Functions

	content, refused, thought []byte // JSON without quotes
	hasContent, hasRefusal    bool
	annotations, tokens       []byte // elements
	calls                     []toolCall
}

// toolCall is a tool call of the message.
type toolCall struct {
	custom   bool
	id, name []byte
	argument []byte // JSON without quotes
}

func (w *messageWriter) begin(bool) {}

func (w *messageWriter) text(piece, logprobs []byte) {
	w.hasContent = true
	w.content = append(w.content, piece...)
	if len(logprobs) > 0 {
		w.tokens = append(translate.AppendComma(w.tokens), logprobs...)
	}
}

func (w *messageWriter) refusal(piece []byte) {
	w.hasRefusal = true
	w.refused = append(w.refused, piece...)
}

func (w *messageWriter) reasoning(piece []byte) { w.thought = append(w.thought, piece...) }

func (w *messageWriter) citation(annotation []byte) {
	w.annotations = append(translate.AppendComma(w.annotations), annotation...)
}

func (w *messageWriter) beginCall(_ int, custom bool, id, name []byte) {
	w.calls = append(w.calls, toolCall{custom: custom, id: id, name: name})
}

func (w *messageWriter) arguments(n int, _ bool, piece []byte) {
	w.calls[n].argument = append(w.calls[n].argument, piece...)
}

// appendChoice appends the choice that has the message.
func (w *messageWriter) appendChoice(dst []byte, finish string) []byte {
	dst = append(dst, `{"index":0,"message":{"role":"assistant"`...)
	dst = appendTextOrNull(dst, "content", w.content, w.hasContent || !w.hasRefusal && len(w.calls) == 0)
	dst = appendTextOrNull(dst, "refusal", w.refused, w.hasRefusal)
	if len(w.thought) > 0 {
		dst = translate.AppendTextMember(dst, "reasoning_content", w.thought)
	}
	if len(w.annotations) > 0 {
		dst = append(dst, `,"annotations":[`...)
		dst = append(dst, w.annotations...)
		dst = append(dst, ']')
	}
	switch {
	case len(w.calls) == 0:
	case bool(w.functions):
		dst = w.functions.AppendCall(dst, w.calls[0].name, w.calls[0].argument)
	default:
		dst = append(dst, `,"tool_calls":[`...)
		for _, call := range w.calls {
			dst = append(translate.AppendComma(dst), '{')
			dst = append(appendCall(dst, call.custom, call.id, call.name, call.argument), '}')
		}
		dst = append(dst, ']')
	}
	dst = appendLogprobs(translate.AppendKey(append(dst, '}'), "logprobs"), w.tokens)
	dst = translate.AppendTextMember(dst, "finish_reason", []byte(finish))
	return append(dst, '}')
}

// appendTextOrNull appends a member that is text, or null if there is none.
func appendTextOrNull(dst []byte, key string, text []byte, has bool) []byte {
	if !has {
		return append(translate.AppendKey(dst, key), "null"...)
	}
	return translate.AppendTextMember(dst, key, text)
}

// appendCall appends the members of a tool call. A missing id is left out.
func appendCall(dst []byte, custom bool, id, name, argument []byte) []byte {
	if id != nil {
		dst = translate.AppendMember(dst, "id", id)
	}
	typ, key := "function", "arguments"
	if custom {
		typ, key = "custom", "input"
	}
	dst = translate.AppendTextMember(dst, "type", []byte(typ))
	dst = append(translate.AppendKey(dst, typ), '{')
	dst = translate.AppendMember(dst, "name", name)
	return append(translate.AppendTextMember(dst, key, argument), '}')
}

// appendLogprobs appends the value of a choice's logprobs.
func appendLogprobs(dst, tokens []byte) []byte {
	if len(tokens) == 0 {
		return append(dst, "null"...)
	}
	dst = append(dst, `{"content":[`...)
	dst = append(dst, tokens...)
	return append(dst, `],"refusal":null}`...)
}

package chatonconverse

import (
	"slices"

	"github.com/gatehouse-proxy/gatehouse/internal/translate"
)

// assistant adds a message of the model.
func (w *turns) assistant(o translate.Reader) {
	refusal := o.Text("refusal")
	if o.Get("content") == nil && o.Get("tool_calls") == nil && refusal == nil && o.Get("reasoning_details") == nil {
		o.Fail(translate.Missing(o.Param("content")))
	}
	translate.EachThought(o, w.origin, w.putThought)
	if o.Get("content") != nil {
		w.parts(o, translate.RefuseType)
	}
	if refusal != nil {
		w.text(refusal)
	}
	o.Each("tool_calls", translate.MaxTools, func(_ int, call translate.Reader) { w.call(call) })
}

// putThought writes a block of thoughts. They come first in their message.
func (w *turns) putThought(d *translate.Thought) {
	out := append(translate.AppendComma(w.message.blocks), thinks...)
	if d.Data != nil {
		out = translate.AppendMember(append(out, '{'), "redactedContent", d.Data)
	} else {
		out = translate.AppendTextMember(append(out, `{"reasoningText":{`...), "text", d.Text)
		out = append(translate.AppendMember(out, "signature", d.Signature), '}')
	}
	w.message.blocks = append(out, "}}"...)
}

func (w *turns) call(o translate.Reader) {
	c := translate.ReadToolCall(o)
	if !slices.Contains(w.names, string(c.Name)) {
		w.names = append(w.names, string(c.Name))
	}
	out := append(translate.AppendComma(w.message.blocks), `{"toolUse":{`...)
	out = translate.AppendMember(out, "toolUseId", translate.LegalID(c.ID, idDigits))
	out = translate.AppendMember(out, "name", c.Name)
	w.message.blocks = append(translate.AppendMember(out, "input", c.Input), "}}"...)
}

// idDigits are those of the hash in an id that is changed.
const idDigits = 8

// result adds the result of a tool.
func (w *turns) result(o translate.Reader) {
	id, failed := o.RequiredText("tool_call_id"), o.Bool("is_error")
	var content []byte
	w.each(o, func(part translate.Reader, typ string) { content = w.appendMedia(content, part, typ) },
		func(text []byte) { content = w.appendText(content, text) }, func(string) {})
	if len(content) == 0 {
		content = []byte(`{"text":"(no output)"}`) // a blank text is refused
	}
	out := append(w.message.results, `{"toolResult":{`...)
	out = translate.AppendMember(out, "toolUseId", translate.LegalID(id, idDigits))
	out = translate.AppendList(out, "content", content)
	if failed {
		out = append(out, `,"status":"error"`...)
	}
	w.message.results = append(out, "}}"...)
	w.cache(o, func(point string) { w.message.results = w.appendCache(w.message.results, point) })
}

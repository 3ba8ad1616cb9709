package chatonconverse

import (
	"slices"

	"github.com/gatehouse-proxy/gatehouse/internal/jsonscan"
	"github.com/gatehouse-proxy/gatehouse/internal/translate"
)

// assistant adds a message of the model.
func (w *turns) assistant(o translate.Object) error {
	refusal, err := o.Text("refusal")
	if err != nil {
		return err
	}
	if o.Get("content") == nil && o.Get("tool_calls") == nil && refusal == nil && o.Get("reasoning_details") == nil {
		return translate.Missing(o.Param("content"))
	}
	if err := translate.EachThought(&o, w.origin, w.putThought); err != nil {
		return err
	}
	if o.Get("content") != nil {
		if err := w.parts(o, func(part translate.Object, typ string) error { return translate.UnsupportedType(part, typ) }); err != nil {
			return err
		}
	}
	if refusal != nil {
		w.text(refusal)
	}
	return o.Each("tool_calls", translate.MaxTools, func(_ int, call translate.Object) error { return w.call(call) })
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

func (w *turns) call(o translate.Object) error {
	c, err := translate.ReadToolCall(o)
	if err != nil {
		return err
	}
	if !slices.Contains(w.names, string(c.Name)) {
		w.names = append(w.names, string(c.Name))
	}
	out := append(translate.AppendComma(w.message.blocks), `{"toolUse":{`...)
	out = append(translate.AppendKey(out, "toolUseId"), legalID(c.ID)...)
	out = translate.AppendMember(out, "name", c.Name)
	w.message.blocks = append(translate.AppendMember(out, "input", c.Input), "}}"...)
	return nil
}

// idDigits are those of the hash in an id that is changed.
const idDigits = 8

func legalID(quoted []byte) []byte {
	id, _ := jsonscan.String(quoted)
	return jsonscan.AppendString(nil, translate.Legal(id, idDigits))
}

// result adds the result of a tool.
func (w *turns) result(o translate.Object) error {
	id, err := o.RequiredText("tool_call_id")
	if err != nil {
		return err
	}
	failed, err := o.Bool("is_error")
	if err != nil {
		return err
	}
	var content []byte
	err = w.each(o, func(part translate.Object, typ string) error {
		if typ == "text" {
			text, err := part.RequiredText("text")
			content = w.appendText(content, text)
			return err
		}
		block, err := w.block(part, typ)
		content = append(translate.AppendComma(content), block...)
		return err
	}, func(text []byte) { content = w.appendText(content, text) }, func(string) {})
	if err != nil {
		return err
	}
	if len(content) == 0 {
		content = []byte(`{"text":"(no output)"}`) // a blank text is refused
	}
	out := append(w.message.results, `{"toolResult":{`...)
	out = append(translate.AppendKey(out, "toolUseId"), legalID(id)...)
	out = append(append(append(translate.AppendKey(out, "content"), '['), content...), ']')
	if failed {
		out = append(out, `,"status":"error"`...)
	}
	w.message.results = append(out, "}}"...)
	return w.cache(o, func(point string) { w.message.results = w.appendCache(w.message.results, point) })
}

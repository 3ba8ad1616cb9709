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

func (w *turns) call(o translate.Object) error {
	typ, err := o.DecodedText("type")
	if err != nil {
		return err
	}
	if typ != "" && typ != "function" {
		return translate.UnsupportedType(o, typ)
	}
	if err := o.Only("id", "type", "index", "function", "extra_content", "cache_control"); err != nil {
		return err
	}
	id, err := o.RequiredText("id")
	if err != nil {
		return err
	}
	f, err := o.RequiredObject("function")
	if err != nil {
		return err
	}
	if err := f.Only("name", "arguments", "parsed_arguments"); err != nil {
		return err
	}
	name, err := f.RequiredText("name")
	if err != nil {
		return err
	}
	input, err := translate.Arguments(f)
	if err != nil {
		return err
	}
	if !slices.Contains(w.names, string(name)) {
		w.names = append(w.names, string(name))
	}
	w.blocks = append(translate.AppendComma(w.blocks), `{"toolUse":{`...)
	w.blocks = append(translate.AppendKey(w.blocks, "toolUseId"), legalID(id)...)
	w.blocks = translate.AppendMember(w.blocks, "name", name)
	w.blocks = append(translate.AppendMember(w.blocks, "input", input), "}}"...)
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
	}, func(text []byte) { content = w.appendText(content, text) }, func() {})
	if err != nil {
		return err
	}
	if len(content) == 0 {
		content = []byte(`{"text":"(no output)"}`) // a blank text is refused
	}
	w.results = append(translate.AppendComma(w.results), `{"toolResult":{`...)
	w.results = append(translate.AppendKey(w.results, "toolUseId"), legalID(id)...)
	w.results = append(append(append(translate.AppendKey(w.results, "content"), '['), content...), ']')
	if failed {
		w.results = append(w.results, `,"status":"error"`...)
	}
	w.results = append(w.results, "}}"...)
	if o.Get("cache_control") != nil {
		w.results = w.appendCache(w.results)
	}
	return nil
}

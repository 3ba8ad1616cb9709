package chatonconverse

import (
	"slices"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/jsonscan"
	"github.com/gatehouse-proxy/gatehouse/internal/translate"
)

// tools are the tools of a request and the choice among them.
type tools struct {
	turns  *turns // the history
	list   []byte // elements of toolConfig.tools
	choice translate.ToolChoice
	found  []string
}

// read reads tools and tool_choice. Converse wants the tools of the history, too: those that the request
// no longer has are described by their names.
func (w *tools) read(body translate.Object) (err error) {
	history := w.turns
	if w.choice, err = translate.ReadToolChoice(body); err != nil {
		return err
	}
	if w.choice.Mode == "none" && len(history.names) > 0 {
		return translate.UnsupportedValue("tool_choice", "none")
	}
	if w.choice.Mode == "none" {
		return nil
	}
	if err := body.Each("tools", translate.MaxTools, func(_ int, tool translate.Object) error { return w.add(tool) }); err != nil {
		return err
	}
	if err := w.choice.Check(len(w.list) > 0); err != nil {
		return err
	}
	if w.choice.Required() && !history.family.forced {
		return apierror.New(apierror.UnsupportedParameter,
			`"tool_choice" cannot require a tool of this model; use "auto", and say in a message that the tool must be called`).WithParam("tool_choice")
	}
	for _, quoted := range history.names {
		if name, _ := jsonscan.String([]byte(quoted)); !slices.Contains(w.found, name) {
			w.put([]byte(quoted), nil, nil, false)
		}
	}
	return nil
}

// put writes a tool. Schema is nil for any object.
func (w *tools) put(name, description, schema []byte, strict bool) {
	w.list = translate.AppendMember(append(translate.AppendComma(w.list), `{"toolSpec":{`...), "name", name)
	if _, some := translate.Unquoted(description); some {
		w.list = translate.AppendMember(w.list, "description", description)
	}
	if schema == nil {
		schema = []byte(`{"type":"object"}`)
	}
	w.list = append(translate.AppendMember(append(translate.AppendKey(w.list, "inputSchema"), '{'), "json", schema), '}')
	if strict {
		w.list = append(w.list, `,"strict":true`...)
	}
	w.list = append(w.list, "}}"...)
}

func (w *tools) add(tool translate.Object) error {
	o, quoted, err := translate.OpenFunction(tool)
	if err != nil {
		return err
	}
	name, _ := jsonscan.String(quoted)
	if !w.choice.Allows(name) {
		return nil
	}
	description, err := o.Text("description")
	if err != nil {
		return err
	}
	parameters, ok, err := o.Object("parameters")
	if err != nil {
		return err
	}
	strict, err := o.Bool("strict")
	if err != nil {
		return err
	}
	var schema []byte
	switch {
	case ok && parameters.Get("type") == nil:
		schema = append(translate.AppendOthers([]byte(`{"type":"object"`), parameters, "type"), '}')
	case ok:
		schema = translate.AppendObject(nil, parameters)
	}
	w.found = append(w.found, name)
	f := w.turns.family
	w.put(quoted, description, schema, strict && f.strict)
	return w.turns.cache(tool, func(point string) {
		if f.caches == cachesAll {
			w.list = append(translate.AppendComma(w.list), point...)
		}
	})
}

// append appends toolConfig.
func (w *tools) append(dst []byte) []byte {
	if len(w.list) == 0 {
		return dst
	}
	dst = append(append(append(translate.AppendKey(dst, "toolConfig"), `{"tools":[`...), w.list...), ']')
	switch {
	case w.choice.One != nil:
		dst = append(translate.AppendMember(append(translate.AppendKey(dst, "toolChoice"), `{"tool":{`...), "name", w.choice.One), "}}"...)
	case w.choice.Required():
		dst = append(translate.AppendKey(dst, "toolChoice"), `{"any":{}}`...)
	case w.choice.Mode != "":
		dst = append(translate.AppendKey(dst, "toolChoice"), `{"auto":{}}`...)
	}
	return append(dst, '}')
}

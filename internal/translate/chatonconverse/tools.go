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
func (w *tools) read(body translate.Reader) {
	history := w.turns
	w.choice = translate.ReadToolChoice(body)
	if w.choice.Mode == "none" {
		if len(history.names) > 0 {
			body.Fail(translate.UnsupportedValue("tool_choice", "none"))
		}
		return
	}
	body.Each("tools", translate.MaxTools, func(_ int, tool translate.Reader) { w.add(tool) })
	body.Fail(w.choice.Check(len(w.list) > 0))
	if w.choice.Required() && !history.family.forced {
		body.Fail(apierror.New(apierror.UnsupportedParameter,
			`"tool_choice" cannot require a tool of this model; use "auto", and say in a message that the tool must be called`).WithParam("tool_choice"))
	}
	for _, quoted := range history.names {
		if name, _ := jsonscan.String([]byte(quoted)); !slices.Contains(w.found, name) {
			w.put([]byte(quoted), nil, []byte(`{"type":"object"}`), false)
		}
	}
}

// put writes a tool. A nil description is none.
func (w *tools) put(name, description, schema []byte, strict bool) {
	w.list = translate.AppendMember(append(translate.AppendComma(w.list), `{"toolSpec":{`...), "name", name)
	if description != nil {
		w.list = translate.AppendMember(w.list, "description", description)
	}
	w.list = append(translate.AppendMember(append(translate.AppendKey(w.list, "inputSchema"), '{'), "json", schema), '}')
	if strict {
		w.list = append(w.list, `,"strict":true`...)
	}
	w.list = append(w.list, "}}"...)
}

func (w *tools) add(tool translate.Reader) {
	o, quoted := translate.OpenFunction(tool)
	name, _ := jsonscan.String(quoted)
	if !w.choice.Allows(name) {
		return
	}
	description := translate.NonEmptyText(o, "description")
	parameters, _ := o.Object("parameters")
	schema := translate.AppendObject(nil, parameters)
	if parameters.Get("type") == nil {
		schema = append(translate.AppendOthers([]byte(`{"type":"object"`), parameters, "type"), '}')
	}
	w.found = append(w.found, name)
	f := w.turns.family
	w.put(quoted, description, schema, o.Bool("strict") && f.strict)
	w.turns.cache(tool, func(point string) {
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

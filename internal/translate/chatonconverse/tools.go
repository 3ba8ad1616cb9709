package chatonconverse

import (
	"slices"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/jsonscan"
	"github.com/gatehouse-proxy/gatehouse/internal/translate"
)

// tools are the tools of a request and the choice among them.
type tools struct {
	list   []byte // elements of toolConfig.tools
	choice []byte // toolConfig.toolChoice, nil for the default

	allowed  []string // names to which the choice limits the request, nil for no limit
	found    []string
	required bool
	none     bool
}

// read reads tools and tool_choice. Converse wants the tools of the history, too: those that the request
// no longer has are described by their names.
func (w *tools) read(body translate.Object, history *turns, f *family) error {
	if err := w.readChoice(body); err != nil {
		return err
	}
	if w.none && len(history.names) > 0 {
		return translate.UnsupportedValue("tool_choice", "none")
	}
	if w.none {
		return nil
	}
	if err := body.Each("tools", translate.MaxTools, func(_ int, tool translate.Object) error { return w.add(tool, f) }); err != nil {
		return err
	}
	for _, name := range w.allowed {
		if !slices.Contains(w.found, name) {
			return translate.NoSuchTool(name, "tool_choice")
		}
	}
	switch {
	case w.required && len(w.list) == 0:
		return translate.NoTools()
	case w.required && !f.forced:
		return apierror.New(apierror.UnsupportedParameter,
			`"tool_choice" cannot require a tool of this model; use "auto", and say in a message that the tool must be called`).WithParam("tool_choice")
	}
	for _, quoted := range history.names {
		if name, _ := jsonscan.String([]byte(quoted)); !slices.Contains(w.found, name) {
			w.put([]byte(quoted), nil, nil)
		}
	}
	return nil
}

// put writes a tool. Schema is nil for any object.
func (w *tools) put(name, description, schema []byte) {
	w.list = translate.AppendMember(append(translate.AppendComma(w.list), `{"toolSpec":{`...), "name", name)
	if _, some := translate.Unquoted(description); some {
		w.list = translate.AppendMember(w.list, "description", description)
	}
	if schema == nil {
		schema = []byte(`{"type":"object"}`)
	}
	w.list = append(translate.AppendMember(append(translate.AppendKey(w.list, "inputSchema"), '{'), "json", schema), "}}}"...)
}

func (w *tools) add(tool translate.Object, f *family) error {
	o, quoted, err := translate.OpenFunction(tool)
	if err != nil {
		return err
	}
	name, _ := jsonscan.String(quoted)
	if w.allowed != nil && !slices.Contains(w.allowed, name) {
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
	var schema []byte
	switch {
	case ok && parameters.Get("type") == nil:
		schema = append(translate.AppendOthers([]byte(`{"type":"object"`), parameters, "type"), '}')
	case ok:
		schema = translate.AppendObject(nil, parameters)
	}
	w.found = append(w.found, name)
	w.put(quoted, description, schema)
	if f.caches == cachesAll && tool.Get("cache_control") != nil {
		w.list = append(translate.AppendComma(w.list), cachePoint...)
	}
	return nil
}

// readChoice reads tool_choice: a mode, one function, or a mode and the functions that are allowed.
func (w *tools) readChoice(body translate.Object) error {
	value := body.Get("tool_choice")
	if value == nil {
		return nil
	}
	if value[0] == '"' {
		mode, required, err := translate.ToolMode(body, "tool_choice")
		w.setMode(mode, required)
		return err
	}
	o, _, err := body.Object("tool_choice")
	if err != nil {
		return err
	}
	typ, err := o.Type()
	if err != nil {
		return err
	}
	switch typ {
	case "function":
		if err := w.allow(o); err != nil {
			return err
		}
		w.allowed, w.required = nil, true
		function, _, err := o.Object("function")
		w.choice = append(translate.AppendMember([]byte(`{"tool":{`), "name", function.Get("name")), "}}"...)
		return err
	case "allowed_tools":
		allowed, mode, required, err := translate.AllowedTools(o)
		if err != nil {
			return err
		}
		w.setMode(mode, required)
		return allowed.Each("tools", translate.MaxTools, func(_ int, tool translate.Object) error { return w.allow(tool) })
	}
	return translate.UnsupportedType(o, typ)
}

func (w *tools) setMode(mode []byte, required bool) {
	switch w.required, w.none = required, string(mode) == `"none"`; {
	case required:
		w.choice = []byte(`{"any":{}}`)
	case !w.none:
		w.choice = []byte(`{"auto":{}}`)
	}
}

// allow allows the function that a choice names.
func (w *tools) allow(choice translate.Object) error {
	if typ, err := choice.DecodedText("type"); err != nil || typ != "function" {
		return translate.UnsupportedType(choice, typ)
	}
	o, err := choice.RequiredObject("function")
	if err != nil {
		return err
	}
	quoted, err := o.RequiredText("name")
	if err != nil {
		return err
	}
	name, _ := jsonscan.String(quoted)
	w.allowed = append(w.allowed, name)
	return nil
}

// append appends toolConfig.
func (w *tools) append(dst []byte) []byte {
	if len(w.list) == 0 {
		return dst
	}
	dst = append(append(append(translate.AppendKey(dst, "toolConfig"), `{"tools":[`...), w.list...), ']')
	if w.choice != nil {
		dst = translate.AppendMember(dst, "toolChoice", w.choice)
	}
	return append(dst, '}')
}

package chatonmessages

import (
	"regexp"
	"strings"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/jsonscan"
	"github.com/gatehouse-proxy/gatehouse/internal/translate"
)

// tools are the tools of a request and the choice among them.
type tools struct {
	names    *names
	cites    bool   // a tool of the provider may have the model cite
	list     []byte // the elements of tools
	choice   string // auto, any, tool or none; "" for the default
	name     []byte // of the one tool of a choice, quoted
	required bool   // the choice requires a tool
	single   bool   // no parallel calls

	// allowed has the names of the tools to which the choice limits the request, nil for no limit.
	// A name is true when its tool was found.
	allowed map[string]bool
}

// read reads tools, tool_choice and parallel_tool_calls. forced says that the choice may require a
// tool.
func (w *tools) read(body translate.Object, names *names, forced bool) error {
	w.names = names
	if err := w.readChoice(body); err != nil {
		return err
	}
	parallel, err := body.Bool("parallel_tool_calls")
	if err != nil {
		return err
	}
	w.single = body.Get("parallel_tool_calls") != nil && !parallel
	if err := body.Each("tools", translate.MaxTools, func(_ int, tool translate.Object) error { return w.add(tool) }); err != nil {
		return err
	}
	for name, found := range w.allowed {
		if !found {
			return translate.NoSuchTool(name, "tool_choice.allowed_tools.tools")
		}
	}
	switch {
	case len(w.list) == 0 && w.required:
		return translate.NoTools()
	case w.required && !forced:
		return apierror.New(apierror.UnsupportedParameter,
			`"tool_choice" cannot require a tool of this model; use "auto", and say in a message that the tool must be called`).WithParam("tool_choice")
	}
	return nil
}

// typedTool are the types of the tools that Anthropic defines: web_search_20250305.
var typedTool = regexp.MustCompile(`^[a-z_]+_20[0-9]{6}$`)

// add adds a tool: a function, or one that Anthropic defines, as it is.
func (w *tools) add(tool translate.Object) error {
	typ, err := tool.Type()
	if err != nil {
		return err
	}
	if typedTool.MatchString(typ) {
		if _, err := tool.RequiredText("name"); err != nil {
			return err
		}
		w.list, w.cites = translate.AppendObject(translate.AppendComma(w.list), tool), true
		return nil
	}
	o, name, err := translate.OpenFunction(tool)
	if err != nil {
		return err
	}
	cache, err := cacheOf(tool)
	if err != nil {
		return err
	}
	if w.allowed != nil {
		decoded, _ := jsonscan.String(name)
		if _, ok := w.allowed[decoded]; !ok {
			return nil
		}
		w.allowed[decoded] = true
	}
	return w.put(o, name, cache)
}

// put writes a function. strict is sent only if it is wanted: few schemas are strict enough.
func (w *tools) put(o translate.Object, name, cache []byte) error {
	description, err := o.Text("description")
	if err != nil {
		return err
	}
	strict, err := o.Bool("strict")
	if err != nil {
		return err
	}
	parameters, ok, err := o.Object("parameters")
	if err != nil {
		return err
	}
	out := append(translate.AppendComma(w.list), '{')
	out = translate.AppendMember(out, "name", w.names.allowed(name))
	if _, some := translate.Unquoted(description); some {
		out = translate.AppendMember(out, "description", description)
	}
	out = translate.AppendKey(out, "input_schema")
	switch {
	case !ok:
		out = append(out, `{"type":"object","properties":{}}`...)
	case parameters.Get("type") == nil:
		out = append(out, `{"type":"object"`...)
		out = append(translate.AppendOthers(out, parameters, "type"), '}')
	default:
		out = translate.AppendObject(out, parameters)
	}
	if strict {
		out = append(out, `,"strict":true`...)
	}
	w.list = append(appendCache(out, cache), '}')
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
		if err := o.Only("type", "function"); err != nil {
			return err
		}
		w.choice, w.required = "tool", true
		name, err := nameOf(o)
		w.name = w.names.allowed(name)
		return err
	case "allowed_tools":
		return w.readAllowed(o)
	}
	return translate.UnsupportedType(o, typ)
}

// nameOf returns the name of the function that a choice names, quoted.
func nameOf(outer translate.Object) ([]byte, error) {
	o, err := outer.RequiredObject("function")
	if err != nil {
		return []byte(`""`), err
	}
	if err := o.Only("name"); err != nil {
		return []byte(`""`), err
	}
	return o.RequiredText("name")
}

// setMode takes the mode of a choice as chat has it.
func (w *tools) setMode(mode []byte, required bool) {
	w.choice, w.required = strings.Trim(string(mode), `"`), required
	if required {
		w.choice = "any"
	}
}

// readAllowed reads the mode and the names of the tools that a choice allows.
func (w *tools) readAllowed(choice translate.Object) error {
	o, mode, required, err := translate.AllowedTools(choice)
	if err != nil {
		return err
	}
	w.setMode(mode, required)
	w.allowed = make(map[string]bool)
	return o.Each("tools", translate.MaxTools, func(_ int, tool translate.Object) error {
		if typ, err := tool.DecodedText("type"); err != nil || typ != "function" {
			return translate.UnsupportedType(tool, typ)
		}
		quoted, err := nameOf(tool)
		if err != nil {
			return err
		}
		name, _ := jsonscan.String(quoted)
		w.allowed[name] = false
		return nil
	})
}

// append appends the members that only a request with tools may have.
func (w *tools) append(dst []byte) []byte {
	if len(w.list) == 0 {
		return dst
	}
	dst = append(append(append(dst, `,"tools":[`...), w.list...), ']')
	choice := w.choice
	if choice == "" && w.single {
		choice = "auto" // what forbids parallel calls is a part of the choice
	}
	if choice == "" {
		return dst
	}
	dst = append(append(append(dst, `,"tool_choice":{"type":"`...), choice...), '"')
	if w.name != nil {
		dst = translate.AppendMember(dst, "name", w.name)
	}
	if w.single && choice != "none" {
		dst = append(dst, `,"disable_parallel_tool_use":true`...)
	}
	return append(dst, '}')
}

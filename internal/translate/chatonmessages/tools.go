package chatonmessages

import (
	"regexp"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/jsonscan"
	"github.com/gatehouse-proxy/gatehouse/internal/translate"
)

// tools are the tools of a request and the choice among them.
type tools struct {
	names  *names
	cites  bool   // a tool of the provider may have the model cite
	list   []byte // the elements of tools
	choice translate.ToolChoice
	single bool // no parallel calls
}

// read reads tools, tool_choice and parallel_tool_calls. forced says that the choice may require a
// tool.
func (w *tools) read(body translate.Reader, names *names, forced bool) {
	w.names = names
	w.choice = translate.ReadToolChoice(body)
	w.single = !body.Bool("parallel_tool_calls") && body.Get("parallel_tool_calls") != nil
	body.Each("tools", translate.MaxTools, func(_ int, tool translate.Reader) { w.add(tool) })
	body.Fail(w.choice.Check(len(w.list) > 0))
	if w.choice.Required() && !forced {
		body.Fail(apierror.New(apierror.UnsupportedParameter,
			`"tool_choice" cannot require a tool of this model; use "auto", and say in a message that the tool must be called`).WithParam("tool_choice"))
	}
}

// typedTool are the types of the tools that Anthropic defines: web_search_20250305.
var typedTool = regexp.MustCompile(`^[a-z_]+_20[0-9]{6}$`)

// add adds a tool: a function, or one that Anthropic defines, as it is.
func (w *tools) add(tool translate.Reader) {
	if typedTool.MatchString(translate.TypeOf(tool)) {
		tool.RequiredText("name")
		w.list, w.cites = translate.AppendObject(translate.AppendComma(w.list), tool), true
		return
	}
	function, name := translate.OpenFunction(tool)
	cache := cacheOf(tool)
	if decoded, _ := jsonscan.String(name); w.choice.Allows(decoded) {
		w.put(function, name, cache)
	}
}

// put writes a function. strict is sent only if it is wanted: few schemas are strict enough.
func (w *tools) put(o translate.Reader, name, cache []byte) {
	description, strict := translate.NonEmptyText(o, "description"), o.Bool("strict")
	parameters, ok := o.Object("parameters")
	out := append(translate.AppendComma(w.list), '{')
	out = translate.AppendMember(out, "name", w.names.allowed(name))
	if description != nil {
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
}

// append appends the members that only a request with tools may have.
func (w *tools) append(dst []byte) []byte {
	if len(w.list) == 0 {
		return dst
	}
	dst = append(append(append(dst, `,"tools":[`...), w.list...), ']')
	choice := w.choice.Mode
	switch {
	case w.choice.One != nil:
		choice = "tool"
	case w.choice.Required():
		choice = "any"
	case choice == "" && w.single:
		choice = "auto" // what forbids parallel calls is a part of the choice
	case choice == "":
		return dst
	}
	dst = append(append(append(dst, `,"tool_choice":{"type":"`...), choice...), '"')
	if w.choice.One != nil {
		dst = translate.AppendMember(dst, "name", w.names.allowed(w.choice.One))
	}
	if w.single && choice != "none" {
		dst = append(dst, `,"disable_parallel_tool_use":true`...)
	}
	return append(dst, '}')
}

package responsesonchat

import (
	"slices"

	"github.com/gatehouse-proxy/gatehouse/internal/translate"
	"github.com/gatehouse-proxy/gatehouse/internal/translate/conversation"
)

// toolFields are the fields of tools, by type, that a chat request can carry or that it does not
// need: every tool is loaded at once, and nobody checks an output.
var toolFields = map[string][]string{
	"function":    {"type", "name", "description", "parameters", "strict", "defer_loading", "output_schema"},
	"custom":      {"type", "name", "description", "format", "defer_loading"},
	"namespace":   {"type", "name", "description", "tools"},
	"tool_search": {"type", "description", "execution", "parameters"},
}

// tools are the tools of a request and the choice among them.
type tools struct {
	to      conversation.Builder
	drop    bool     // tools of other types are left out
	some    bool     // the request has tools
	caller  []byte   // the elements of tools as a response repeats them
	dropped []string // types of what was left out
	loaded  [][]byte // quoted names in chat of the tools of an input item

	names  toolNames
	choice toolChoice
}

// read reads tool_choice and tools.
func (t *tools) read(body translate.Reader) {
	t.choice.read(body, t.drop)
	body.Each("tools", translate.MaxTools, func(_ int, tool translate.Reader) {
		before := len(t.dropped)
		if t.add(tool, false); len(t.dropped) > before {
			return
		}
		t.caller = translate.AppendComma(t.caller)
		if translate.TypeOf(tool) == "function" { // SDKs expect all keys in a response
			t.caller = translate.AppendWithNull(t.caller, tool, "description", "parameters", "strict")
		} else {
			t.caller = translate.AppendWithNull(t.caller, tool)
		}
	})
}

// addLoaded adds the tools of an input item. A tool that was loaded before is not added again.
func (t *tools) addLoaded(item translate.Reader) {
	t.loaded = nil
	item.Each("tools", translate.MaxTools, func(_ int, tool translate.Reader) { t.add(tool, true) })
}

// add adds a tool, or the tools of a namespace.
func (t *tools) add(tool translate.Reader, loaded bool) {
	typ := translate.TypeOf(tool)
	known, ok := toolFields[typ]
	if !ok {
		t.leaveOut(tool, typ)
		return
	}
	tool.Only(known...)
	switch typ {
	case "namespace":
		t.addNamespace(tool, loaded)
	case "tool_search":
		t.addSearch(tool, loaded)
	default:
		t.addTool(tool, typ, nil, loaded)
	}
}

func (t *tools) leaveOut(tool translate.Reader, typ string) {
	if !t.drop {
		translate.RefuseType(tool, typ)
	}
	if typ = translate.Shorten(typ); !slices.Contains(t.dropped, typ) {
		t.dropped = append(t.dropped, typ)
	}
}

// addNamespace adds the tools of a namespace. Chat has none, so it becomes a part of their names.
func (t *tools) addNamespace(o translate.Reader, loaded bool) {
	namespace := o.RequiredText("name")
	o.Each("tools", translate.MaxTools, func(_ int, tool translate.Reader) {
		typ := translate.TypeOf(tool)
		if typ != "function" && typ != "custom" {
			t.leaveOut(tool, typ)
			return
		}
		tool.Only(toolFields[typ]...)
		t.addTool(tool, typ, namespace, loaded)
	})
}

// addSearch adds the search for tools that the caller runs. One that the provider would run is not
// needed: every tool is loaded at once.
func (t *tools) addSearch(o translate.Reader, loaded bool) {
	if o.DecodedText("execution") != "client" {
		return
	}
	o.Text("description")
	name, fresh := t.names.add(calledTool{kind: searchCall, name: searchName})
	if fresh || !loaded {
		t.put(functionTool(o, name))
	}
}

// functionTool returns a function, whose parameters are those of a tool. strict is sent only if the
// caller gave it: its default differs between the APIs.
func functionTool(o translate.Reader, name []byte) conversation.Tool {
	t := conversation.Tool{Name: name, Description: o.Get("description"), Strict: o.Get("strict"), Schema: "parameters", Own: o}
	if parameters, ok := o.Object("parameters"); ok {
		t.Parameters = translate.Written(parameters)
	}
	return t
}

func (t *tools) put(tool conversation.Tool) {
	t.some = true
	t.to.Tool(tool)
}

// addTool adds a function or a custom tool.
func (t *tools) addTool(tool translate.Reader, typ string, namespace []byte, loaded bool) {
	called := calledTool{kind: functionCall, namespace: namespace, name: tool.RequiredText("name")}
	if typ == "custom" {
		called.kind = customCall
	}
	name, fresh := t.names.add(called)
	if !t.choice.allows(typ, called) {
		return
	}
	if loaded {
		t.loaded = append(t.loaded, name)
	}
	if loaded && !fresh {
		return
	}
	if typ == "custom" {
		t.put(customTool(tool, name))
	} else {
		t.put(functionTool(tool, name))
	}
}

// end sets the choice among the tools that were read.
func (t *tools) end(body translate.Reader) {
	body.Fail(t.choice.check(t.some))
	body.Bool("parallel_tool_calls")
	t.to.Choose(t.choice.chosen(&t.names))
}

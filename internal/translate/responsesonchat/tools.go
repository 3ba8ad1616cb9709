package responsesonchat

import (
	"slices"

	"github.com/gatehouse-proxy/gatehouse/internal/jsonscan"
	"github.com/gatehouse-proxy/gatehouse/internal/translate"
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
	drop    bool     // tools of other types are left out
	chat    []byte   // the elements of tools as chat has them, empty for none
	caller  []byte   // the elements of tools as a response repeats them
	dropped []string // types of what was left out
	loaded  [][]byte // quoted names in chat of the tools of an input item

	names  toolNames
	choice toolChoice
}

// read reads tool_choice and tools.
func (t *tools) read(body translate.Object) error {
	if err := t.choice.read(body, t.drop); err != nil {
		return err
	}
	return body.Each("tools", translate.MaxTools, func(_ int, tool translate.Object) error {
		before := len(t.dropped)
		if err := t.add(tool, false); err != nil || len(t.dropped) > before {
			return err
		}
		t.caller = translate.AppendComma(t.caller)
		if typ, _ := tool.Type(); typ == "function" { // SDKs expect all keys in a response
			t.caller = translate.AppendWithNull(t.caller, tool, "description", "parameters", "strict")
		} else {
			t.caller = translate.AppendWithNull(t.caller, tool)
		}
		return nil
	})
}

// addLoaded adds the tools of an input item. A tool that was loaded before is not added again.
func (t *tools) addLoaded(item translate.Object) error {
	t.loaded = nil
	return item.Each("tools", translate.MaxTools, func(_ int, tool translate.Object) error { return t.add(tool, true) })
}

// add adds a tool, or the tools of a namespace.
func (t *tools) add(tool translate.Object, loaded bool) error {
	typ, err := tool.Type()
	if err != nil {
		return err
	}
	known, ok := toolFields[typ]
	if !ok {
		return t.leaveOut(tool, typ)
	}
	if err := tool.Only(known...); err != nil {
		return err
	}
	switch typ {
	case "namespace":
		return t.addNamespace(tool, loaded)
	case "tool_search":
		return t.addSearch(tool, loaded)
	}
	return t.addTool(tool, typ, nil, loaded)
}

func (t *tools) leaveOut(tool translate.Object, typ string) error {
	if !t.drop {
		return translate.UnsupportedType(tool, typ)
	}
	if typ = translate.Shorten(typ); !slices.Contains(t.dropped, typ) {
		t.dropped = append(t.dropped, typ)
	}
	return nil
}

// addNamespace adds the tools of a namespace. Chat has none, so it becomes a part of their names.
func (t *tools) addNamespace(o translate.Object, loaded bool) error {
	namespace, err := o.RequiredText("name")
	if err != nil {
		return err
	}
	return o.Each("tools", translate.MaxTools, func(_ int, tool translate.Object) error {
		typ, err := tool.Type()
		if err != nil {
			return err
		}
		if typ != "function" && typ != "custom" {
			return t.leaveOut(tool, typ)
		}
		if err := tool.Only(toolFields[typ]...); err != nil {
			return err
		}
		return t.addTool(tool, typ, namespace, loaded)
	})
}

// addSearch adds the search for tools that the caller runs. One that the provider would run is not
// needed: every tool is loaded at once.
func (t *tools) addSearch(o translate.Object, loaded bool) error {
	if execution, err := o.DecodedText("execution"); err != nil || execution != "client" {
		return err
	}
	if _, err := o.Text("description"); err != nil {
		return err
	}
	name, fresh := t.names.add(calledTool{kind: searchCall, name: searchName})
	if fresh || !loaded {
		t.begin(name)
		t.chat = translate.AppendPresent(t.chat, o, "description", "parameters")
		t.chat = append(t.chat, "}}"...)
	}
	return nil
}

// addTool adds a function or a custom tool. strict is sent only if the caller gave it: its default
// differs between the APIs.
func (t *tools) addTool(tool translate.Object, typ string, namespace []byte, loaded bool) error {
	called := calledTool{kind: functionCall, namespace: namespace}
	if typ == "custom" {
		called.kind = customCall
	}
	var err error
	if called.name, err = tool.RequiredText("name"); err != nil {
		return err
	}
	name, fresh := t.names.add(called)
	if !t.choice.allows(typ, called) {
		return nil
	}
	if loaded {
		t.loaded = append(t.loaded, name)
	}
	if loaded && !fresh {
		return nil
	}
	t.begin(name)
	if typ == "custom" {
		t.chat, err = appendCustomTool(t.chat, tool)
	} else {
		t.chat = translate.AppendPresent(t.chat, tool, "description", "parameters", "strict")
	}
	t.chat = append(t.chat, "}}"...)
	return err
}

func (t *tools) begin(name []byte) {
	t.chat = append(translate.AppendComma(t.chat), `{"type":"function","function":{`...)
	t.chat = translate.AppendMember(t.chat, "name", name)
}

// append appends the members that only a request with tools may have.
func (t *tools) append(dst []byte, body translate.Object) ([]byte, error) {
	if err := t.choice.check(len(t.chat) > 0); err != nil {
		return dst, err
	}
	if _, err := body.Bool("parallel_tool_calls"); err != nil {
		return dst, err
	}
	if len(t.chat) == 0 {
		return dst, nil
	}
	dst = append(dst, `,"tools":[`...)
	dst = append(append(dst, t.chat...), ']')
	dst = t.choice.append(dst, &t.names)
	return translate.AppendPresent(dst, body, "parallel_tool_calls"), nil
}

// decoded returns a quoted text as text.
func decoded(quoted []byte) string {
	s, _ := jsonscan.String(quoted)
	return s
}

package fromresponses

import (
	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/jsonscan"
	"github.com/gatehouse-proxy/gatehouse/internal/translate"
)

// tools are the tools of a request and the choice among them.
type tools struct {
	chat   []byte // the elements of tools as chat has them, empty for none
	caller []byte // the elements of tools as a response repeats them
	choice []byte // tool_choice as chat has it, nil for the default
	needed bool   // the choice requires a tool

	// allowed has the names of the tools to which the choice limits the request, nil for no limit.
	// A name is true when its tool was found.
	allowed map[string]bool
}

// readTools reads tools and tool_choice.
func readTools(body translate.Object) (t tools, err error) {
	if err := t.readChoice(body); err != nil {
		return t, err
	}
	err = body.Each("tools", translate.MaxTools, func(_ int, tool translate.Object) error { return t.add(tool) })
	if err != nil {
		return t, err
	}
	for name, found := range t.allowed {
		if !found {
			return t, apierror.New(apierror.InvalidValue, `"tool_choice" allows the tool %q, which is not in "tools"`,
				translate.Shorten(name)).WithParam("tool_choice.tools")
		}
	}
	if len(t.chat) == 0 && t.needed {
		return t, translate.NoTools()
	}
	return t, nil
}

// add adds a function. strict is sent only if the caller gave it: its default differs between the
// APIs.
func (t *tools) add(tool translate.Object) error {
	typ, err := tool.Type()
	if err != nil {
		return err
	}
	if typ != "function" {
		return translate.UnsupportedType(tool, typ)
	}
	if err := tool.Only("type", "name", "description", "parameters", "strict"); err != nil {
		return err
	}
	name, err := tool.RequiredText("name")
	if err != nil {
		return err
	}
	// SDKs expect all keys in a response.
	t.caller = translate.AppendWithNull(translate.AppendComma(t.caller), tool, "description", "parameters", "strict")
	if t.allowed != nil {
		decoded, _ := jsonscan.String(name)
		if _, ok := t.allowed[decoded]; !ok {
			return nil
		}
		t.allowed[decoded] = true
	}
	t.chat = append(translate.AppendComma(t.chat), `{"type":"function","function":{`...)
	t.chat = translate.AppendPresent(t.chat, tool, "name", "description", "parameters", "strict")
	t.chat = append(t.chat, "}}"...)
	return nil
}

// readChoice reads tool_choice: a mode, one function, or a mode and the functions that are allowed.
func (t *tools) readChoice(body translate.Object) error {
	value := body.Get("tool_choice")
	if value == nil {
		return nil
	}
	if value[0] == '"' {
		return t.readMode(body, "tool_choice")
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
		name, err := o.RequiredText("name")
		if err != nil {
			return err
		}
		t.needed = true
		t.choice = translate.AppendMember([]byte(`{"type":"function","function":{`), "name", name)
		t.choice = append(t.choice, "}}"...)
		return o.Only("type", "name")
	case "allowed_tools":
		if err := o.Only("type", "mode", "tools"); err != nil {
			return err
		}
		if err := t.readMode(o, "mode"); err != nil {
			return err
		}
		return t.readAllowed(o)
	}
	return translate.UnsupportedType(o, typ)
}

func (t *tools) readMode(o translate.Object, key string) (err error) {
	t.choice, t.needed, err = translate.ToolMode(o, key)
	return err
}

// readAllowed reads the names of the tools that a choice allows.
func (t *tools) readAllowed(o translate.Object) error {
	if o.Get("tools") == nil {
		return translate.Missing(o.Param("tools"))
	}
	t.allowed = make(map[string]bool)
	return o.Each("tools", translate.MaxTools, func(_ int, tool translate.Object) error {
		if typ, err := tool.DecodedText("type"); err != nil || typ != "function" {
			return translate.UnsupportedType(tool, typ)
		}
		if _, err := tool.RequiredText("name"); err != nil {
			return err
		}
		name, err := tool.DecodedText("name")
		t.allowed[name] = false
		return err
	})
}

// append appends the members that only a request with tools may have.
func (t *tools) append(dst []byte, body translate.Object) ([]byte, error) {
	if _, err := body.Bool("parallel_tool_calls"); err != nil {
		return dst, err
	}
	if len(t.chat) == 0 {
		return dst, nil
	}
	dst = append(dst, `,"tools":[`...)
	dst = append(append(dst, t.chat...), ']')
	if t.choice != nil {
		dst = translate.AppendMember(dst, "tool_choice", t.choice)
	}
	return translate.AppendPresent(dst, body, "parallel_tool_calls"), nil
}

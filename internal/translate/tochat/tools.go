package tochat

import (
	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/jsonscan"
	"github.com/gatehouse-proxy/gatehouse/internal/translate"
)

// readTools maps tools and tool_choice. It comes before anything is written,
// because allowed_tools leaves tools out.
func (t *translation) readTools() error {
	allowed, err := t.readChoice()
	if err != nil {
		return err
	}
	value := t.body.Get("tools")
	if value == nil {
		return t.needTools(allowed)
	}
	spans, err := translate.Elements(value, "tools", translate.MaxTools)
	if err != nil {
		return err
	}
	t.original.tools = []byte{'['}
	for i, span := range spans {
		tool, err := translate.Open(span.Value(value), translate.At("tools", i))
		if err != nil {
			return err
		}
		name, err := t.readTool(tool)
		if err != nil {
			return err
		}
		t.original.addTool(tool)
		if _, ok := allowed[name]; allowed != nil && !ok {
			continue
		}
		if allowed != nil {
			allowed[name] = true
		}
		t.addTool(tool)
	}
	t.original.tools = append(t.original.tools, ']')
	if t.tools != nil {
		t.tools = append(t.tools, ']')
	}
	return t.needTools(allowed)
}

// readTool checks a tool and returns its name.
func (t *translation) readTool(tool translate.Object) (string, error) {
	typ, err := tool.DecodedText("type")
	if err != nil {
		return "", err
	}
	switch typ {
	case "function":
	case "":
		return "", translate.Missing(tool.Param("type"))
	default:
		return "", translate.UnsupportedValue(tool.Param("type"), typ)
	}
	if err := tool.Only("type", "name", "description", "parameters", "strict"); err != nil {
		return "", err
	}
	if _, err := tool.RequiredText("name"); err != nil {
		return "", err
	}
	return tool.DecodedText("name")
}

// addTool appends a function as chat has it. `strict` is sent only if the
// caller said it: its defaults differ.
func (t *translation) addTool(tool translate.Object) {
	if t.tools == nil {
		t.tools = append(t.tools, '[')
	} else {
		t.tools = append(t.tools, ',')
	}
	t.tools = append(t.tools, `{"type":"function","function":{"name":`...)
	t.tools = append(t.tools, tool.Get("name")...)
	t.tools = translate.AppendPresent(t.tools, tool, "description", "parameters", "strict")
	t.tools = append(t.tools, "}}"...)
}

// readChoice maps tool_choice. Where it allows only some tools, it returns
// their names, each false.
func (t *translation) readChoice() (allowed map[string]bool, err error) {
	value := t.body.Get("tool_choice")
	if value == nil {
		return nil, nil
	}
	if value[0] == '"' {
		return nil, t.chooseMode(t.body, "tool_choice")
	}
	o, err := translate.Open(value, "tool_choice")
	if err != nil {
		return nil, err
	}
	typ, err := o.DecodedText("type")
	if err != nil {
		return nil, err
	}
	switch typ {
	case "function":
		name, err := o.RequiredText("name")
		if err != nil {
			return nil, err
		}
		t.choice = append(t.choice, `{"type":"function","function":{"name":`...)
		t.choice = append(t.choice, name...)
		t.choice = append(t.choice, "}}"...)
		return nil, o.Only("type", "name")
	case "allowed_tools":
		if err := o.Only("type", "mode", "tools"); err != nil {
			return nil, err
		}
		if err := t.chooseMode(o, "mode"); err != nil {
			return nil, err
		}
		return allowedNames(o)
	case "":
		return nil, translate.Missing("tool_choice.type")
	}
	return nil, translate.UnsupportedValue("tool_choice.type", typ)
}

// chooseMode takes none, auto or required from a member of o.
func (t *translation) chooseMode(o translate.Object, key string) error {
	mode, err := o.RequiredText(key)
	if err != nil {
		return err
	}
	switch string(mode) {
	case `"none"`, `"auto"`, `"required"`:
		t.choice = mode
		return nil
	}
	return translate.Invalid(o.Param(key), "none, auto or required")
}

func allowedNames(o translate.Object) (map[string]bool, error) {
	value, path := o.Get("tools"), o.Param("tools")
	if value == nil {
		return nil, translate.Missing(path)
	}
	spans, err := translate.Elements(value, path, translate.MaxTools)
	if err != nil {
		return nil, err
	}
	names := make(map[string]bool, len(spans))
	for i, span := range spans {
		tool, err := translate.Open(span.Value(value), translate.At(path, i))
		if err != nil {
			return nil, err
		}
		if typ, err := tool.DecodedText("type"); err != nil || typ != "function" {
			return nil, translate.UnsupportedValue(tool.Param("type"), typ)
		}
		name, err := tool.RequiredText("name")
		if err != nil {
			return nil, err
		}
		decoded, _ := jsonscan.String(name)
		names[decoded] = false
	}
	return names, nil
}

// needTools checks that the tools are there that tool_choice asks for.
func (t *translation) needTools(allowed map[string]bool) error {
	for name, found := range allowed {
		if !found {
			return apierror.New(apierror.InvalidValue, "tool_choice allows the tool %q, which is not among the tools", translate.Shorten(name)).WithParam("tool_choice.tools")
		}
	}
	if t.tools != nil {
		return nil
	}
	switch string(t.choice) {
	case "", `"none"`, `"auto"`: // hold of themselves
		return nil
	}
	return apierror.New(apierror.InvalidValue, "tool_choice asks for a tool, and there is none").WithParam("tool_choice")
}

// putTools writes what only a request with tools may have.
func (t *translation) putTools() error {
	value := t.body.Get("parallel_tool_calls")
	if _, err := t.body.Bool("parallel_tool_calls"); err != nil {
		return err
	}
	if t.tools == nil {
		return nil
	}
	t.put("tools", t.tools)
	if t.choice != nil {
		t.put("tool_choice", t.choice)
	}
	if value != nil {
		t.put("parallel_tool_calls", value)
	}
	return nil
}

package translate

import (
	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/jsonscan"
)

// maxTools bounds the tools of a request, several times what OpenAI takes.
const maxTools = 1024

// readTools maps tools and tool_choice. It comes before anything is written,
// because allowed_tools leaves tools out.
func (t *translation) readTools() error {
	allowed, err := t.readChoice()
	if err != nil {
		return err
	}
	value := t.body.get("tools")
	if value == nil {
		return t.needTools(allowed)
	}
	spans, err := elements(value, "tools", maxTools)
	if err != nil {
		return err
	}
	t.echo.tools = []byte{'['}
	for i, span := range spans {
		tool, err := open(span.Value(value), at("tools", i))
		if err != nil {
			return err
		}
		name, err := t.readTool(tool)
		if err != nil {
			return err
		}
		t.echo.addTool(tool)
		if _, ok := allowed[name]; allowed != nil && !ok {
			continue
		}
		if allowed != nil {
			allowed[name] = true
		}
		t.addTool(tool)
	}
	t.echo.tools = append(t.echo.tools, ']')
	if t.tools != nil {
		t.tools = append(t.tools, ']')
	}
	return t.needTools(allowed)
}

// readTool checks a tool and returns its name.
func (t *translation) readTool(tool object) (string, error) {
	typ, err := tool.word("type")
	if err != nil {
		return "", err
	}
	switch typ {
	case "function":
	case "":
		return "", missing(tool.param("type"))
	default:
		return "", unsupportedValue(tool.param("type"), typ)
	}
	if err := tool.only("type", "name", "description", "parameters", "strict"); err != nil {
		return "", err
	}
	if _, err := tool.need("name"); err != nil {
		return "", err
	}
	return tool.word("name")
}

// addTool appends a function as chat has it. `strict` is sent only if the
// caller said it: its defaults differ.
func (t *translation) addTool(tool object) {
	if t.tools == nil {
		t.tools = append(t.tools, '[')
	} else {
		t.tools = append(t.tools, ',')
	}
	t.tools = append(t.tools, `{"type":"function","function":{"name":`...)
	t.tools = append(t.tools, tool.get("name")...)
	t.tools = appendPresent(t.tools, tool, "description", "parameters", "strict")
	t.tools = append(t.tools, "}}"...)
}

// appendPresent appends those members of o that have a value.
func appendPresent(dst []byte, o object, keys ...string) []byte {
	for _, key := range keys {
		if value := o.get(key); value != nil {
			dst = append(dst, ',', '"')
			dst = append(dst, key...)
			dst = append(dst, '"', ':')
			dst = append(dst, value...)
		}
	}
	return dst
}

// readChoice maps tool_choice. Where it allows only some tools, it returns
// their names, each false.
func (t *translation) readChoice() (allowed map[string]bool, err error) {
	value := t.body.get("tool_choice")
	if value == nil {
		return nil, nil
	}
	if value[0] == '"' {
		return nil, t.chooseMode(t.body, "tool_choice")
	}
	o, err := open(value, "tool_choice")
	if err != nil {
		return nil, err
	}
	typ, err := o.word("type")
	if err != nil {
		return nil, err
	}
	switch typ {
	case "function":
		name, err := o.need("name")
		if err != nil {
			return nil, err
		}
		t.choice = append(t.choice, `{"type":"function","function":{"name":`...)
		t.choice = append(t.choice, name...)
		t.choice = append(t.choice, "}}"...)
		return nil, o.only("type", "name")
	case "allowed_tools":
		if err := o.only("type", "mode", "tools"); err != nil {
			return nil, err
		}
		if err := t.chooseMode(o, "mode"); err != nil {
			return nil, err
		}
		return allowedNames(o)
	case "":
		return nil, missing("tool_choice.type")
	}
	return nil, unsupportedValue("tool_choice.type", typ)
}

// chooseMode takes none, auto or required from a member of o.
func (t *translation) chooseMode(o object, key string) error {
	mode, err := o.need(key)
	if err != nil {
		return err
	}
	switch string(mode) {
	case `"none"`, `"auto"`, `"required"`:
		t.choice = mode
		return nil
	}
	return wrong(o.param(key), "none, auto or required")
}

func allowedNames(o object) (map[string]bool, error) {
	value, path := o.get("tools"), o.param("tools")
	if value == nil {
		return nil, missing(path)
	}
	spans, err := elements(value, path, maxTools)
	if err != nil {
		return nil, err
	}
	names := make(map[string]bool, len(spans))
	for i, span := range spans {
		tool, err := open(span.Value(value), at(path, i))
		if err != nil {
			return nil, err
		}
		if typ, err := tool.word("type"); err != nil || typ != "function" {
			return nil, unsupportedValue(tool.param("type"), typ)
		}
		name, err := tool.need("name")
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
			return apierror.New(apierror.InvalidValue, "tool_choice allows the tool %q, which is not among the tools", shown(name)).WithParam("tool_choice.tools")
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
	value := t.body.get("parallel_tool_calls")
	if _, err := t.body.flag("parallel_tool_calls"); err != nil {
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

package translate

import (
	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
)

// toolFields are the fields of a tool's own object, by the tool's type, which
// is also the name of that object's member.
var toolFields = map[string][]string{
	"function": {"name", "description", "parameters", "strict"},
	"custom":   {"name", "description", "format"},
}

// tools maps tools, tool_choice and parallel_tool_calls.
func (t *chatTranslation) tools() error {
	choice, forced, err := t.choice()
	if err != nil {
		return err
	}
	parallel := t.body.get("parallel_tool_calls")
	if _, err := t.body.flag("parallel_tool_calls"); err != nil {
		return err
	}
	some := false
	if value := t.body.get("tools"); value != nil {
		spans, err := elements(value, "tools", maxTools)
		if err != nil {
			return err
		}
		for i, span := range spans {
			if !some {
				t.out = append(t.out, `,"tools":`...)
				some = true
			}
			t.out = append(t.out, "[,"[min(i, 1)])
			if err := t.tool(span.Value(value), at("tools", i)); err != nil {
				return err
			}
		}
	}
	switch {
	case !some && forced:
		return apierror.New(apierror.InvalidValue, "tool_choice asks for a tool, and there is none").WithParam("tool_choice")
	case !some:
		return nil // without tools these hold of themselves
	}
	t.out = append(t.out, ']')
	if choice != nil {
		t.put("tool_choice", choice)
	}
	if parallel != nil {
		t.put("parallel_tool_calls", parallel)
	}
	return nil
}

// typed opens an object whose type names the member that has its content, and
// that member. cache_control is a hint for caches and not sent.
func typed(value []byte, path string) (typ string, inner object, err error) {
	outer, err := open(value, path)
	if err != nil {
		return "", inner, err
	}
	if typ, err = outer.word("type"); err != nil {
		return "", inner, err
	}
	if _, known := toolFields[typ]; !known {
		return "", inner, badType(outer, typ)
	}
	if err := outer.only("type", typ, "cache_control"); err != nil {
		return "", inner, err
	}
	content := outer.get(typ)
	if content == nil {
		return "", inner, missing(outer.param(typ))
	}
	inner, err = open(content, outer.param(typ))
	return typ, inner, err
}

// tool appends a tool as Responses has it: flat, with parameters, and with
// strict in any case, because its default there is true and here false.
func (t *chatTranslation) tool(value []byte, path string) error {
	typ, o, err := typed(value, path)
	if err != nil {
		return err
	}
	if err := o.only(toolFields[typ]...); err != nil {
		return err
	}
	name, err := o.need("name")
	if err != nil {
		return err
	}
	t.out = append(t.out, `{"type":"`...)
	t.out = append(t.out, typ...)
	t.out = append(t.out, `","name":`...)
	t.out = append(t.out, name...)
	t.out = appendPresent(t.out, o, "description", "parameters", "strict")
	if typ == "custom" {
		if err := t.toolFormat(o); err != nil {
			return err
		}
	} else {
		if o.get("parameters") == nil {
			t.put("parameters", []byte(`{"type":"object","properties":{}}`))
		}
		if o.get("strict") == nil {
			t.put("strict", []byte("false"))
		}
	}
	t.out = append(t.out, '}')
	return nil
}

// toolFormat maps what a custom tool takes: any text, or a grammar, which chat
// has one level deeper.
func (t *chatTranslation) toolFormat(tool object) error {
	value := tool.get("format")
	if value == nil {
		return nil
	}
	format, err := open(value, tool.param("format"))
	if err != nil {
		return err
	}
	typ, err := format.word("type")
	if err != nil {
		return err
	}
	switch typ {
	case "text":
		t.put("format", []byte(`{"type":"text"}`))
		return format.only("type")
	case "grammar":
	default:
		return badType(format, typ)
	}
	if err := format.only("type", "grammar"); err != nil {
		return err
	}
	if value = format.get("grammar"); value == nil {
		return missing(format.param("grammar"))
	}
	grammar, err := open(value, format.param("grammar"))
	if err != nil {
		return err
	}
	if err := grammar.only("definition", "syntax"); err != nil {
		return err
	}
	for _, key := range []string{"definition", "syntax"} {
		if _, err := grammar.need(key); err != nil {
			return err
		}
	}
	t.out = append(t.out, `,"format":{"type":"grammar"`...)
	t.out = appendPresent(t.out, grammar, "definition", "syntax")
	t.out = append(t.out, '}')
	return nil
}

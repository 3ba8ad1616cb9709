package toresponses

import (
	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/translate"
)

// toolFields are the fields of a tool's own object, by the tool's type, which
// is also the name of that object's member.
var toolFields = map[string][]string{
	"function": {"name", "description", "parameters", "strict"},
	"custom":   {"name", "description", "format"},
}

// tools maps tools, tool_choice and parallel_tool_calls.
func (t *translation) tools() error {
	choice, forced, err := t.choice()
	if err != nil {
		return err
	}
	parallel := t.body.Get("parallel_tool_calls")
	if _, err := t.body.Bool("parallel_tool_calls"); err != nil {
		return err
	}
	some := false
	if value := t.body.Get("tools"); value != nil {
		spans, err := translate.Elements(value, "tools", translate.MaxTools)
		if err != nil {
			return err
		}
		for i, span := range spans {
			if !some {
				t.out = append(t.out, `,"tools":`...)
				some = true
			}
			t.out = append(t.out, "[,"[min(i, 1)])
			if err := t.tool(span.Value(value), translate.At("tools", i)); err != nil {
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
func typed(value []byte, path string) (typ string, inner translate.Object, err error) {
	outer, err := translate.Open(value, path)
	if err != nil {
		return "", inner, err
	}
	if typ, err = outer.DecodedText("type"); err != nil {
		return "", inner, err
	}
	if _, known := toolFields[typ]; !known {
		return "", inner, translate.UnsupportedType(outer, typ)
	}
	if err := outer.Only("type", typ, "cache_control"); err != nil {
		return "", inner, err
	}
	content := outer.Get(typ)
	if content == nil {
		return "", inner, translate.Missing(outer.Param(typ))
	}
	inner, err = translate.Open(content, outer.Param(typ))
	return typ, inner, err
}

// tool appends a tool as Responses has it: flat, with parameters, and with
// strict in any case, because its default there is true and here false.
func (t *translation) tool(value []byte, path string) error {
	typ, o, err := typed(value, path)
	if err != nil {
		return err
	}
	if err := o.Only(toolFields[typ]...); err != nil {
		return err
	}
	name, err := o.RequiredText("name")
	if err != nil {
		return err
	}
	t.out = append(t.out, `{"type":"`...)
	t.out = append(t.out, typ...)
	t.out = append(t.out, `","name":`...)
	t.out = append(t.out, name...)
	t.out = translate.AppendPresent(t.out, o, "description", "parameters", "strict")
	if typ == "custom" {
		if err := t.toolFormat(o); err != nil {
			return err
		}
	} else {
		if o.Get("parameters") == nil {
			t.put("parameters", []byte(`{"type":"object","properties":{}}`))
		}
		if o.Get("strict") == nil {
			t.put("strict", []byte("false"))
		}
	}
	t.out = append(t.out, '}')
	return nil
}

// toolFormat maps what a custom tool takes: any text, or a grammar, which chat
// has one level deeper.
func (t *translation) toolFormat(tool translate.Object) error {
	value := tool.Get("format")
	if value == nil {
		return nil
	}
	format, err := translate.Open(value, tool.Param("format"))
	if err != nil {
		return err
	}
	typ, err := format.DecodedText("type")
	if err != nil {
		return err
	}
	switch typ {
	case "text":
		t.put("format", []byte(`{"type":"text"}`))
		return format.Only("type")
	case "grammar":
	default:
		return translate.UnsupportedType(format, typ)
	}
	if err := format.Only("type", "grammar"); err != nil {
		return err
	}
	if value = format.Get("grammar"); value == nil {
		return translate.Missing(format.Param("grammar"))
	}
	grammar, err := translate.Open(value, format.Param("grammar"))
	if err != nil {
		return err
	}
	if err := grammar.Only("definition", "syntax"); err != nil {
		return err
	}
	for _, key := range []string{"definition", "syntax"} {
		if _, err := grammar.RequiredText(key); err != nil {
			return err
		}
	}
	t.out = append(t.out, `,"format":{"type":"grammar"`...)
	t.out = translate.AppendPresent(t.out, grammar, "definition", "syntax")
	t.out = append(t.out, '}')
	return nil
}

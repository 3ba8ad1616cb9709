package responsesonchat

import (
	"github.com/gatehouse-proxy/gatehouse/internal/jsonscan"
	"github.com/gatehouse-proxy/gatehouse/internal/translate"
)

// A custom tool takes a text. In chat it is a function whose one parameter is this text.
const (
	inputParameter = "input"
	customSchema   = `{"type":"object","properties":{"input":{"type":"string"}},"required":["input"],"additionalProperties":false}`
	customNote     = `Pass the text for this tool as the string \"input\".`
)

// appendCustomTool appends the description and the parameters of a custom tool. Few providers can
// hold a model to a grammar, so the model reads it in the description.
func appendCustomTool(dst []byte, tool translate.Object) ([]byte, error) {
	description, err := tool.Text("description")
	if err != nil {
		return dst, err
	}
	dst = append(translate.AppendKey(dst, "description"), '"')
	if text, ok := translate.Unquoted(description); ok {
		dst = append(append(dst, text...), `\n\n`...)
	}
	dst = append(dst, customNote...)
	if dst, err = appendGrammar(dst, tool); err != nil {
		return dst, err
	}
	return translate.AppendMember(append(dst, '"'), "parameters", []byte(customSchema)), nil
}

func appendGrammar(dst []byte, tool translate.Object) ([]byte, error) {
	format, ok, err := tool.Object("format")
	if !ok || err != nil {
		return dst, err
	}
	typ, err := format.Type()
	if err != nil {
		return dst, err
	}
	switch typ {
	case "text":
		return dst, format.Only("type")
	case "grammar":
		if err := format.Only("type", "syntax", "definition"); err != nil {
			return dst, err
		}
		syntax, err := format.RequiredText("syntax")
		if err != nil {
			return dst, err
		}
		definition, err := format.RequiredText("definition")
		if err != nil {
			return dst, err
		}
		dst = append(dst, ` The text must match this grammar (`...)
		dst = append(append(dst, syntax[1:len(syntax)-1]...), `):\n`...)
		return append(dst, definition[1:len(definition)-1]...), nil
	}
	return dst, translate.UnsupportedType(format, typ)
}

// customArguments are the quoted arguments of a call of a custom tool with this quoted input.
func customArguments(input []byte) []byte {
	arguments := translate.AppendMember([]byte{'{'}, inputParameter, input)
	return jsonscan.AppendString(nil, string(append(arguments, '}')))
}

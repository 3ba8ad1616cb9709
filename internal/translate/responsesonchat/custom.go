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
func appendCustomTool(dst []byte, tool translate.Reader) []byte {
	description := tool.Text("description")
	dst = append(translate.AppendKey(dst, "description"), '"')
	if text, ok := translate.Unquoted(description); ok {
		dst = append(append(dst, text...), `\n\n`...)
	}
	dst = append(dst, customNote...)
	dst = append(appendGrammar(dst, tool), '"')
	return translate.AppendMember(dst, "parameters", []byte(customSchema))
}

func appendGrammar(dst []byte, tool translate.Reader) []byte {
	format, ok := tool.Object("format")
	if !ok {
		return dst
	}
	switch typ := translate.TypeOf(format); typ {
	case "text":
		format.Only("type")
	case "grammar":
		format.Only("type", "syntax", "definition")
		syntax, definition := format.RequiredText("syntax"), format.RequiredText("definition")
		dst = append(dst, ` The text must match this grammar (`...)
		dst = append(append(dst, syntax[1:len(syntax)-1]...), `):\n`...)
		dst = append(dst, definition[1:len(definition)-1]...)
	default:
		translate.RefuseType(format, typ)
	}
	return dst
}

// customArguments are the quoted arguments of a call of a custom tool with this quoted input.
func customArguments(input []byte) []byte {
	arguments := translate.AppendMember([]byte{'{'}, inputParameter, input)
	return jsonscan.AppendString(nil, string(append(arguments, '}')))
}

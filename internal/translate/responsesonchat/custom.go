package responsesonchat

import (
	"github.com/gatehouse-proxy/gatehouse/internal/jsonscan"
	"github.com/gatehouse-proxy/gatehouse/internal/translate"
	"github.com/gatehouse-proxy/gatehouse/internal/translate/conversation"
)

// A custom tool takes a text. In chat it is a function whose one parameter is this text.
const (
	inputParameter = "input"
	customSchema   = `{"type":"object","properties":{"input":{"type":"string"}},"required":["input"],"additionalProperties":false}`
	customNote     = `Pass the text for this tool as the string \"input\".`
)

// customTool returns the function that a custom tool becomes. Few providers can hold a model to a
// grammar, so the model reads it in the description.
func customTool(tool translate.Reader, name []byte) conversation.Tool {
	description := []byte{'"'}
	if text, ok := translate.Unquoted(tool.Text("description")); ok {
		description = append(append(description, text...), `\n\n`...)
	}
	description = append(appendGrammar(append(description, customNote...), tool), '"')
	return conversation.Tool{Name: name, Description: description, Parameters: []byte(customSchema), Own: tool}
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

// customArguments returns the quoted arguments of a call of a custom tool with this quoted input,
// and the object that they are.
func customArguments(input []byte) (quoted, object []byte) {
	object = append(translate.AppendMember([]byte{'{'}, inputParameter, input), '}')
	return jsonscan.AppendString(nil, string(object)), object
}

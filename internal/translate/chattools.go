package translate

import (
	"bytes"

	"github.com/gatehouse-proxy/gatehouse/internal/jsonscan"
)

// ToolCall is a call of the model in a message of a chat request.
type ToolCall struct {
	ID, Name []byte // quoted
	Input    []byte // an object
}

// ReadToolCall reads an element of tool_calls. Signatures of another provider (extra_content) and hints
// for caches may stand beside it.
func ReadToolCall(o Reader) (c ToolCall) {
	if typ := o.DecodedText("type"); typ != "" && typ != "function" {
		RefuseType(o, typ)
	}
	o.Only("id", "type", "index", "function", "extra_content", "cache_control")
	c.ID = o.RequiredText("id")
	f := o.RequiredObject("function", "name", "arguments", "parsed_arguments")
	c.Name, c.Input = f.RequiredText("name"), arguments(f)
	return c
}

// arguments returns the arguments of a call as an object. A call without arguments has an empty text
// in some chats.
func arguments(function Reader) []byte {
	text, _ := jsonscan.String(function.RequiredText("arguments"))
	input := bytes.TrimSpace([]byte(text))
	if len(input) == 0 {
		return []byte("{}")
	}
	if _, err := jsonscan.Lenient(input, nil); err != nil {
		function.Fail(Invalid(function.Param("arguments"), "the text of a JSON object"))
	}
	return input
}

// OpenFunction opens an element of tools that is a function, and returns its name, quoted.
func OpenFunction(tool Reader) (function Reader, name []byte) {
	if typ := TypeOf(tool); typ != "function" {
		RefuseType(tool, typ)
	}
	tool.Only("type", "function", "cache_control")
	function = tool.RequiredObject("function", "name", "description", "parameters", "strict")
	return function, function.RequiredText("name")
}

package translate

// ToolCall is a call of the model in a message of a chat request.
type ToolCall struct {
	ID, Name []byte // quoted
	Input    []byte // an object
}

// ReadToolCall reads an element of tool_calls. Signatures of another provider (extra_content) and hints
// for caches may stand beside it.
func ReadToolCall(o Object) (c ToolCall, err error) {
	typ, err := o.DecodedText("type")
	if err != nil {
		return c, err
	}
	if typ != "" && typ != "function" {
		return c, UnsupportedType(o, typ)
	}
	if err := o.Only("id", "type", "index", "function", "extra_content", "cache_control"); err != nil {
		return c, err
	}
	if c.ID, err = o.RequiredText("id"); err != nil {
		return c, err
	}
	f, err := o.RequiredObject("function")
	if err != nil {
		return c, err
	}
	if err := f.Only("name", "arguments", "parsed_arguments"); err != nil {
		return c, err
	}
	if c.Name, err = f.RequiredText("name"); err != nil {
		return c, err
	}
	c.Input, err = Arguments(f)
	return c, err
}

// OpenFunction opens an element of tools that is a function, and returns its name, quoted.
func OpenFunction(tool Object) (function Object, name []byte, err error) {
	typ, err := tool.Type()
	if err != nil {
		return function, nil, err
	}
	if typ != "function" {
		return function, nil, UnsupportedType(tool, typ)
	}
	if err := tool.Only("type", "function", "cache_control"); err != nil {
		return function, nil, err
	}
	if function, err = tool.RequiredObject("function"); err != nil {
		return function, nil, err
	}
	if err := function.Only("name", "description", "parameters", "strict"); err != nil {
		return function, nil, err
	}
	name, err = function.RequiredText("name")
	return function, name, err
}

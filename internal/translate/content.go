package translate

// ToolMode returns the mode of a tool_choice, which is the same in chat and in Responses: none,
// auto or required.
func ToolMode(o Reader, key string) string {
	o.RequiredText(key)
	mode := o.DecodedText(key)
	switch mode {
	case "none", "auto", "required":
	default:
		o.Fail(Invalid(o.Param(key), "none, auto or required"))
	}
	return mode
}

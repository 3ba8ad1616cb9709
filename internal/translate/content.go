package translate

// Both APIs have these values in the same shape.

// ToolMode returns the mode of a tool_choice as written: none, auto or required. Only required
// needs a tool.
func ToolMode(o Reader, key string) (mode []byte, required bool) {
	mode = o.RequiredText(key)
	switch string(mode) {
	case `"none"`, `"auto"`, `"required"`:
	default:
		o.Fail(Invalid(o.Param(key), "none, auto or required"))
	}
	return mode, string(mode) == `"required"`
}

// AppendAudio appends the part of a message that has audio.
func AppendAudio(dst []byte, part Reader) []byte {
	audio := part.RequiredObject("input_audio", "data", "format")
	audio.RequiredText("data")
	audio.RequiredText("format")
	dst = append(dst, `{"type":"input_audio","input_audio":`...)
	return append(AppendObject(dst, audio), '}')
}

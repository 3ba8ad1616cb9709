package translate

// Both APIs have these values in the same shape.

// ToolMode returns the mode of a tool_choice as written: none, auto or required. Only required
// needs a tool.
func ToolMode(o Object, key string) (mode []byte, required bool, err error) {
	if mode, err = o.RequiredText(key); err != nil {
		return nil, false, err
	}
	switch string(mode) {
	case `"none"`, `"auto"`:
		return mode, false, nil
	case `"required"`:
		return mode, true, nil
	}
	return nil, false, Invalid(o.Param(key), "none, auto or required")
}

// AppendAudio appends the part of a message that has audio.
func AppendAudio(dst []byte, part Object) ([]byte, error) {
	audio, err := part.RequiredObject("input_audio")
	if err != nil {
		return dst, err
	}
	if err := audio.Only("data", "format"); err != nil {
		return dst, err
	}
	for _, key := range []string{"data", "format"} {
		if _, err := audio.RequiredText(key); err != nil {
			return dst, err
		}
	}
	dst = append(dst, `{"type":"input_audio","input_audio":`...)
	dst = append(dst, audio.data...)
	return append(dst, '}'), nil
}

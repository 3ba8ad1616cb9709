package sse

// AppendData appends an event with data and no name.
func AppendData(dst []byte, data []byte) []byte {
	return append(appendLines(dst, "data: ", data), '\n')
}

// AppendComment appends a comment as its own block, which clients skip: a heartbeat.
func AppendComment(dst []byte, text string) []byte {
	return append(appendLines(dst, ": ", []byte(text)), '\n')
}

func appendLines(dst []byte, prefix string, text []byte) []byte {
	for {
		at := lineEnd(text, 0)
		dst = append(dst, prefix...)
		dst = append(dst, text[:at]...)
		dst = append(dst, '\n')
		if at == len(text) {
			return dst
		}
		if text[at] == '\r' && at+1 < len(text) && text[at+1] == '\n' {
			at++
		}
		text = text[at+1:]
	}
}

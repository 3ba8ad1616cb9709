package sse

// AppendComment appends a comment as its own block, which clients skip: a heartbeat. A line end in
// text, LF, CRLF or CR, begins another line of the comment.
func AppendComment(dst []byte, text string) []byte {
	rest := []byte(text)
	for {
		at := lineEnd(rest, 0)
		dst = append(dst, ": "...)
		dst = append(dst, rest[:at]...)
		dst = append(dst, '\n')
		if at == len(rest) {
			return append(dst, '\n')
		}
		if rest[at] == '\r' && at+1 < len(rest) && rest[at+1] == '\n' {
			at++
		}
		rest = rest[at+1:]
	}
}

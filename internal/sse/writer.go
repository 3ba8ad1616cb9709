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

// AppendWithData appends the event with other data: its other lines stay, in their order, and the
// data is behind them, in as many lines as it has.
func AppendWithData(dst []byte, e Event, data []byte) []byte {
	for rest := e.Raw; len(rest) > 0; {
		at := lineEnd(rest, 0)
		line := rest[:at]
		rest = rest[min(at+1, len(rest)):]
		if colon, _ := field(line); len(line) > 0 && string(line[:colon]) != "data" {
			dst = append(append(dst, line...), '\n')
		}
	}
	for {
		at := lineEnd(data, 0)
		dst = append(append(append(dst, "data: "...), data[:at]...), '\n')
		if at == len(data) {
			return append(dst, '\n')
		}
		if data[at] == '\r' && at+1 < len(data) && data[at+1] == '\n' {
			at++
		}
		data = data[at+1:]
	}
}

package handover

import (
	"bytes"
	"strconv"
)

var transferEncoding, upgrade, contentLength = []byte("transfer-encoding"), []byte("upgrade"), []byte("content-length")

// length returns the length of a request, -1 if it cannot be told.
func length(request []byte) int {
	head, _, ok := bytes.Cut(request, []byte("\r\n\r\n"))
	if !ok {
		return -1
	}
	body := 0
	for line := range bytes.SplitSeq(head, []byte("\r\n")) {
		name, value, _ := bytes.Cut(line, []byte(":"))
		switch {
		case bytes.EqualFold(name, transferEncoding), bytes.EqualFold(name, upgrade):
			return -1
		case bytes.EqualFold(name, contentLength):
			n, err := strconv.Atoi(string(bytes.TrimSpace(value)))
			if err != nil || n < 0 {
				return -1
			}
			body = n
		}
	}
	return len(head) + 4 + body
}

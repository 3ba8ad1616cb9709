package openai

import "bytes"

// IsPiece reports whether an event of a provider's stream carries a piece of the
// answer: JSON, and in a Responses stream an event whose name says that it is a
// delta. Chat chunks have no name; [DONE] is no JSON.
func IsPiece(name, data []byte) bool {
	return len(data) > 0 && data[0] == '{' && (len(name) == 0 || bytes.Contains(name, deltaInName))
}

var deltaInName = []byte("delta")

package openai

import "bytes"

// IsPiece reports whether an event of a provider's stream has a piece of the answer: it is JSON,
// and in a Responses stream its name is that of a delta. Chat chunks have no name; [DONE] is not
// JSON. Every event of a stream of pictures is one.
func IsPiece(name, data []byte) bool {
	return len(data) > 0 && data[0] == '{' && (len(name) == 0 || bytes.Contains(name, deltaInName) || bytes.HasPrefix(name, imagePrefix))
}

var (
	deltaInName = []byte("delta")
	imagePrefix = []byte("image_")
)

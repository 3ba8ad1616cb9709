package openai

import "bytes"

// IsPiece reports whether an event of a provider's stream carries a piece of the
// answer: JSON, and in a Responses stream an event whose name says that it is a
// delta. Chat chunks have no name; [DONE] is no JSON.
func IsPiece(name, data []byte) bool {
	return len(data) > 0 && data[0] == '{' && (len(name) == 0 || bytes.Contains(name, deltaInName))
}

var deltaInName = []byte("delta")

// AsksHourCache reports whether a request asks for the dearer kind of cache, which
// is kept for an hour ("cache_control": {"ttl": "1h"}). It may report true for a
// text of the same form. The usage of an answer does not say which kind it was.
func AsksHourCache(body []byte) bool { return bytes.Contains(body, hourTTL) }

var hourTTL = []byte(`"1h"`)

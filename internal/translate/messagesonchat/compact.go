package messagesonchat

import (
	"bytes"
	"encoding/json"
)

// compact returns valid JSON without white space between its tokens.
func compact(value []byte) string {
	var b bytes.Buffer
	_ = json.Compact(&b, value) // it fails only for invalid JSON
	return b.String()
}

package translate

import (
	"bytes"

	"github.com/gatehouse-proxy/gatehouse/internal/jsonscan"
)

// Input returns the arguments of a call, which are the text of an object in this member. A call
// without arguments has an empty text in some chats, and null in others.
func Input(function Reader, key string) []byte {
	text, _ := jsonscan.String(function.RequiredText(key))
	input := bytes.TrimSpace([]byte(text))
	if len(input) == 0 || string(input) == "null" {
		return []byte("{}")
	}
	if _, err := jsonscan.Lenient(input, nil); err != nil {
		function.Fail(Invalid(function.Param(key), "the text of a JSON object"))
	}
	return input
}

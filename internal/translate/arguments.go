package translate

import (
	"bytes"

	"github.com/gatehouse-proxy/gatehouse/internal/jsonscan"
)

// Arguments returns the arguments of a call as an object. A call without arguments has an empty text
// in some chats.
func Arguments(function Object) ([]byte, error) {
	quoted, err := function.RequiredText("arguments")
	if err != nil {
		return nil, err
	}
	text, _ := jsonscan.String(quoted)
	input := bytes.TrimSpace([]byte(text))
	if len(input) == 0 {
		return []byte("{}"), nil
	}
	if _, err := jsonscan.Lenient(input, nil); err != nil {
		return nil, Invalid(function.Param("arguments"), "the text of a JSON object")
	}
	return input, nil
}

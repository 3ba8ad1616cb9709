package params_test

import (
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/openai/params"
)

// What a function gets and gives may have names of Google's fields.
func TestOnlyFilesOfPartsAreFilesOfTheAccount(t *testing.T) {
	for text, refused := range map[string]bool{
		`{"contents":[{"parts":[{"fileData":{"fileUri":"gs://b/a"}}]}]}`:                                                         true,
		`{"contents":{"parts":[{"functionResponse":{"response":{"a":1},"parts":[{"file_data":{"file_uri":"files/a"}}]}}]}}`:      true,
		`{"contents":[{"parts":[{"functionCall":{"name":"open","args":{"file_uri":"src/main.go","in":[{"fileUri":"gs:"}]}}}]}]}`: false,
		`{"contents":[{"parts":[{"functionResponse":{"name":"open","response":{"fileUri":"src/main.go"}}}]}]}`:                   false,
	} {
		if _, err := params.GenerateReferences(strict(t, text)); (err != nil) != refused {
			t.Errorf("%s: %v", text, err)
		}
	}
}

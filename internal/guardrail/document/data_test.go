package document_test

import (
	"slices"
	"testing"
)

// In the result of a function that a caller of Gemini sends, and in the structured content of a tool, keys
// and numbers are read as well as strings, each as a text of its own.
func TestDataOfToolsIsReadWithKeysAndNumbers(t *testing.T) {
	const data = `{"ka":["s",5,-1.5e3,true,null,{"kb":"{\"x\":1}"}],"text":{}}`
	for body, answer := range map[string]bool{
		`{"contents":[{"parts":[{"functionResponse":{"response":` + data + `}}]}]}`:  false,
		`{"contents":[{"parts":[{"function_response":{"response":` + data + `}}]}]}`: false,
		`{"result":{"content":` + data + `}}`:                                        false,
		`{"result":{"structuredContent":` + data + `}}`:                              true,
	} {
		want := []string{"ka", "s", "5", "-1.5e3", "kb", `{"x":1}`, "text"}
		if got := texts(t, body, answer, false); !slices.Equal(got, want) {
			t.Errorf("%s: read %q", body, got)
		}
	}
	if got := texts(t, `{"result":{"structuredContent":7}}`, true, false); !slices.Equal(got, []string{"7"}) {
		t.Errorf("a number alone: %q", got)
	}
	if got := texts(t, `{"result":{"content":[{"type":"text","text":"s","n":7}]}}`, true, false); !slices.Equal(got, []string{"text", "s"}) {
		t.Errorf("content of a result: %q", got)
	}
}

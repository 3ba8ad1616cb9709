package openai_test

import (
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/openai"
)

func TestOnlyPiecesOfAnAnswerCount(t *testing.T) {
	for _, c := range []struct {
		name, data string
		want       bool
	}{
		{"", `{"choices":[]}`, true},
		{"", "[DONE]", false},
		{"", "", false},
		{"response.output_text.delta", `{"delta":"x"}`, true},
		{"response.completed", `{"response":{}}`, false},
		{"response.output_text.delta", "", false},
	} {
		if got := openai.IsPiece([]byte(c.name), []byte(c.data)); got != c.want {
			t.Errorf("%q %q: %v", c.name, c.data, got)
		}
	}
}

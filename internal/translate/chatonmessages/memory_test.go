package chatonmessages

import (
	"strings"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/openai"
	"github.com/gatehouse-proxy/gatehouse/internal/translate"
)

// What a block has at its start waits for the block's end, so a provider must not send it without
// end.
func TestTooMuchThatWaitsFailsTheStream(t *testing.T) {
	long := strings.Repeat("a", 1<<20)
	for name, event := range map[string]string{
		"input":    `{"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":"t","name":"f","input":{"a":"` + long + `"}}}`,
		"name":     `{"type":"content_block_start","index":0,"content_block":{"type":"tool_use","name":"` + long + `"}}`,
		"citation": `{"type":"content_block_delta","index":0,"delta":{"type":"citations_delta","citation":{"url":"` + long + `"}}}`,
	} {
		call := openai.Call{Model: "m", Provider: "p"}
		s := NewStream(&Original{}, call, openai.NewChatStream(call))
		for range translate.MaxText>>20 + 1 {
			s.Data(nil, openai.NewEvent(nil, []byte(event)))
		}
		if err := s.Summary().Err; err == nil || !strings.Contains(err.Message, translate.TooMuchText) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

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

func TestTheHourCacheIsAskedForByItsTTL(t *testing.T) {
	for body, want := range map[string]bool{
		`{"messages":[{"content":[{"type":"text","text":"x","cache_control":{"type":"ephemeral","ttl":"1h"}}]}]}`: true,
		`{"messages":[{"content":[{"type":"text","text":"x","cache_control":{"type":"ephemeral","ttl":"5m"}}]}]}`: false,
		`{"messages":[{"content":"1h"}]}`:  true, // dearer than it is, never cheaper
		`{"messages":[{"content":"11h"}]}`: false,
	} {
		if got := openai.AsksHourCache([]byte(body)); got != want {
			t.Errorf("%s: %v", body, got)
		}
	}
}

package messagesonchat

import (
	"strings"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/openai"
	"github.com/gatehouse-proxy/gatehouse/internal/translate"
)

func TestAStreamReleasesTheMemoryOfALongChunk(t *testing.T) {
	s := NewStream(&Original{}, openai.Call{Model: "m", Provider: "p"}, "msg_1")
	chunk := `{"choices":[{"index":0,"delta":{"content":"` + strings.Repeat("hi", translate.MaxScratch) + `"}}]}`
	out := s.Data(nil, openai.NewEvent(nil, []byte(chunk)))
	if err := s.chat.Summary().Err; err != nil || !strings.Contains(string(out), `"text":"hihi`) {
		t.Fatalf("%v, %.200s", err, out)
	}
	if n := cap(s.message.blocks[0].waiting); n > translate.MaxScratch {
		t.Errorf("the open block keeps %d bytes", n)
	}
	if s.message.events.out != nil {
		t.Error("the stream keeps the buffer of its caller")
	}
}

package messagesonchat

import (
	"strings"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/openai"
	"github.com/gatehouse-proxy/gatehouse/internal/testkit/jsontest"
	"github.com/gatehouse-proxy/gatehouse/internal/translate"
	"github.com/gatehouse-proxy/gatehouse/internal/translate/chunks"
)

func TestAStreamReleasesTheMemoryOfALongChunk(t *testing.T) {
	b := newBuilder(openai.Call{Model: "m", Provider: "p"}, &Original{}, "msg_1")
	b.events.on = true
	s := chunks.NewStream(&b.call, b, writer{b}, b.options())
	chunk := `{"choices":[{"index":0,"delta":{"content":"` + strings.Repeat("hi", translate.MaxScratch) + `"}}]}`
	out := s.Data(nil, openai.NewEvent(nil, []byte(chunk)))
	if err := s.Summary().Err; err != nil || !strings.HasPrefix(jsontest.String(t, out, "text"), "hihi") {
		t.Fatalf("%v, %.200s", err, out)
	}
	if n := cap(b.blocks[0].waiting); n > translate.MaxScratch {
		t.Errorf("the open block keeps %d bytes", n)
	}
	if b.events.out != nil {
		t.Error("the stream keeps the buffer of its caller")
	}
}

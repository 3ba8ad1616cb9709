package chatonresponses

import (
	"strings"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/openai"
	"github.com/gatehouse-proxy/gatehouse/internal/testkit/jsontest"
	"github.com/gatehouse-proxy/gatehouse/internal/translate"
)

func TestAStreamReleasesTheMemoryOfALongEvent(t *testing.T) {
	call := openai.Call{Model: "m", Provider: "p"}
	s := NewStream(&Original{logprobs: true}, call, openai.NewChatStream(call))
	token := `{"token":"` + strings.Repeat("a", 100) + `","logprob":-1}`
	tokens := strings.Repeat(token+",", 1<<10) + token
	extra := ""
	for i := range 300 {
		extra += `,"x` + strings.Repeat("y", i) + `":1`
	}
	event := `{"type":"response.output_text.delta","output_index":0,"content_index":0,"delta":"` + strings.Repeat("hi", 1<<14) + `","logprobs":[` + tokens + `]` + extra + `}`
	out := s.Data(nil, openai.NewEvent([]byte("response.output_text.delta"), []byte(event)))
	if err := s.Summary().Err; err != nil || !strings.HasPrefix(jsontest.String(t, out, "content"), "hihi") {
		t.Fatalf("%v, %.200s", err, out)
	}
	if n := cap(s.reader.tokens); n > translate.MaxScratch {
		t.Errorf("the log probabilities keep %d bytes", n)
	}
}

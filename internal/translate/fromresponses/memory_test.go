package fromresponses

import (
	"strings"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/openai"
	"github.com/gatehouse-proxy/gatehouse/internal/translate"
)

type fixedIDs struct{}

func (fixedIDs) NewID(prefix string) string { return prefix + "_1" }
func (fixedIDs) Unix() int64                { return 1 }

func TestAStreamReleasesTheMemoryOfALongChunk(t *testing.T) {
	s := NewStream(&Original{logprobs: true}, openai.Call{Model: "m", Provider: "p"}, fixedIDs{})
	token := `{"token":"` + strings.Repeat("a", 100) + `","logprob":-1,"bytes":null,"top_logprobs":[]}`
	tokens := strings.Repeat(token+",", 1<<10) + token
	extra := ""
	for i := range 300 {
		extra += `,"x` + strings.Repeat("y", i) + `":1`
	}
	chunk := `{"choices":[{"index":0,"delta":{"content":"hi"` + extra + `},"logprobs":{"content":[` + tokens + `]}}]}`
	out := s.Data(nil, openai.NewEvent(nil, []byte(chunk)))
	if err := s.chat.Summary().Err; err != nil || !strings.Contains(string(out), `"delta":"hi"`) {
		t.Fatalf("%v, %.200s", err, out)
	}
	if n := cap(s.reader.tokens); n > translate.MaxScratch {
		t.Errorf("the log probabilities keep %d bytes", n)
	}
	for i, members := range s.reader.walker.members {
		if n := cap(members); n > translate.MaxMembers {
			t.Errorf("the walk of level %d keeps %d members", i, n)
		}
	}
	if n := cap(s.reader.walker.spans); n > translate.MaxMembers {
		t.Errorf("the walk of a list keeps %d elements", n)
	}
	if s.reader.events.out != nil {
		t.Error("the stream keeps the buffer of its caller")
	}
}

package responsesonchat

import (
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/openai"
)

type fixedIDs struct{}

func (fixedIDs) NewID(prefix string) string { return prefix + "_1" }
func (fixedIDs) Unix() int64                { return 1 }

func TestAStreamReleasesTheBufferOfItsCaller(t *testing.T) {
	s := NewStream(new(Original), openai.Call{Model: "m", Provider: "p"}, fixedIDs{})
	out := s.Data(nil, openai.NewEvent(nil, []byte(`{"choices":[{"index":0,"delta":{"content":"hi"}}]}`)))
	if len(out) == 0 || s.reader.events.out != nil {
		t.Errorf("the stream keeps the buffer, of %d bytes", len(out))
	}
}

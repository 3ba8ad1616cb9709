package gemini

import (
	"io"
	"strings"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/modelcall/adapter"
	"github.com/gatehouse-proxy/gatehouse/internal/translate/messagesoncloud"
)

// Who reads an answer has memory for it first: an adapter must not have read it before.
func TestAnAnswerThatIsGivenAsItCameIsNotKept(t *testing.T) {
	for name, a := range map[string]adapter.Answer{"gemini": geminiAnswer{}, "claude": messagesoncloud.Vertex.Answer(nil)} {
		const size = 1 << 20
		body := strings.NewReader(strings.Repeat("x", size))
		got := (&adapter.Adapted{From: a}).Answer(body, false, nil)
		if n, err := io.ReadFull(got, make([]byte, 10)); n != 10 || err != nil || body.Len() < size-4096 {
			t.Errorf("%s: %d bytes, %v; %d are left", name, n, err, body.Len())
		}
	}
}

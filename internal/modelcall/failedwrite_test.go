package modelcall

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/modelcall/wire"
)

// lateReader is the client's side of an HTTP/2 stream that was reset: a Write fails, and another
// goroutine still reads its bytes.
type lateReader struct {
	http.ResponseWriter
	given []byte
}

func (w *lateReader) Write(p []byte) (int, error) {
	w.given = p
	return 0, errors.New("stream closed")
}

// The bytes that a write has failed with stay what they are: another caller's answer would reach the
// client of the first.
func TestABufferIsNotUsedAgainAfterAFailedWrite(t *testing.T) {
	const own, other = "OWN-ANSWER", "OTHER-ANSWER"
	first := func(text string) string { return strings.Replace(firstWord, "Hel", text, 1) }
	for name, c := range map[string]struct {
		answer func(text string) (*http.Response, error)
		body   string
	}{
		"whole": {func(text string) (*http.Response, error) {
			return answering(200, strings.Replace(chatAnswerBody, "Hello.", text, 1))(nil)
		}, hello},
		"stream": {func(text string) (*http.Response, error) {
			return eventsOf(first(text) + lastWord + doneWord)(nil)
		}, streamed},
		"stream in two": {func(text string) (*http.Response, error) {
			return eventStream(io.NopCloser(io.MultiReader(strings.NewReader(first(text)), strings.NewReader(lastWord+doneWord))))(nil)
		}, streamed},
	} {
		rigOf := func(text string) *rig {
			return newRig(t, roundTrip(func(*http.Request) (*http.Response, error) { return c.answer(text) }))
		}
		mine, others := rigOf(own), rigOf(other)
		for range 20 {
			w := &lateReader{ResponseWriter: httptest.NewRecorder()}
			_ = mine.serveTo(t, w, post(strings.NewReader(c.body), int64(len(c.body))), wire.Chat)
			before := string(w.given)
			for range 3 {
				if _, refusal := others.serve(t, wire.Chat, c.body); refusal != nil {
					t.Fatal(refusal)
				}
			}
			if got := string(w.given); before == "" || got != before {
				t.Fatalf("%s: what was written became %q", name, got)
			}
		}
	}
}

package modelcall

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/modelcall/wire"
)

// An answer that ends before any of it was sent has a length, so that it needs no chunks. One whose
// end was not known has none, and neither has one that failed.
func TestAStreamHasALengthIfItsEndIsKnownFromTheStart(t *testing.T) {
	for name, c := range map[string]struct {
		events io.Reader
		known  bool
	}{
		"at once":   {strings.NewReader(firstWord + lastWord + doneWord), true},
		"in two":    {io.MultiReader(strings.NewReader(firstWord), strings.NewReader(lastWord+doneWord)), false},
		"broken":    {strings.NewReader(firstWord), false},
		"a failure": {strings.NewReader(firstWord + `data: {"error":{"message":"overloaded"}}` + "\n\n"), false},
	} {
		r := newRig(t, eventStream(io.NopCloser(c.events)))
		w, refusal := r.serve(t, wire.Chat, streamed)
		want := ""
		if c.known {
			want = strconv.Itoa(w.Body.Len())
		}
		if got := w.Header().Get("Content-Length"); refusal != nil || got != want {
			t.Errorf("%s: %v, the length is %q, want %q", name, refusal, got, want)
		}
	}
}

// An answer names what the provider that gave it did not get, and not what another one lacked.
func TestAStreamNamesWhatItsLastAttemptLeftOut(t *testing.T) {
	w := httptest.NewRecorder()
	e := newEventWriter(w, &Timeouts{Commit: time.Hour, Heartbeat: time.Hour}, time.Now, wire.Heartbeat{}, func(http.Header) {})
	defer e.stop()
	for _, fields := range [][]string{{"seed"}, {"top_a", "top_k"}} {
		e.name(fields)
	}
	if err := e.send([]byte("data: x\n\n")); err != nil || w.Header().Get(leftOutHeader) != "top_a, top_k" {
		t.Errorf("%v, it names %q", err, w.Header().Get(leftOutHeader))
	}
}

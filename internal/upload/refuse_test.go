package upload

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/watchdog"
)

func TestARefusalIsSentBeforeItsUploadEnds(t *testing.T) {
	for _, c := range []struct {
		name     string
		length   int64
		change   func(*http.Request)
		deadline bool
		closes   bool
	}{
		{"no body", 0, func(*http.Request) {}, false, false},
		{"small", 1000, func(*http.Request) {}, true, false},
		{"large", firstRead + 1, func(*http.Request) {}, true, true},
		{"of unknown length", -1, func(*http.Request) {}, true, true},
		{"held back", 1000, func(r *http.Request) { r.Header.Set("Expect", "100-continue") }, true, true},
		{"over HTTP/2", -1, func(r *http.Request) { r.ProtoMajor = 2 }, true, false},
	} {
		w, r := &deadlines{ResponseWriter: httptest.NewRecorder()}, post(strings.NewReader(""), c.length)
		c.change(r)
		now := time.Unix(1000, 0)
		PrepareRefusal(w, r, now)
		if got := len(w.set) == 1 && w.set[0].Equal(now.Add(drainTime)); got != c.deadline {
			t.Errorf("%s: deadlines %v", c.name, w.set)
		}
		if got := w.Header().Get("Connection") == "close"; got != c.closes {
			t.Errorf("%s: the connection closes: %v", c.name, got)
		}
	}
}

func TestTheRestOfARefusedUploadIsReadWithinBounds(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(*http.Request)
		size   int64
		read   int64
	}{
		{"to its end", func(*http.Request) {}, 1 << 20, 1 << 20},
		{"not without end", func(*http.Request) {}, drainBytes + 1<<20, drainBytes},
		{"not if it is held back", func(r *http.Request) { r.Header.Set("Expect", "100-continue") }, 1 << 20, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			source := &endless{}
			r := post(&bounded{source, c.size}, -1)
			c.change(r)
			w := &deadlines{ResponseWriter: httptest.NewRecorder()}
			u := New(&Config{Memory: unlimited(), Now: time.Now}, w, r, new(watchdog.Timer))
			u.Drain()
			if source.read != c.read || w.flushed != (c.read > 0) {
				t.Errorf("%d bytes read, flushed %v", source.read, w.flushed)
			}
			if ended := len(w.set) == 2 && w.set[1].IsZero(); ended != (c.read == c.size) {
				t.Errorf("deadlines %v", w.set)
			}
		})
	}
}

// bounded ends after so many bytes and asks for no more than are left.
type bounded struct {
	from *endless
	left int64
}

func (b *bounded) Read(p []byte) (int, error) {
	if b.left == 0 {
		return 0, io.EOF
	}
	n, err := b.from.Read(p[:min(int64(len(p)), b.left)])
	b.left -= int64(n)
	return n, err
}

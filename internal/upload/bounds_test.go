package upload

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/watchdog"
)

func TestTheDocumentedBounds(t *testing.T) {
	for name, pair := range map[string][2]int64{
		"a body": {MaxBody, 33554432}, "the largest limit": {MaxMaxBody, 268435456}, "the least memory": {MinMemory, 67108864},
		"the first read": {firstRead, 262144}, "a form in a file": {spoolAbove, 8388608}, "all of them": {MaxSpooled, 1073741824}, "what is thrown away": {drainBytes, 67108864}, "for so long": {int64(drainTime), int64(5 * time.Second)},
	} {
		if pair[0] != pair[1] {
			t.Errorf("%s: %d, want %d", name, pair[0], pair[1])
		}
	}
}

func TestBuffersHaveSizesOfTwo(t *testing.T) {
	for capacity, want := range map[int]int{
		1: 4096, 4095: 4096, 4096: 4096, 4097: 8192, 8192: 8192, 8193: 16384, 1 << 20: 1 << 20, 16<<20 - 1: 16 << 20, 16 << 20: 16 << 20, 16<<20 + 1: 16<<20 + 1,
	} {
		if got := bufferSize(capacity); got != want {
			t.Errorf("%d: %d, want %d", capacity, got, want)
		}
		for range 2 { // new, and perhaps from the pool
			b := takeBuffer(capacity)
			if len(b) != 0 || cap(b) != want {
				t.Errorf("%d: a buffer of %d in %d", capacity, len(b), cap(b))
			}
			giveBuffer(b[:cap(b)])
		}
	}
	for _, odd := range []int{0, 100, 2048, 5000, 32 << 20} { // from elsewhere: it is not kept
		giveBuffer(make([]byte, odd))
	}
	for i := range pools {
		if b, ok := pools[i].Get().(*[]byte); ok && cap(*b) != 4096<<i {
			t.Errorf("a buffer of %d is kept with those of %d", cap(*b), 4096<<i)
		}
	}
}

// The last growth is to what the body has, or may have, and one byte more.
func TestABufferGrowsFourfold(t *testing.T) {
	for _, c := range []struct {
		full             int
		announced, limit int64
		want             int
	}{
		{4 << 10, -1, 32 << 20, 16 << 10}, {1 << 20, -1, 32 << 20, 4 << 20}, {4 << 20, -1, 32 << 20, 32<<20 + 1}, {3 << 20, -1, 32 << 20, 12 << 20},
		{256 << 10, 30 << 20, 32 << 20, 1 << 20}, {1 << 20, 3 << 20, 32 << 20, 3<<20 + 1}, {100, 100, 1000, 101}, {100, 99, 1000, 400}, {100, 799, 1000, 800}, {100, 801, 1000, 400},
	} {
		if got := nextSize(c.full, c.announced, c.limit); got != c.want {
			t.Errorf("after %d of %d, at most %d: %d, want %d", c.full, c.announced, c.limit, got, c.want)
		}
	}
}

func TestABodyIsSmallAndComing(t *testing.T) {
	for length, want := range map[int64]bool{-1: false, 0: false, 1: true, firstRead: true, firstRead + 1: false} {
		if got := newUpload(unlimited(), post(strings.NewReader(""), length)).SmallAndComing(); got != want {
			t.Errorf("%d bytes: %t", length, got)
		}
	}
	r := post(strings.NewReader("x"), 1)
	r.Header.Set("Expect", "100-continue")
	if newUpload(unlimited(), r).SmallAndComing() {
		t.Error("a body that is held back is coming")
	}
}

func TestARefusalClosesNoConnectionWithASmallBody(t *testing.T) {
	for length, closes := range map[int64]bool{1: false, firstRead: false, firstRead + 1: true, -1: true} {
		w := &deadlines{ResponseWriter: httptest.NewRecorder()}
		PrepareRefusal(w, post(strings.NewReader(""), length), time.Now())
		if got := w.Header().Get("Connection") == "close"; got != closes || len(w.set) != 1 {
			t.Errorf("%d bytes: it closes: %t, deadlines %v", length, got, w.set)
		}
	}
}

// stubborn cannot flush, or set a deadline.
type stubborn struct {
	http.ResponseWriter
	flush, deadline error
}

func (s stubborn) FlushError() error                 { return s.flush }
func (s stubborn) SetReadDeadline(_ time.Time) error { return s.deadline }

func TestWhatCannotBeDrainedIsLeft(t *testing.T) {
	failed := errors.New("not supported")
	for name, c := range map[string]struct {
		w      http.ResponseWriter
		length int64
		read   int64
	}{
		"a body":        {stubborn{httptest.NewRecorder(), nil, nil}, -1, 1000},
		"no body":       {stubborn{httptest.NewRecorder(), nil, nil}, 0, 0},
		"no flush":      {stubborn{httptest.NewRecorder(), failed, nil}, -1, 0},
		"no deadline":   {stubborn{httptest.NewRecorder(), nil, failed}, -1, 0},
		"neither works": {stubborn{httptest.NewRecorder(), failed, failed}, -1, 0},
	} {
		source := &endless{}
		u := New(&Config{Memory: unlimited(), Now: time.Now}, c.w, post(&bounded{source, 1000}, c.length), new(watchdog.Timer))
		if u.Drain(); source.read != c.read {
			t.Errorf("%s: %d bytes were read", name, source.read)
		}
	}
	w := &deadlines{ResponseWriter: httptest.NewRecorder()}
	u := New(&Config{Memory: unlimited(), Now: time.Now}, w, post(strings.NewReader("x"), -1), new(watchdog.Timer))
	defer u.Close()
	if _, err := u.Read(10); err != nil {
		t.Fatal(err)
	}
	if u.Drain(); w.flushed {
		t.Error("a body that was read is drained")
	}
}

// A server that cannot end a read sets no deadline afterwards either.
func TestAnInterruptThatFailsIsNone(t *testing.T) {
	w := &refusing{ResponseWriter: httptest.NewRecorder()}
	u := New(&Config{Memory: unlimited(), Timeout: time.Minute, Now: time.Now}, w, post(strings.NewReader(""), -1), new(watchdog.Timer))
	u.beginReading()
	u.Interrupt()
	if u.endReading(); w.asked != 1 {
		t.Errorf("%d deadlines were set", w.asked)
	}
}

type refusing struct {
	http.ResponseWriter
	asked int
}

func (r *refusing) SetReadDeadline(time.Time) error { r.asked++; return http.ErrNotSupported }

func TestEachByteHeldIsCountedOnce(t *testing.T) {
	m := unlimited()
	u := newUpload(m, post(io.LimitReader(&endless{}, 10_000), -1))
	if _, err := u.Read(MaxBody); err != nil || m.Used() != int64(cap(u.buffer)) {
		t.Errorf("%d bytes are taken for a buffer of %d, %v", m.Used(), cap(u.buffer), err)
	}
	before := m.Used()
	if err := u.Reserve(500); err != nil || m.Used() != before+500 {
		t.Errorf("%d bytes are taken, %d before, %v", m.Used(), before, err)
	}
	u.Free(100)
	if m.Used() != 100 {
		t.Errorf("%d bytes are kept", m.Used())
	}
	if u.Close(); m.Used() != 0 || u.Len() != 0 {
		t.Errorf("%d bytes are taken, %d read", m.Used(), u.Len())
	}
	u.Handover()() // there is nothing left
}

// Without its pools, a long prompt costs an allocation and its collection.
func TestABufferIsUsedAgain(t *testing.T) {
	for name, end := range map[string]func(*Upload){"closed": (*Upload).Close, "handed over": func(u *Upload) { u.Handover()() }} {
		again := false
		for range 100 { // a pool may drop what it is given
			u := newUpload(unlimited(), post(strings.NewReader("x"), 1))
			body, err := u.Read(10)
			if err != nil {
				t.Fatal(err)
			}
			end(u)
			next := takeBuffer(cap(body))
			again = again || &next[:1][0] == &body[0]
		}
		if !again {
			t.Errorf("%s: it is not", name)
		}
	}
}

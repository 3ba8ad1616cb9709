package modelcall

import (
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/modelcall/wire"
)

// stalled is a client that reads so many bytes, and then nothing more.
type stalled struct {
	*httptest.ResponseRecorder
	room    int
	expired chan struct{}
	once    sync.Once
}

func (s *stalled) Write(p []byte) (int, error) {
	if s.room -= len(p); s.room >= 0 {
		return s.ResponseRecorder.Write(p)
	}
	<-s.expired
	return 0, os.ErrDeadlineExceeded
}

func (s *stalled) SetWriteDeadline(at time.Time) error {
	if !at.After(time.Now()) {
		s.once.Do(func() { close(s.expired) })
	}
	return nil
}

func TestAClientThatReadsNothingIsGivenUp(t *testing.T) {
	for name, c := range map[string]struct {
		request, answer string
		room            int
	}{
		"whole":      {hello, largeChat(1 << 20), 300 << 10},
		"from begin": {hello, chatAnswerBody, 0},
		"a stream":   {streamed, largeEvents(20, 64<<10), 1 << 20},
		"at its end": {streamed, largeEvents(1, 10), 0},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				media := eventsMedia
				if c.request == hello {
					media = "application/json"
				}
				var most int64
				r := newRig(t, answering(200, ""))
				r.Timeouts.Commit, r.Timeouts.Heartbeat = time.Hour, time.Hour // they would wait for a lock, which stops the clock
				r.models.provider = newProvider(t, observed(&r.answers, media, c.answer, &most), nil)
				w := &stalled{ResponseRecorder: httptest.NewRecorder(), room: c.room, expired: make(chan struct{})}
				begun := time.Now()
				_ = r.serveTo(t, w, post(strings.NewReader(c.request), int64(len(c.request))), wire.Chat)
				if took, want := time.Since(begun), DefaultTimeouts.Write; took != want || r.answers.Used() != 0 {
					t.Errorf("it ended after %s, want %s; %d bytes are still taken", took, want, r.answers.Used())
				}
				if rows := r.rows(t); len(rows) != 1 || media == eventsMedia && rows[0].Code != string(apierror.ClientGone) {
					t.Errorf("rows %+v", rows)
				}
			})
		})
	}
}

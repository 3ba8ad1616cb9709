package toolcall

import (
	"net/http/httptest"
	"os"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// stuck is the connection of a client that reads nothing any more: a flush waits until its deadline.
type stuck struct {
	*httptest.ResponseRecorder
	after int // how many flushes succeed
	once  sync.Once
	late  chan struct{}
}

func (s *stuck) FlushError() error {
	if s.after--; s.after >= 0 {
		return nil
	}
	<-s.late
	return os.ErrDeadlineExceeded
}

func (s *stuck) SetWriteDeadline(time.Time) error {
	s.once.Do(func() { close(s.late) })
	return nil
}

// A client that takes nothing of a stream loses it, and the slot of the call is free again.
func TestAClientThatReadsNothingLosesItsStream(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, answering(200, asEvents, event(1, progress)+event(2, result)), pricedCall)
		began := time.Now()
		r.ServeHTTP(&stuck{ResponseRecorder: httptest.NewRecorder(), late: make(chan struct{})}, post(toolCall("echo")))
		if took := time.Since(began); took != r.Write {
			t.Errorf("it was kept for %s", took)
		}
		if row := r.row(t); row.Code != "client_closed_request" || row.CostNano != 10 {
			t.Errorf("%+v", row)
		}
		r.released(t)
	})
}

package handlers

import (
	"errors"
	"net/http"
	"sync"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/sse"
)

// clientLine is the event stream to the client. While the provider is silent
// it keeps the line open with comments: before anything was sent only after
// the commit time (until then a failure can still be a proper status), later
// whenever a heartbeat is due.
type clientLine struct {
	x       *exchange
	control *http.ResponseController

	mu      sync.Mutex // guards the following, and writing
	started bool
	stopped bool
	last    time.Time // of the last write
	timer   *time.Timer
}

var heartbeat = sse.AppendComment(nil, "keep-alive")

func newClientLine(x *exchange) *clientLine {
	l := &clientLine{x: x, control: http.NewResponseController(x.w)}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.timer = time.AfterFunc(x.gateway.Timeouts().Commit, l.beat)
	return l
}

// beat runs on the timer's goroutine.
func (l *clientLine) beat() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.stopped {
		return
	}
	interval := l.x.gateway.Timeouts().Heartbeat
	if silent := l.x.gateway.Now().Sub(l.last); l.started && silent < interval {
		l.timer.Reset(interval - silent)
		return
	}
	_ = errors.Join(l.write(heartbeat), l.flush()) // a client that left is seen by the request's context
	l.timer.Reset(interval)
}

// send writes whole events and flushes them.
func (l *clientLine) send(events []byte) error {
	if len(events) == 0 {
		return nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return errors.Join(l.write(events), l.flush())
}

// flush ignores a writer of another module's that cannot.
func (l *clientLine) flush() error {
	if err := l.control.Flush(); !errors.Is(err, http.ErrNotSupported) {
		return err
	}
	return nil
}

// finish writes the last events. The end of the answer, which follows at once,
// flushes them, but for those of a failure: a process that is going down may be
// gone by then.
func (l *clientLine) finish(events []byte, failed bool) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.stopped = true
	err := l.write(events)
	if failed {
		err = errors.Join(err, l.flush())
	}
	return err
}

func (l *clientLine) write(events []byte) error {
	if !l.started {
		l.start()
	}
	l.last = l.x.gateway.Now()
	_, err := l.x.w.Write(events)
	return err
}

// start commits to 200: from here on a failure is an event.
func (l *clientLine) start() {
	l.started, l.x.sent = true, true
	h := l.x.w.Header()
	h["Content-Type"] = eventStreamContentType
	h["Cache-Control"] = noCache
	h["X-Accel-Buffering"] = noBuffering // for an nginx in front
	l.x.w.WriteHeader(http.StatusOK)
	l.timer.Reset(l.x.gateway.Timeouts().Heartbeat)
}

var (
	eventStreamContentType = []string{"text/event-stream"}
	noCache                = []string{"no-cache"}
	noBuffering            = []string{"no"}
)

// abandon gives the line up if nothing was sent on it, so that the answer can
// be another one; it is false, and the line goes on, once the client has seen 200.
func (l *clientLine) abandon() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.started {
		return false
	}
	l.stopped = true
	l.timer.Stop()
	return true
}

// stop ends the heartbeat; nothing is written after it returns.
func (l *clientLine) stop() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.stopped = true
	l.timer.Stop()
}

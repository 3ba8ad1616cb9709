package modelcall

import (
	"errors"
	"net/http"
	"strconv"
	"sync"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/modelcall/wire"
	"github.com/gatehouse-proxy/gatehouse/internal/sse"
)

// eventWriter writes an event stream to the client. While the provider is silent it keeps the
// connection alive: before the first event with comments, and only after the commit time, because
// until then a failure can still be a status; later with the caller's heartbeat when one is due.
type eventWriter struct {
	w        http.ResponseWriter
	control  http.ResponseController
	timeouts *Timeouts
	now      func() time.Time
	begin    func(http.Header) // sets headers of the answer, before the first write
	beats    wire.Heartbeat

	mu      sync.Mutex // guards the following, and writing
	leftOut []string   // fields that the request of the attempt goes without
	started bool
	sent    bool // an event was
	stopped bool
	last    time.Time // of the last write
	event   time.Time // of the last event, or of the start
	timer   *time.Timer
}

var comment = sse.AppendComment(nil, "keep-alive")

func newEventWriter(w http.ResponseWriter, timeouts *Timeouts, now func() time.Time, beats wire.Heartbeat, begin func(http.Header)) *eventWriter {
	if beats.Comment == nil {
		beats.Comment = comment
	}
	e := &eventWriter{w: w, control: *http.NewResponseController(w), timeouts: timeouts, now: now, beats: beats, begin: begin}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.timer = time.AfterFunc(timeouts.Commit, e.beat)
	return e
}

// name notes the fields that the request of the next attempt goes without. The headers name them
// unless the answer has begun.
func (e *eventWriter) name(leftOut []string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.leftOut = leftOut
}

// beat runs on the timer's goroutine.
func (e *eventWriter) beat() {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.stopped {
		return
	}
	interval := e.timeouts.Heartbeat
	if silent := e.now().Sub(e.last); e.started && silent < interval {
		e.timer.Reset(interval - silent)
		return
	}
	beat := e.beats.Comment
	if e.beats.Event != nil && (e.sent || e.started && e.beats.Early) && e.now().Sub(e.event) >= e.beats.Every {
		beat, e.event = e.beats.Event, e.now()
	}
	_ = errors.Join(e.write(beat), e.flush()) // the request's context shows that a client has left
	e.timer.Reset(interval)
}

// send writes whole events and flushes them.
func (e *eventWriter) send(events []byte) error {
	if len(events) == 0 {
		return nil
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	err := e.write(events)
	e.sent, e.event = true, e.last
	return errors.Join(err, e.flush())
}

func (e *eventWriter) flush() error { return flush(&e.control) }

// flush ignores a writer of another module that cannot flush.
func flush(control *http.ResponseController) error {
	if err := control.Flush(); !errors.Is(err, http.ErrNotSupported) {
		return err
	}
	return nil
}

// finish writes the last events. The end of the answer follows at once and flushes them. Those of a
// failure are flushed here, because a process that shuts down may be gone by then.
func (e *eventWriter) finish(events []byte, failed bool) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.stopped = true
	if !e.started && !failed { // all of the answer is known: it needs no chunks
		e.w.Header()["Content-Length"] = []string{strconv.Itoa(len(events))}
	}
	err := e.write(events)
	if failed {
		err = errors.Join(err, e.flush())
	}
	return err
}

func (e *eventWriter) write(events []byte) error {
	if !e.started {
		e.start()
	}
	e.last = e.now()
	_, err := e.w.Write(events)
	return err
}

// start commits to 200: from here on a failure is an event.
func (e *eventWriter) start() {
	e.started, e.event = true, e.now()
	h := e.w.Header()
	e.begin(h)
	nameLeftOut(h, e.leftOut)
	h["Content-Type"] = eventStreamContentType
	h["Cache-Control"] = noCache
	h["X-Accel-Buffering"] = noBuffering // for an nginx in front
	e.w.WriteHeader(http.StatusOK)
	if !e.stopped {
		e.timer.Reset(e.timeouts.Heartbeat)
	}
}

var (
	eventStreamContentType = []string{"text/event-stream"}
	noCache                = []string{"no-cache"}
	noBuffering            = []string{"no"}
)

// abandon ends the writer if it has written nothing, so that the answer can be another one. It
// reports false, and the stream goes on, if the client has already got 200.
func (e *eventWriter) abandon() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.started {
		return false
	}
	e.stopped = true
	e.timer.Stop()
	return true
}

// stop ends the heartbeat; nothing is written after it returns.
func (e *eventWriter) stop() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.stopped = true
	e.timer.Stop()
}

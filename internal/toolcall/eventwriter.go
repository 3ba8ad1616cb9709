package toolcall

import (
	"errors"
	"net/http"
	"sync"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/request"
)

// errUnread is the cause that ends the stream of a client that does not even take comments.
var errUnread = errors.New("the client takes nothing of its stream")

// eventWriter writes events to the client, and a comment when there was none for some time: proxies close
// connections in which nothing is sent.
type eventWriter struct {
	req     *request.Request
	control *http.ResponseController
	every   time.Duration // between two writes; 0: no comments
	write   time.Duration // how long a comment may take
	fail    func(error)   // ends the stream

	mu    sync.Mutex // guards the following, and writing
	over  bool
	timer *time.Timer // nil for none
}

var comment = []byte(": keep-alive\n\n")

func newEventWriter(c *call) *eventWriter {
	e := &eventWriter{
		req: c.req, control: http.NewResponseController(c.req.Writer), every: c.deps.Heartbeat, write: c.deps.Write, fail: c.upstream.cancel,
	}
	if e.every > 0 {
		e.mu.Lock()
		defer e.mu.Unlock()
		e.timer = time.AfterFunc(e.every, e.beat)
	}
	return e
}

// send writes events. It fails only if the client has left.
func (e *eventWriter) send(events []byte, flush bool) error {
	e.req.WatchWrite()
	defer e.req.Watch.Stop()
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.timer != nil {
		e.timer.Reset(e.every)
	}
	return e.put(events, flush)
}

func (e *eventWriter) put(events []byte, flush bool) error {
	_, err := e.req.Writer.Write(events)
	if err == nil && flush {
		if err = e.control.Flush(); errors.Is(err, http.ErrNotSupported) {
			err = nil
		}
	}
	return err
}

// beat runs on the timer's goroutine.
func (e *eventWriter) beat() {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.over {
		return
	}
	late := time.AfterFunc(e.write, e.req.Expire)
	defer late.Stop()
	if e.put(comment, true) != nil {
		e.fail(errUnread)
		return
	}
	e.timer.Reset(e.every)
}

// stop ends the comments; nothing more is written by them after it returns.
func (e *eventWriter) stop() {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.over = true; e.timer != nil {
		e.timer.Stop()
	}
}

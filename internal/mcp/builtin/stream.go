package builtin

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"sync"
	"time"
)

// stream is the body of an answer that takes its time: an event each second, the result last.
//
// There is no goroutine behind it that could outlive the request: reading drives it on. The end of
// the context or Close, which may come from another goroutine, ends a waiting Read at once.
type stream struct {
	ctx    context.Context
	steps  int
	done   int
	token  []byte // of progress; nil if the caller asked for none
	result []byte
	event  []byte // what is left of the present one

	once   sync.Once
	closed chan struct{}
}

// events is the HTTP answer with a stream.
func events(req *http.Request, s *stream) *http.Response {
	s.closed = make(chan struct{})
	resp := answer(req, http.StatusOK, nil)
	resp.Header.Set("Content-Type", "text/event-stream")
	resp.ContentLength, resp.Body = -1, s
	return resp
}

// Read implements [io.Reader].
func (s *stream) Read(p []byte) (int, error) {
	if len(s.event) == 0 {
		if s.done == s.steps {
			return 0, io.EOF
		}
		second := time.NewTimer(time.Second)
		defer second.Stop()
		select {
		case <-s.closed:
			return 0, http.ErrBodyReadAfterClose
		case <-s.ctx.Done():
			return 0, s.ctx.Err()
		case <-second.C:
		}
		s.done++
		switch {
		case s.done == s.steps:
			s.event = fmt.Appendf(nil, "data: %s\n\n", s.result)
		case s.token != nil:
			s.event = fmt.Appendf(nil, `data: {"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":%s,"progress":%d,"total":%d}}`+"\n\n",
				s.token, s.done, s.steps)
		default:
			s.event = []byte(": working\n\n")
		}
	}
	n := copy(p, s.event)
	s.event = s.event[n:]
	return n, nil
}

// Close implements [io.Closer].
func (s *stream) Close() error {
	s.once.Do(func() { close(s.closed) })
	return nil
}

package responsesocket

import (
	"context"
	"errors"
	"io"
	"net/http"
	"sync"
	"time"
	"unicode/utf8"

	"go.uber.org/zap"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/upload"
	"github.com/gatehouse-proxy/gatehouse/internal/watchdog"
	"github.com/gatehouse-proxy/gatehouse/internal/wsconn"
)

// socket is one connection.
type socket struct {
	o         Options
	conn      *wsconn.Text
	handshake *http.Request   // what those of turns have in common
	ctx       context.Context // ends with the connection
	gone      context.CancelFunc
	state     state // of the turns

	mu     sync.Mutex // guards the following
	small  window     // of events that start no response
	begun  time.Time
	used   time.Time // when the last turn ended, or begun
	queue  []*frame
	queued int64 // bytes of queue
	busy   bool  // turns run
	over   *end  // the connection ends when the turn has ended
}

func newSocket(conn *wsconn.Text, r *http.Request, o Options) *socket {
	local := r.Context().Value(http.LocalAddrContextKey)
	ctx, gone := context.WithCancel(context.WithValue(context.Background(), http.LocalAddrContextKey, local))
	now := o.Uploads.Now()
	return &socket{
		o: o, conn: conn, handshake: ofHandshake(r), ctx: ctx, gone: gone, state: state{all: &o.Sockets.states}, begun: now, used: now,
	}
}

// run reads frames until the connection ends.
func (s *socket) run() {
	defer s.close()
	defer s.recovered()
	for {
		err := s.read()
		var closing *end
		switch {
		case err == nil:
			continue
		case errors.As(err, &closing):
			s.conn.Hangup(closing.code, closing.reason)
		}
		return
	}
}

// close ends what the connection has. A turn that is under way is one whose client has left.
func (s *socket) close() {
	s.gone()
	s.conn.Close()
	s.mu.Lock()
	s.clear()
	idle := !s.busy
	s.over = &endGone
	s.mu.Unlock()
	s.o.Sockets.leave(s.o.Key, s) // not when the turn ends: its client may come back before
	if idle {
		s.state.drop()
	}
}

// clear forgets what waits.
func (s *socket) clear() {
	for _, f := range s.queue {
		f.release()
	}
	s.queue, s.queued = nil, 0
}

// read reads one frame, and starts what it asks for. The error is an [end], or says that the client
// has left.
func (s *socket) read() error {
	message, err := s.conn.Next()
	switch {
	case errors.Is(err, wsconn.ErrBinary):
		return &endBinary
	case err != nil:
		return err
	}
	f := &frame{upload: s.receive(message)}
	data, err := f.upload.Read(s.o.MaxBody)
	if err != nil {
		defer f.release()
		return s.unread(message, err)
	}
	if !utf8.Valid(data) {
		f.release()
		return &endText
	}
	return s.take(f, data)
}

// receive reads a message as if it was the body of a request: in time, and within the memory of
// bodies.
func (s *socket) receive(message io.Reader) *upload.Upload {
	r := (&http.Request{Body: io.NopCloser(message), ContentLength: -1, Header: http.Header{}}).WithContext(s.ctx)
	u := upload.New(s.o.Uploads, reading{s.conn}, r, new(watchdog.Timer))
	return &u
}

// reading lets a read of a message end in time.
type reading struct{ conn *wsconn.Text }

func (reading) Header() http.Header                  { return http.Header{} }
func (reading) Write(p []byte) (int, error)          { return len(p), nil }
func (reading) WriteHeader(int)                      {}
func (r reading) SetReadDeadline(at time.Time) error { return r.conn.SetReadDeadline(at) }

// unread is the end of a message that was not read. One for which there was no memory is thrown
// away.
func (s *socket) unread(message io.Reader, err error) error {
	refusal := apierror.From(err)
	switch refusal.Code {
	case apierror.RequestTooLarge:
		return &endTooLarge
	case apierror.RequestTimeout:
		return &endSlow
	case apierror.GatewayBusy:
		_ = s.conn.SetReadDeadline(time.Now().Add(s.o.Uploads.Timeout))
		if _, err := io.Copy(io.Discard, io.LimitReader(message, s.o.MaxBody)); err != nil {
			return err
		}
		_ = s.conn.SetReadDeadline(time.Time{})
		return s.refuse(refusal)
	}
	return err
}

// refuse tells the client why a frame starts no response. The connection goes on, unless there are
// too many of them.
func (s *socket) refuse(err error) error {
	if err := s.conn.Send(errorEvent(apierror.From(err))); err != nil {
		return err
	}
	return s.countSmall()
}

// countSmall counts an event that starts no response.
func (s *socket) countSmall() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.small.take(s.o.Uploads.Now(), maxSmall) {
		return &endMany
	}
	return nil
}

// take does what a client event says. The error is as that of read.
func (s *socket) take(f *frame, data []byte) error {
	name, err := f.parse(data)
	if err == nil && name == typeCreate {
		if err = s.enqueue(f); err == nil {
			return nil
		}
	}
	f.release()
	switch {
	case err != nil:
		return s.refuse(err)
	case name == typeSteer:
		if err := s.conn.Send(steerFailed); err != nil {
			return err
		}
	}
	return s.countSmall()
}

// steerFailed answers an event that would change a response which is being made.
var steerFailed = []byte(`{"type":"response.steer.failed","error":{"code":"steering_not_supported",` +
	`"message":"a response cannot be steered here: send another response.create when it has ended"}}`)

// enqueue starts a response, or lets it wait for the one that is being made.
func (s *socket) enqueue(f *frame) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	size := int64(len(f.body.Data()))
	switch {
	case s.over != nil: // nothing begins any more
		f.release()
	case !s.busy:
		s.busy = true
		go s.turns(f)
	case len(s.queue) >= maxQueued || s.queued+size > s.o.MaxBody:
		return apierror.New(apierror.WebSocketQueueFull,
			"%d responses wait for the one that is being made; send the next when one has ended", len(s.queue))
	default:
		s.queue = append(s.queue, f)
		s.queued += size
	}
	return nil
}

// turns makes responses until none is asked for.
func (s *socket) turns(f *frame) {
	for f != nil {
		s.turn(f)
		f = s.next()
	}
}

// next returns the frame that waits, nil for none: then the turns have ended.
func (s *socket) next() *frame {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.used = s.o.Uploads.Now()
	if len(s.queue) > 0 && s.over == nil {
		f := s.queue[0]
		s.queue = s.queue[1:]
		s.queued -= int64(len(f.body.Data()))
		return f
	}
	s.clear()
	s.busy = false
	switch s.over {
	case nil:
	case &endGone:
		s.state.drop()
	default:
		go s.hangUp(*s.over)
	}
	return nil
}

// hangUp ends the connection, whose reader then returns.
func (s *socket) hangUp(e end) {
	if e.told != nil {
		_ = s.conn.Send(errorEvent(e.told)) // else the client has left
	}
	s.conn.Hangup(e.code, e.reason)
}

// end ends a connection at once, or after its turn.
func (s *socket) end(e *end) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.over != nil {
		return
	}
	s.over = e
	if !s.busy {
		go s.hangUp(*e)
	}
}

// age is what [Sockets] looks at: since when the connection is open, and since when it is idle, the
// zero time if it is not.
func (s *socket) age() (begun, idle time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.busy {
		return s.begun, time.Time{}
	}
	return s.begun, s.used
}

// still reports whether the key of the connection is good. A bug in the look-up must not end the
// process.
func (s *socket) still() bool {
	defer s.recovered()
	return s.o.Still()
}

// recovered is deferred by what reads and by a turn: a bug of the gateway must not end the process.
func (s *socket) recovered() {
	cause := recover()
	if cause == nil {
		return
	}
	if cause != http.ErrAbortHandler {
		s.o.Logger.Error("a response over a WebSocket panicked", zap.Any("panic", cause), zap.Stack("stack"))
	}
	s.state.drop()
	_ = s.conn.Send(errorEvent(apierror.New(apierror.Internal, "the gateway failed to make this response"))) // else the client has left
	s.end(&endBug)
}

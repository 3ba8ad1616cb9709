package responsesocket

import (
	"context"
	"errors"
	"net/http"
	"sync"
	"time"

	"go.uber.org/zap"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/socket"
	"github.com/gatehouse-proxy/gatehouse/internal/wsconn"
)

// connection is one WebSocket.
type connection struct {
	o         Options
	conn      *wsconn.Text
	handshake *http.Request // what those of turns have in common; its context ends with the connection
	gone      context.CancelFunc
	messages  socket.Messages
	state     state // of the turns

	mu     sync.Mutex    // guards the following
	small  socket.Window // of events that start no response
	begun  time.Time
	used   time.Time // when the last turn ended, or begun
	queue  []*frame
	queued int64       // bytes of queue
	busy   bool        // turns run
	over   *socket.End // the connection ends when the turn has ended
}

func newConnection(conn *wsconn.Text, r *http.Request, o Options) *connection {
	common, gone := socket.Detached(r)
	now := o.Uploads.Now()
	return &connection{
		o: o, conn: conn, handshake: common, gone: gone, state: state{all: o.Sockets.states}, begun: now, used: now,
		messages: socket.Messages{Conn: conn, Uploads: o.Uploads, Max: o.MaxBody, Context: common.Context()},
	}
}

// run reads frames until the connection ends.
func (s *connection) run() {
	defer s.close()
	defer s.recovered()
	for {
		err := s.read()
		var closing *socket.End
		switch {
		case err == nil:
			continue
		case errors.As(err, &closing):
			s.conn.Hangup(closing.Code, closing.Reason)
		}
		return
	}
}

// close ends what the connection has. A turn that is under way is one whose client has left.
func (s *connection) close() {
	s.mu.Lock()
	s.clear() // before the turn ends: else it begins the next one
	idle := !s.busy
	s.over = &socket.Gone
	s.mu.Unlock()
	s.gone()
	s.conn.Close()
	s.o.Sockets.Leave(s.o.Key, s) // not when the turn ends: its client may come back before
	if idle {
		s.state.drop()
	}
}

// clear forgets what waits.
func (s *connection) clear() {
	for _, f := range s.queue {
		f.release()
	}
	s.queue, s.queued = nil, 0
}

// read reads one frame, and starts what it asks for. The error is an [socket.End], or says that the
// client has left.
func (s *connection) read() error {
	u, data, err := s.messages.Next()
	switch {
	case socket.IsBusy(err):
		return s.refuse(err)
	case err != nil:
		return err
	}
	return s.take(&frame{upload: u}, data)
}

// refuse tells the client why a frame starts no response. The connection goes on, unless there are
// too many of them.
func (s *connection) refuse(err error) error {
	if err := s.conn.Send(errorEvent(apierror.From(err))); err != nil {
		return err
	}
	return s.countSmall()
}

// countSmall counts an event that starts no response.
func (s *connection) countSmall() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.small.Take(s.o.Uploads.Now(), maxSmall) {
		return &endMany
	}
	return nil
}

// take does what a client event says. The error is as that of read.
func (s *connection) take(f *frame, data []byte) error {
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
func (s *connection) enqueue(f *frame) error {
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
func (s *connection) turns(f *frame) {
	for f != nil {
		s.turn(f)
		f = s.next()
	}
}

// next returns the frame that waits, nil for none: then the turns have ended.
func (s *connection) next() *frame {
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
	case &socket.Gone:
		s.state.drop()
	default:
		go s.hangUp(*s.over)
	}
	return nil
}

// hangUp ends the connection, whose reader then returns.
func (s *connection) hangUp(e socket.End) {
	if e.Told != nil {
		_ = s.conn.Send(errorEvent(e.Told)) // else the client has left
	}
	s.conn.Hangup(e.Code, e.Reason)
}

// End implements [socket.Conn].
func (s *connection) End(e *socket.End) {
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

// Age implements [socket.Conn].
func (s *connection) Age() (begun, idle time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.busy {
		return s.begun, time.Time{}
	}
	return s.begun, s.used
}

// Still implements [socket.Conn]. A bug in the look-up must not end the process.
func (s *connection) Still() bool {
	defer s.recovered()
	return s.o.Still()
}

// recovered is deferred by what reads and by a turn: a bug of the gateway must not end the process.
func (s *connection) recovered() {
	cause := recover()
	if cause == nil {
		return
	}
	if cause != http.ErrAbortHandler {
		s.o.Logger.Error("a response over a WebSocket panicked", zap.Any("panic", cause), zap.Stack("stack"))
	}
	s.state.drop()
	_ = s.conn.Send(errorEvent(apierror.New(apierror.Internal, "the gateway failed to make this response"))) // else the client has left
	s.End(&socket.Bug)
}

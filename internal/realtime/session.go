package realtime

import (
	"errors"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/coder/websocket"
	"go.uber.org/zap"

	"github.com/gatehouse-proxy/gatehouse/internal/socket"
	"github.com/gatehouse-proxy/gatehouse/internal/wsconn"
)

// Session is one session: the client's socket, the provider's, and the answers.
type Session struct {
	o        Options
	conn     *wsconn.Text
	provider string // its name
	asked    string // the model, as the client calls it
	model    string // and as the provider does
	answers  answers
	client   client
	down     atomic.Int64 // bytes to the client
	begun    time.Time
	served   chan struct{} // closed when the provider's side has ended
}

// Run relays until the session ends, and returns when both sockets are closed and all is charged.
func (s *Session) Run() {
	go func() {
		defer close(s.served)
		s.serve()
	}()
	code := s.listen()
	s.conn.Close()
	s.answers.leave()
	s.o.Upstream.Close(code, "")
	<-s.served
	s.o.Calls.Finish(s.answers.settle(), s.client.up, s.down.Load())
	s.o.Sockets.Leave(s.o.Key, s)
}

// listen passes on the events of the client until one of both ends the session. It returns the code
// with which the provider's socket is closed.
func (s *Session) listen() (code int) {
	defer s.recovered()
	err := s.client.begin()
	for err == nil {
		err = s.client.next()
	}
	var closing *socket.End
	var closed *wsconn.ClosedError
	switch {
	case errors.As(err, &closing):
		s.conn.Hangup(closing.Code, closing.Reason)
	case errors.As(err, &closed) && sendable(closed.Code):
		return closed.Code
	}
	return NormalClose
}

// serve passes on what the provider says until it closes, and tells the client why.
func (s *Session) serve() {
	defer s.recovered()
	defer s.o.Upstream.release()
	var err error
	for err == nil {
		var event []byte
		if event, err = s.o.Upstream.Next(); err == nil {
			err = server{s}.pass(event)
		}
	}
	if s.answers.provided(); s.answers.hasLeft() {
		return
	}
	var closing *socket.End
	var closed websocket.CloseError
	switch {
	case errors.As(err, &closing):
		s.hangUp(*closing)
	case errors.As(err, &closed) && sendable(int(closed.Code)):
		s.hangUp(socket.End{Code: int(closed.Code), Reason: s.o.Live.Shown(closed.Reason)})
	case errors.Is(err, errBinary):
		s.hangUp(endNonsense)
	default:
		broken := endBroken
		broken.Told = brokenError(s.provider)
		s.hangUp(broken)
	}
}

// sendable reports whether a Close may have a code (RFC 6455, section 7.4).
func sendable(code int) bool {
	return code >= 3000 && code < 5000 || code >= 1000 && code < 1015 && code != 1004 && code != 1005 && code != 1006
}

// End implements [socket.Conn]. A key that is not valid any more ends the session at once.
func (s *Session) End(e *socket.End) {
	if now := s.answers.end(e, e == &socket.BadKey); now != nil {
		go s.hangUp(*now)
	}
}

// Abort ends the session at once: the process exits.
func (s *Session) Abort(error) {
	_ = s.answers.end(&socket.Shutdown, true)
	go s.hangUp(socket.Shutdown)
}

// hangUp ends the client's side, and so the session.
func (s *Session) hangUp(e socket.End) {
	_ = s.answers.end(&e, false)
	if e.Told != nil {
		_ = s.conn.Send(errorEvent(e.Told, "")) // else the client has left
	}
	s.conn.Hangup(e.Code, e.Reason)
}

// Age implements [socket.Conn].
func (s *Session) Age() (begun, idle time.Time) { return s.begun, s.answers.idle() }

// Still implements [socket.Conn]. A bug in the look-up must not end the process.
func (s *Session) Still() bool {
	defer s.recovered()
	return s.o.Still()
}

// recovered is deferred by the goroutines of a session: a bug must not end the process.
func (s *Session) recovered() {
	cause := recover()
	if cause == nil {
		return
	}
	if cause != http.ErrAbortHandler {
		s.o.Logger.Error("a Realtime session panicked", zap.Any("panic", cause), zap.Stack("stack"))
	}
	go s.hangUp(socket.Bug)
}

// send sends events to the client, unless it has left.
func (s *Session) send(frames ...[]byte) {
	kept := frames[:0]
	for _, frame := range frames {
		if frame != nil {
			s.down.Add(int64(len(frame)))
			kept = append(kept, frame)
		}
	}
	if len(kept) > 0 && !s.answers.hasLeft() {
		_ = s.conn.Send(kept...) // else the client has left: its reader knows
	}
}

// judged has an object without a model judged, as a part of the session.
func (s *Session) judged(object []byte) ([]byte, error) {
	body := appendModel(s.asked, object)
	return s.o.Calls.Part(body)
}

// item has an item of the conversation judged, as the input of a response.
func (s *Session) item(object []byte) ([]byte, error) {
	edited, err := s.judged(append(append([]byte(`{"input":[`), object...), `]}`...))
	if err != nil {
		return nil, err
	}
	return element(get(edited, "input")), nil
}

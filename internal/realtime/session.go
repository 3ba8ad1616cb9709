package realtime

import (
	"errors"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/coder/websocket"
	"go.uber.org/zap"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/socket"
	"github.com/gatehouse-proxy/gatehouse/internal/wsconn"
)

// Session is one session: the client's socket, the provider's, and the answers.
type Session struct {
	o        Options
	conn     *wsconn.Text
	up, down atomic.Int64  // bytes
	quiet    chan struct{} // closed when the client has left and no answer is under way
	served   chan struct{} // closed when the provider's side has ended

	mu      sync.Mutex // guards the following, and the calls
	held    Answer     // the next answer; nil if it could not be held
	heard   Answer     // the next transcript; nil without transcripts
	hears   [2]string  // the model of transcripts, as the client calls it and as the provider does
	asked   []*answer  // by response.create, in their order, of which no response.created has come
	running map[string]*answer
	refused socket.Window
	begun   time.Time
	used    time.Time   // when the last answer ended, or begun
	over    *socket.End // the session ends when no answer is under way
	left    bool        // the client has
	broken  bool        // the provider has ended the session
}

// Run relays until the session ends, and returns when both sockets are closed and all is charged.
func (s *Session) Run() {
	go func() {
		defer close(s.served)
		s.serve()
	}()
	code, reason := s.listen()
	s.conn.Close()
	s.leave()
	s.o.Upstream.Close(code, reason)
	<-s.served
	s.settle()
	s.o.Sockets.Leave(s.o.Key, s)
}

// listen passes on what the client says until it leaves or is told to. It returns the code with
// which the provider's socket is closed.
func (s *Session) listen() (code int, reason string) {
	defer s.recovered()
	err := s.begin()
	for err == nil {
		err = s.hear()
	}
	var closing *socket.End
	var closed *wsconn.ClosedError
	switch {
	case errors.As(err, &closing):
		s.conn.Hangup(closing.Code, closing.Reason)
	case errors.As(err, &closed) && sendable(closed.Code):
		return closed.Code, ""
	}
	return int(websocket.StatusNormalClosure), ""
}

// hear reads one event of the client and passes it on.
func (s *Session) hear() error {
	u, data, err := s.o.Messages.Next()
	switch {
	case socket.IsBusy(err):
		return s.refuse(err, "")
	case err != nil:
		return err
	}
	defer u.Close()
	s.up.Add(int64(len(data)))
	return s.take(data)
}

// serve passes on what the provider says until it closes.
func (s *Session) serve() {
	defer s.recovered()
	var err error
	for err == nil {
		var event []byte
		if event, err = s.o.Upstream.Next(); err == nil {
			err = s.pass(event)
		}
	}
	s.ended(err)
}

// ended tells the client why the provider's side has ended.
func (s *Session) ended(err error) {
	s.mu.Lock()
	s.broken = !s.left
	s.mu.Unlock()
	var closing *socket.End
	var closed websocket.CloseError
	switch {
	case errors.As(err, &closing):
		s.hangUp(*closing)
	case errors.As(err, &closed) && sendable(int(closed.Code)):
		s.hangUp(socket.End{Code: int(closed.Code), Reason: s.o.Shown(closed.Reason)})
	case errors.Is(err, errBinary), closed.Code == websocket.StatusInvalidFramePayloadData:
		s.hangUp(endNonsense)
	default:
		broken := endBroken
		broken.Told = brokenError(s.o.Provider)
		s.hangUp(broken)
	}
}

// sendable reports whether a Close may have a code (RFC 6455, section 7.4).
func sendable(code int) bool {
	return code >= 3000 && code < 5000 || code >= 1000 && code < 1015 && code != 1004 && code != 1005 && code != 1006
}

// leave is the end of the client's side. Answers that are under way are cancelled, and for a moment
// the provider may say what they have used.
func (s *Session) leave() {
	s.mu.Lock()
	s.left = true
	cancel := make([][]byte, 0, len(s.running))
	for id := range s.running {
		cancel = append(cancel, cancelOf(id))
	}
	s.checkQuiet()
	s.mu.Unlock()
	for _, event := range cancel {
		_ = s.o.Upstream.Send(event) // else its usage is estimated
	}
	late := time.NewTimer(usageWait)
	defer late.Stop()
	select {
	case <-s.quiet:
	case <-s.served:
	case <-late.C:
	}
}

// checkQuiet closes quiet when nobody waits for the provider. The mutex is held.
func (s *Session) checkQuiet() {
	select {
	case <-s.quiet:
	default:
		if s.left && len(s.running)+len(s.asked) == 0 {
			close(s.quiet)
		}
	}
}

// settle ends what is left when both sides have ended.
func (s *Session) settle() {
	s.mu.Lock()
	defer s.mu.Unlock()
	failure := goneError()
	if s.broken {
		failure = brokenError(s.o.Provider)
	}
	for _, a := range s.asked {
		a.Finish(failure)
	}
	for _, a := range s.running {
		a.Finish(failure)
	}
	for _, held := range []Answer{s.held, s.heard} {
		if held != nil {
			held.Finish(nil)
		}
	}
	s.asked, s.held, s.heard = nil, nil, nil
	clear(s.running)
	ended := socket.Gone.Reason
	if s.over != nil {
		ended = s.over.Reason
	}
	s.o.Calls.Finish(ended, s.up.Load(), s.down.Load())
}

func brokenError(provider string) *apierror.Error {
	return apierror.New(apierror.UpstreamError, "the provider %q broke off the session", provider)
}

func goneError() *apierror.Error {
	return apierror.New(apierror.ClientGone, "the session ended before the answer did")
}

// End implements [socket.Conn]. A key that is not valid any more ends the session at once.
func (s *Session) End(e *socket.End) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.over != nil && e != &socket.BadKey {
		return
	}
	s.over = e
	if e == &socket.BadKey || len(s.running)+len(s.asked) == 0 {
		go s.hangUp(*e)
	}
}

// Abort ends the session at once: the process exits.
func (s *Session) Abort(error) { go s.hangUp(socket.Shutdown) }

// hangUp ends the client's side, and so the session.
func (s *Session) hangUp(e socket.End) {
	s.mu.Lock()
	if s.over == nil {
		s.over = &e
	}
	s.mu.Unlock()
	if e.Told != nil {
		_ = s.conn.Send(errorEvent(e.Told, "")) // else the client has left
	}
	s.conn.Hangup(e.Code, e.Reason)
}

// Age implements [socket.Conn].
func (s *Session) Age() (begun, idle time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.running)+len(s.asked) > 0 {
		return s.begun, time.Time{}
	}
	return s.begun, s.used
}

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

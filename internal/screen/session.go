package screen

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"sync"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/desktop"
	"github.com/gatehouse-proxy/gatehouse/internal/framebuffer"
	"github.com/gatehouse-proxy/gatehouse/internal/rfb"
	"github.com/gatehouse-proxy/gatehouse/internal/vncrelay"
	"github.com/gatehouse-proxy/gatehouse/internal/vncsession"
)

const (
	// idle is how long a desktop stays open after the last call: a model thinks for less.
	idle = time.Minute
	// answerLimit bounds each wait for the workstation: its login, its answer to a request, one
	// message from the first byte to the last, a write to it.
	answerLimit = 10 * time.Second
	// lastWrite is how long the keys may take that come up at the end.
	lastWrite = 300 * time.Millisecond
	// watchEvery is how exact idle and the other limits are.
	watchEvery = time.Second
	// readSize is the buffer of the connection.
	readSize = 16 << 10
)

// Screen is an open desktop. Its methods can be called by several goroutines. After the end of its
// session each returns an [*apierror.Error] that says why.
type Screen struct {
	screens *Screens
	life    life
	ready   chan struct{} // closed when the desktop is open, or failed is set
	failed  error         // why it did not open
	over    chan struct{} // closed when nothing is left of it

	// Set before ready is closed.
	session *vncsession.Session
	conn    net.Conn

	sight sight
	shots shots
	hand  hand
}

// life is how a desktop is used.
type life struct {
	mu    sync.Mutex // guards the following
	calls int
	last  time.Time // the end of the last call
}

func (l *life) begin() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.calls++
}

// unused reports whether no call has needed the desktop for a while.
func (l *life) unused(now time.Time) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.calls == 0 && now.Sub(l.last) >= idle
}

func newScreen(s *Screens) *Screen {
	return &Screen{
		screens: s, ready: make(chan struct{}), over: make(chan struct{}),
		sight: newSight(), shots: newShots(&s.memory), hand: newHand(),
	}
}

// Release ends a call.
func (x *Screen) Release() {
	x.life.mu.Lock()
	defer x.life.mu.Unlock()
	x.life.calls--
	x.life.last = time.Now()
}

// Session is the session.
func (x *Screen) Session() *desktop.Session { return x.session.Live }

// Acted counts actions of the agent, and the characters that they typed, for the record.
func (x *Screen) Acted(actions, typed int) {
	x.session.Actions.Add(int64(actions))
	x.session.Typed.Add(int64(typed))
}

// arrive waits until the desktop is open. again reports that it has ended, and that another can be
// opened by now.
func (x *Screen) arrive(ctx context.Context) (again bool, err error) {
	select {
	case <-x.ready:
	case <-ctx.Done():
		return false, gone(ctx)
	}
	if x.failed != nil {
		return false, x.failed
	}
	if x.session.Live.Why() == "" {
		return false, nil
	}
	select {
	case <-x.over:
		return true, nil
	case <-ctx.Done():
		return false, gone(ctx)
	}
}

// run is the desktop from its connection to its end.
func (x *Screen) run(who Who) {
	defer x.shots.close()
	if x.failed = x.connect(&who); x.failed != nil {
		close(x.ready)
		return
	}
	live := x.session.Live
	stop := live.OnEnd(x.hangUp)
	watched := make(chan struct{})
	go func() {
		defer close(watched)
		x.watch()
	}()
	close(x.ready)
	why := x.read()
	live.End(why)
	stop()
	<-watched
	x.session.Finish(why)
}

// connect opens the session. A failure has been recorded.
func (x *Screen) connect(who *Who) error {
	client := who.Client.Addr()
	service := who.Gateway.Workstations()
	issued, err := service.Issue(who.Issuer, who.Workstation, desktop.Options{Shared: true, Once: true, Claim: desktop.Yield, Client: client})
	if err != nil {
		return err
	}
	token, _, _ := strings.Cut(issued.URL, ".")
	pass, err := service.Find(token, client)
	if err != nil {
		return refused(err)
	}
	session, err := who.Gateway.Open(pass, who.Client, desktop.SecurityAgent)
	if err != nil {
		return refused(err)
	}
	backend, refusal := vncrelay.Admission{
		Gateway: who.Gateway, Dial: x.screens.dial, Step: answerLimit, Within: answerLimit, Public: who.Public,
	}.Enter(session, client)
	if refusal != nil {
		session.Finish("")
		return refused(refusal)
	}
	x.session, x.conn = session, backend.Conn
	session.OnExit(func() { session.Live.End(desktop.ReasonShutdown) }) // nobody calls any more
	if err := x.begin(backend.Init); err != nil {
		_ = x.conn.Close()
		session.Finish(desktop.ReasonWorkstation)
		return err
	}
	return nil
}

// begin makes the picture, and says how it is to be sent.
func (x *Screen) begin(init rfb.Init) error {
	size, err := x.shots.begin(init)
	if err != nil {
		return err
	}
	x.sight.resize(size)
	if err := x.hand.write(x.conn, setUp(), answerLimit); err != nil {
		return unreachable("it took nothing of what was sent to it", err)
	}
	return nil
}

// setUp is SetPixelFormat and SetEncodings (RFC 6143, sections 7.5.1 and 7.5.2).
func setUp() []byte {
	out := append([]byte{0, 0, 0, 0}, framebuffer.LiveFormat[:]...)
	encodings := framebuffer.Live()
	out = append(out, 2, 0, byte(len(encodings)>>8), byte(len(encodings)))
	for _, e := range encodings {
		out = append(out, byte(e>>24), byte(e>>16), byte(e>>8), byte(e))
	}
	return out
}

// read applies what the workstation sends, until the session ends. It returns why it has, unless that
// is known.
func (x *Screen) read() (why desktop.Reason) {
	defer func() {
		if r := recover(); r != nil { // what a workstation sends ends its own session only
			x.session.ProtocolError(string(apierror.Internal), fmt.Errorf("panic: %v", r))
			why = desktop.ReasonProtocol
		}
	}()
	in := bufio.NewReaderSize(counted{x.conn, x.session.Live}, readSize)
	for {
		_, err := in.Peek(1)
		if err == nil {
			_ = x.conn.SetReadDeadline(time.Now().Add(answerLimit))
			err = x.apply(in)
			_ = x.conn.SetReadDeadline(time.Time{})
		}
		if err == nil {
			continue
		}
		if kind := rfb.KindOf(err); kind == rfb.KindMessage && x.session.Live.Why() == "" {
			x.session.ProtocolError(kind.String(), err)
			return desktop.ReasonProtocol
		}
		return desktop.ReasonWorkstation
	}
}

// apply reads one message.
func (x *Screen) apply(in *bufio.Reader) error {
	m, size, err := x.shots.read(in)
	if err != nil {
		return err
	}
	if m.Kind == framebuffer.Update {
		x.sight.updated(&m, size, time.Now())
	}
	return x.hand.clipboard(x.conn, m.Clipboard)
}

// counted counts what comes.
type counted struct {
	net.Conn
	live *desktop.Session
}

func (c counted) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	c.live.Down.Add(int64(n))
	return n, err
}

// send writes a message; an error ends the session.
func (x *Screen) send(message []byte) error {
	x.session.Live.Up.Add(int64(len(message)))
	return x.sent(x.hand.write(x.conn, message, answerLimit))
}

// sent ends the session if a write has failed.
func (x *Screen) sent(err error) error {
	if err == nil {
		return nil
	}
	x.session.Live.End(desktop.ReasonWorkstation)
	return x.ended()
}

// watch ends the session at its limits, and lets go what is held too long.
func (x *Screen) watch() {
	live, limit := x.session.Live, x.session.Pass.Rules.IdleTimeout
	tick := time.NewTicker(watchEvery)
	defer tick.Stop()
	for {
		var now time.Time
		select {
		case <-live.Ended():
			return
		case now = <-tick.C:
		}
		input, held := x.hand.since()
		switch {
		case !now.Before(live.Until()):
			live.End(desktop.ReasonMaxDuration)
		case limit > 0 && now.Sub(later(input, live.Started)) >= limit:
			live.End(desktop.ReasonIdle)
		case x.life.unused(now):
			live.End(desktop.ReasonViewer)
		case !held.IsZero() && now.Sub(held) >= holdLimit:
			_ = x.LetGo() // a failure ends the session
		}
	}
}

// hangUp ends the connection. A write under way holds up the last keys only for a moment.
func (x *Screen) hangUp() {
	_ = x.conn.SetWriteDeadline(time.Now().Add(lastWrite))
	x.hand.close(x.conn)
	_ = x.conn.Close()
}

// ended is the error of a call whose session has ended.
func (x *Screen) ended() error {
	why := x.session.Live.Why()
	switch why {
	case desktop.ReasonReleased:
		return apierror.New(apierror.NotFound, "workstation %q was released", x.session.Pass.Workstation.Name)
	case desktop.ReasonReplaced:
		return apierror.New(apierror.WorkstationOccupied, "a person has taken workstation %q", x.session.Pass.Workstation.Name)
	case desktop.ReasonShutdown:
		return apierror.New(apierror.ShuttingDown, "the gateway is shutting down")
	case desktop.ReasonWorkstation, desktop.ReasonProtocol:
		return unreachable("it closed the connection, did not answer in time, or sent what cannot be read", nil)
	}
	e := apierror.New(apierror.SessionEnded, "session %s has ended: %s", x.session.Live.ID, why)
	e.RefusedBy = why.Option()
	return e
}

// refused is the error for a caller, of what a viewer would have been refused with.
func refused(err error) error {
	var r *desktop.Refusal
	if !errors.As(err, &r) {
		return err
	}
	switch r.Code {
	case desktop.RefusedBusy:
		return apierror.New(apierror.WorkstationOccupied, "somebody has the workstation, and a rule says that nobody else may be there")
	case desktop.RefusedFull:
		return busy("max_sessions", "as many sessions are open as the gateway allows")
	case desktop.RefusedShutdown:
		return apierror.New(apierror.ShuttingDown, "%s", r.Text)
	case desktop.RefusedUnavailable:
		return apierror.New(apierror.StorageUnavailable, "%s", r.Text)
	case desktop.WorkstationDenied:
		return apierror.New(apierror.WorkstationDenied, "%s", r.Text)
	case desktop.WorkstationStarting:
		return apierror.New(apierror.WorkstationStarting, "%s", r.Text)
	case desktop.SourceUnavailable:
		return apierror.New(apierror.SourceUnavailable, "%s", r.Text)
	}
	switch r.Status() / 100 {
	case 4: // it was released, or the key was withdrawn, meanwhile
		return apierror.New(apierror.NotFound, "%s", r.Text)
	}
	return unreachable(string(r.Code), nil)
}

func unreachable(what string, cause error) *apierror.Error {
	return apierror.New(apierror.WorkstationUnreachable, "the workstation cannot be used now: %s", what).WithCause(cause)
}

// gone is the error of a caller that has left, or whose time is over.
func gone(ctx context.Context) error {
	return apierror.New(apierror.ClientGone, "the client left").WithCause(context.Cause(ctx))
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

func earlier(a, b time.Time) time.Time {
	if a.Before(b) {
		return a
	}
	return b
}

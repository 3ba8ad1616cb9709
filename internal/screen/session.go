package screen

import (
	"bufio"
	"context"
	"encoding/binary"
	"fmt"
	"image"
	"strings"
	"sync"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/desktop"
	"github.com/gatehouse-proxy/gatehouse/internal/framebuffer"
	"github.com/gatehouse-proxy/gatehouse/internal/rfb"
	"github.com/gatehouse-proxy/gatehouse/internal/vncrelay"
)

const (
	// idle is how long a desktop stays open after the last call: a model thinks for less.
	idle = time.Minute
	// watchEvery is how exact idle and the other limits are.
	watchEvery = time.Second
	// readSize is the buffer of the connection.
	readSize = 16 << 10
)

// Screen is an open desktop. Its methods can be called by several goroutines. After the end of its
// session each returns an [*apierror.Error] that says why.
type Screen struct {
	life   life
	ready  chan struct{} // closed when the desktop is open, or failed is set
	failed error         // why it did not open
	over   chan struct{} // closed when nothing is left of it

	control bool // when it was opened all rules but its source's let agents act

	conn    *connection // set before ready is closed
	updates updates
	shots   shots
	input   input
	agent   agent
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

func newScreen(s *Screens, of *pool) *Screen {
	return &Screen{
		ready: make(chan struct{}), over: make(chan struct{}),
		updates: updates{news: make(chan struct{}), pending: make(map[int]image.Point)}, shots: newShots(s, of),
		input: input{keys: make(map[uint32]struct{})}, agent: agent{turn: make(chan struct{}, 1)},
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
func (x *Screen) Session() *desktop.Session { return x.conn.session.Live }

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
	if x.Session().Why() == "" {
		return false, nil
	}
	select {
	case <-x.over:
		return true, nil
	case <-ctx.Done():
		return false, gone(ctx)
	}
}

// gone is the error of a caller that has left.
func gone(ctx context.Context) error {
	return apierror.New(apierror.ClientGone, "the client left").WithCause(context.Cause(ctx))
}

// run is the desktop from its connection to its end.
func (x *Screen) run(who *Who, dial vncrelay.Dialer) {
	defer x.shots.close()
	if x.failed = x.connect(who, dial); x.failed != nil {
		close(x.ready)
		return
	}
	stop := x.Session().OnEnd(x.hangUp)
	var watch sync.WaitGroup
	watch.Go(func() { x.watch(who.Gateway.Workstations()) })
	close(x.ready)
	why := x.read()
	x.Session().End(why)
	stop()
	watch.Wait()
	vncrelay.Drain(x.conn.socket)
	x.conn.session.Finish(why)
}

// connect opens the session. A failure has been recorded.
func (x *Screen) connect(who *Who, dial vncrelay.Dialer) error {
	client := who.Client.Addr()
	pass, err := who.pass()
	if err != nil {
		return refused(err)
	}
	session, err := who.Gateway.Open(pass, who.Client, desktop.SecurityAgent)
	if err != nil {
		return refused(err)
	}
	backend, refusal := vncrelay.Admission{
		Gateway: who.Gateway, Dial: dial, Step: answerLimit, Within: answerLimit, Public: who.Public,
	}.Enter(session, client)
	if refusal != nil {
		session.Finish("")
		return refused(refusal)
	}
	x.conn = newConnection(session, backend.Conn)
	session.Live.Input.OnLost(x.lost)
	session.OnExit(func() { session.Live.End(desktop.ReasonShutdown) }) // nobody calls any more
	if err := x.begin(backend.Init); err != nil {
		_ = backend.Conn.Close()
		session.Finish(desktop.ReasonWorkstation)
		return err
	}
	return nil
}

// pass returns that with which the desktop is opened.
func (who *Who) pass() (*desktop.Pass, error) {
	client, service := who.Client.Addr(), who.Gateway.Workstations()
	if who.Preview {
		return desktop.Preview(service, who.Issuer, who.Workstation, client)
	}
	issued, err := service.Issue(who.Issuer, who.Workstation, desktop.Options{Shared: true, Once: true, Claim: desktop.Yield, Client: client})
	if err != nil {
		return nil, err
	}
	token, _, _ := strings.Cut(issued.URL, ".")
	return service.Find(token, client)
}

// begin makes the picture, and asks for the format and encodings in which it is sent.
func (x *Screen) begin(init rfb.Init) error {
	size, err := x.shots.begin(init)
	if err != nil {
		return err
	}
	x.updates.size, x.input.qemu = size, strings.HasPrefix(init.Name, "QEMU")
	return x.conn.send(append([]byte{0, 0, 0, 0}, framebuffer.LiveFormat[:]...), setEncodings(framebuffer.Live()))
}

// setEncodings is SetEncodings (RFC 6143, section 7.5.2). The message before it is SetPixelFormat.
func setEncodings(encodings []int32) []byte {
	out := []byte{2, 0, byte(len(encodings) >> 8), byte(len(encodings))}
	for _, e := range encodings {
		out = binary.BigEndian.AppendUint32(out, uint32(e))
	}
	return out
}

// read applies what the workstation sends, until the session ends. It returns why it has, unless that
// is known.
func (x *Screen) read() (why desktop.Reason) {
	session, conn := x.conn.session, x.conn.socket
	defer func() {
		if r := recover(); r != nil { // what a workstation sends ends its own session only
			session.ProtocolError(string(apierror.Internal), fmt.Errorf("panic: %v", r))
			why = desktop.ReasonProtocol
		}
	}()
	in := bufio.NewReaderSize(x.conn, readSize)
	for session.Live.Why() == "" {
		_, err := in.Peek(1)
		if err == nil {
			_ = conn.SetReadDeadline(time.Now().Add(answerLimit))
			err = x.apply(in)
			_ = conn.SetReadDeadline(time.Time{})
		}
		if err == nil {
			continue
		}
		if kind := rfb.KindOf(err); kind == rfb.KindMessage && session.Live.Why() == "" {
			session.ProtocolError(kind.String(), err)
			return desktop.ReasonProtocol
		}
		return desktop.ReasonWorkstation
	}
	return session.Live.Why()
}

// apply reads one message.
func (x *Screen) apply(in *bufio.Reader) error {
	m, size, err := x.shots.read(in)
	if err != nil {
		return err
	}
	if m.Kind == framebuffer.Update {
		x.updates.updated(&m, size, time.Now())
	}
	if answer := x.input.clipboard(m.Clipboard); answer != nil {
		return x.conn.send(answer)
	}
	return nil
}

// watch ends the session at its limits and by its rules, and lets go what is held too long.
func (x *Screen) watch(rules *desktop.Service) {
	live, limit := x.Session(), x.conn.session.Pass.Rules.IdleTimeout
	tick := time.NewTicker(watchEvery)
	defer tick.Stop()
	for {
		var now time.Time
		select {
		case <-live.Ended():
			return
		case now = <-tick.C:
		}
		acted, held := x.input.since()
		switch {
		case !now.Before(live.Until()):
			live.End(desktop.ReasonMaxDuration)
		case limit > 0 && now.Sub(later(acted, live.Started)) >= limit:
			live.End(desktop.ReasonIdle)
		case !desktop.StillAutomates(rules, live):
			live.End(desktop.ReasonRemoved)
		case x.life.unused(now):
			live.End(desktop.ReasonViewer)
		case !held.IsZero() && now.Sub(held) >= holdLimit:
			_ = x.LetGo() // a failure ends the session
		}
	}
}

// hangUp ends the connection. A write under way holds up the last keys only for a moment.
func (x *Screen) hangUp() {
	x.conn.hurry()
	x.input.mu.Lock()
	defer x.input.mu.Unlock()
	x.conn.hangUp(x.input.release()...)
}

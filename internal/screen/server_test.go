package screen_test

import (
	"context"
	"encoding/binary"
	"errors"
	"image"
	"image/color"
	"image/draw"
	"io"
	"net"
	"net/netip"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/desktop"
	"github.com/gatehouse-proxy/gatehouse/internal/rfb"
	"github.com/gatehouse-proxy/gatehouse/internal/screen"
	"github.com/gatehouse-proxy/gatehouse/internal/testkit/vncrelaytest"
)

var viewer = netip.MustParseAddrPort("192.0.2.7:4000")

// lab is a gateway with the workstation "one", which a server of the test plays.
type lab struct {
	*vncrelaytest.Gateway
	t       testing.TB
	server  *server
	several bool // each connection is to a server of its own
	real    bool // the clock is not that of a bubble
	dials   atomic.Int32
	screens *screen.Screens
}

func newLab(t testing.TB, change func(p *desktop.Policy)) *lab {
	t.Helper()
	p := desktop.Policy{Session: desktop.SessionRules{Automation: desktop.AutomationControl}}
	if change != nil {
		change(&p)
	}
	l := &lab{Gateway: vncrelaytest.New(t, vncrelaytest.Options{Policy: p, Tenants: []string{"acme"}}), t: t, server: newServer(640, 400)}
	l.screens = screen.New(func(context.Context, *desktop.Pass) (net.Conn, error) {
		ours, its := net.Pipe()
		server := l.server
		if l.several {
			server = newServer(640, 400)
		}
		l.dials.Add(1)
		go server.serve(its)
		return ours, nil
	})
	t.Cleanup(func() {
		l.State.EndAll(desktop.ReasonShutdown)
		if _, test := t.(*testing.T); test && !l.real {
			time.Sleep(5 * time.Second) // changes of a workstation that met may wait for each other
		}
	})
	return l
}

// open is a call of a key.
func (l *lab) open(key string) (*screen.Screen, error) {
	return l.screens.Open(l.t.Context(), screen.Who{
		Gateway: l, Issuer: desktop.Issuer{Tenant: "default", Key: key, KeyHash: "5e1f"}, Workstation: "one", Client: viewer, Control: true,
	})
}

func (l *lab) mustOpen() *screen.Screen {
	l.t.Helper()
	x, err := l.open("agent")
	if err != nil {
		l.t.Fatal(err)
	}
	return x
}

func (l *lab) look(x *screen.Screen, want screen.Want) screen.Shot {
	l.t.Helper()
	ctx, cancel := context.WithCancel(l.t.Context())
	defer cancel()
	shot, err := x.Look(ctx, want)
	if err != nil {
		l.t.Fatal(err)
	}
	return shot
}

// wantClosed waits for the end of the only session, after which nothing is left.
func (l *lab) wantClosed(reason desktop.Reason) {
	l.t.Helper()
	<-l.Left
	l.WantRecord("", string(reason))
	l.wantNothingLeft()
}

func (l *lab) wantNothingLeft() {
	l.t.Helper()
	synctest.Wait() // the last steps after the record
	if used, _ := l.screens.Memory(); used != 0 || l.State.Open() != 0 {
		l.t.Errorf("%d bytes and %d sessions are left", used, l.State.Open())
	}
}

func wantCode(t *testing.T, err error, code apierror.Code) {
	t.Helper()
	var e *apierror.Error
	if !errors.As(err, &e) || e.Code != code {
		t.Fatalf("got %v, want %s", err, code)
	}
}

// server is a VNC server of a picture, as RFC 6143 has it: it answers a request for changes when there
// are some.
type server struct {
	name  string              // of the desktop
	after func(conn net.Conn) // what it does after ServerInit; nil: it serves

	mu       sync.Mutex // guards the following
	picture  *image.RGBA
	dirty    image.Rectangle
	waits    bool
	out      chan []byte
	requests int
	input    [][]byte // keys, pointer and clipboard that came
	conn     net.Conn // the last
}

func newServer(width, height int) *server {
	s := &server{picture: image.NewRGBA(image.Rect(0, 0, width, height))}
	draw.Draw(s.picture, s.picture.Rect, image.NewUniform(color.RGBA{30, 60, 90, 255}), image.Point{}, draw.Src)
	return s
}

func (s *server) serve(conn net.Conn) {
	defer func() { _ = conn.Close() }()
	s.mu.Lock()
	s.conn = conn
	s.mu.Unlock()
	_, err := vncrelaytest.Join(vncrelaytest.DesktopNone, vncrelaytest.Conversation{"C \x01"}).Play(conn, 'S')
	if err != nil {
		return
	}
	init := rfb.Init{Name: s.name, Width: uint16(s.picture.Rect.Dx()), Height: uint16(s.picture.Rect.Dy()), Format: [16]byte{32, 24, 0, 1, 0, 255, 0, 255, 0, 255, 16, 8, 0}}
	if _, err := conn.Write(init.Append(nil)); err != nil {
		return
	}
	if s.after != nil {
		s.after(conn)
		return
	}
	out := make(chan []byte, 1000)
	s.mu.Lock()
	s.out, s.waits = out, false
	s.mu.Unlock()
	go func() {
		for p := range out {
			_, _ = conn.Write(p)
		}
	}()
	for s.message(conn) == nil {
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.out = nil
	close(out)
}

// message reads one message of the viewer.
func (s *server) message(conn net.Conn) error {
	var kind [1]byte
	if _, err := io.ReadFull(conn, kind[:]); err != nil {
		return err
	}
	size := map[byte]int{0: 19, 2: 3, 3: 9, 4: 7, 5: 5, 6: 7}[kind[0]]
	m := make([]byte, 1+size)
	m[0] = kind[0]
	if _, err := io.ReadFull(conn, m[1:]); err != nil {
		return err
	}
	more := 0
	switch m[0] {
	case 2:
		more = 4 * int(binary.BigEndian.Uint16(m[2:]))
	case 6:
		more = int(int32(binary.BigEndian.Uint32(m[4:])))
		more = max(more, -more)
	}
	body := make([]byte, more)
	if _, err := io.ReadFull(conn, body); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	switch at := func(i int) int { return int(binary.BigEndian.Uint16(m[i:])) }; m[0] {
	case 3:
		s.requests++
		s.request(m[1] == 1, image.Rect(at(2), at(4), at(2)+at(6), at(4)+at(8)))
	case 4, 5, 6:
		s.input = append(s.input, append(m, body...))
	}
	return nil
}

func (s *server) request(incremental bool, r image.Rectangle) {
	switch {
	case !incremental && s.dirty.Empty():
		s.update(r)
	case !incremental:
		s.update(r, s.dirty)
	case !s.dirty.Empty():
		s.update(s.dirty)
	default:
		s.waits = true
	}
}

// update sends rectangles, raw.
func (s *server) update(all ...image.Rectangle) {
	p := []byte{0, 0, 0, byte(len(all))}
	for _, r := range all {
		for _, n := range []int{r.Min.X, r.Min.Y, r.Dx(), r.Dy()} {
			p = binary.BigEndian.AppendUint16(p, uint16(n))
		}
		p = append(p, 0, 0, 0, 0)
		for y := r.Min.Y; y < r.Max.Y; y++ {
			p = append(p, s.picture.Pix[s.picture.PixOffset(r.Min.X, y):][:4*r.Dx()]...)
		}
	}
	s.dirty, s.waits = image.Rectangle{}, false
	s.out <- p
}

// paint changes the picture.
func (s *server) paint(r image.Rectangle, c color.Color) {
	s.mu.Lock()
	defer s.mu.Unlock()
	draw.Draw(s.picture, r, image.NewUniform(c), image.Point{}, draw.Src)
	if s.dirty = s.dirty.Union(r); s.waits && s.out != nil {
		s.update(s.dirty)
	}
}

// resize gives the desktop another size (-223), and says so at once.
func (s *server) resize(width, height int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.picture = image.NewRGBA(image.Rect(0, 0, width, height))
	draw.Draw(s.picture, s.picture.Rect, image.NewUniform(color.RGBA{1, 2, 3, 255}), image.Point{}, draw.Src)
	p := binary.BigEndian.AppendUint16([]byte{0, 0, 0, 1, 0, 0, 0, 0}, uint16(width))
	p = binary.BigEndian.AppendUint16(p, uint16(height))
	s.out <- binary.BigEndian.AppendUint32(p, 0xFFFFFF21)
}

func (s *server) hangUp() {
	s.mu.Lock()
	defer s.mu.Unlock()
	_ = s.conn.Close()
}

func (s *server) heard() (requests int, input [][]byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.requests, s.input
}

// animate changes a pixel again and again, until the test's end.
func (s *server) animate(t testing.TB, every time.Duration) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	go func() {
		for n := uint8(0); ctx.Err() == nil; n++ {
			s.paint(image.Rect(5, 5, 6, 6), color.RGBA{n, 1, 1, 255})
			time.Sleep(every)
		}
	}()
	return cancel
}

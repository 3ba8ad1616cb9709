package screen_test

import (
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"errors"
	"fmt"
	"image"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/desktop"
	"github.com/gatehouse-proxy/gatehouse/internal/screen"
)

// heardInput is what has come to the server, as text.
func heardInput(l *lab) string {
	synctest.Wait()
	_, input := l.server.heard()
	var lines []string
	for _, m := range input {
		switch m[0] {
		case 4:
			lines = append(lines, fmt.Sprintf("key %x %d", binary.BigEndian.Uint32(m[4:]), m[1]))
		case 5:
			lines = append(lines, fmt.Sprintf("pointer %d,%d %d", binary.BigEndian.Uint16(m[2:]), binary.BigEndian.Uint16(m[4:]), m[1]))
		case 6:
			lines = append(lines, fmt.Sprintf("cut %q", m[8:]))
		}
	}
	return strings.Join(lines, "; ")
}

func must(t *testing.T, errs ...error) {
	t.Helper()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
}

func TestInputReachesTheWorkstationInOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLab(t, nil)
		x := l.mustOpen()
		defer func() { x.Release(); l.wantClosed(desktop.ReasonViewer) }()
		must(t, x.Pointer(image.Pt(10, 300), 0), x.Pointer(image.Pt(10, 300), 1), x.Pointer(image.Pt(10, 300), 0), x.Key(0xffe1, true), x.Key('A', true), x.Key('A', false), x.Key(0xffe1, false), x.Cut("a\u00e9"))
		const want = `pointer 10,300 0; pointer 10,300 1; pointer 10,300 0; key ffe1 1; key 41 1; key 41 0; key ffe1 0; cut "a\xe9"`
		if got := heardInput(l); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
		if at, buttons := x.At(); at != image.Pt(10, 300) || buttons != 0 {
			t.Errorf("the pointer is at %v, with buttons %b", at, buttons)
		}
		for _, at := range []image.Point{{640, 0}, {0, 400}, {-1, 0}} {
			wantCode(t, x.Pointer(at, 0), apierror.InvalidValue)
		}
		for key := range uint32(32) {
			must(t, x.Key(key, true))
		}
		wantCode(t, x.Key(99, true), apierror.InvalidValue)
		must(t, x.Key(5, true)) // it is down already
		wantCode(t, x.Cut(strings.Repeat("a", screen.MaxCut+1)), apierror.InvalidValue)
	})
}

func TestQEMUGetsTabForTabWithShift(t *testing.T) {
	for name, want := range map[string]string{
		"QEMU (desk1)": "key ffe1 1; key ff09 1; key ff09 0; key ffe1 0", "x11vnc": "key ffe1 1; key fe20 1; key fe20 0; key ffe1 0",
	} {
		synctest.Test(t, func(t *testing.T) {
			l := newLab(t, nil)
			l.server.name = name
			x := l.mustOpen()
			defer func() { x.Release(); l.wantClosed(desktop.ReasonViewer) }()
			must(t, x.Key(0xffe1, true), x.Key(0xfe20, true), x.Key(0xfe20, false), x.Key(0xffe1, false))
			if got := heardInput(l); got != want {
				t.Errorf("%s: %s, want %s", name, got, want)
			}
		})
	}
}

// A key that stays down types for ever.
func TestWhatIsHeldComesUp(t *testing.T) {
	const begin = "pointer 7,9 1; key ffe3 1; "
	for name, c := range map[string]struct {
		end   func(l *lab, x *screen.Screen)
		after time.Duration
		want  string
	}{
		"at once":          {func(_ *lab, x *screen.Screen) { must(t, x.LetGo(), x.LetGo()) }, 0, begin + "key ffe3 0; pointer 7,9 0"},
		"a button in time": {func(*lab, *screen.Screen) {}, 11 * time.Second, begin + "key ffe3 0; pointer 7,9 0"},
		"not too early":    {func(*lab, *screen.Screen) {}, 9 * time.Second, strings.TrimSuffix(begin, "; ")},
		"by an end":        {func(l *lab, _ *screen.Screen) { l.State.EndAll(desktop.ReasonEnded) }, 0, begin + "key ffe3 0; pointer 7,9 0"},
		"by a person":      {func(l *lab, _ *screen.Screen) { l.person().Input.Press() }, 0, begin + "key ffe3 0; pointer 7,9 0"},
	} {
		synctest.Test(t, func(t *testing.T) {
			l := newLab(t, nil)
			x := l.mustOpen()
			defer x.Release()
			must(t, x.Pointer(image.Pt(7, 9), 1), x.Key(0xffe3, true))
			c.end(l, x)
			time.Sleep(c.after)
			if got := heardInput(l); got != c.want {
				t.Errorf("%s: %s", name, got)
			}
		})
	}
}

// person joins beside the agent.
func (l *lab) person() *desktop.Session {
	l.t.Helper()
	return l.JoinAs(l.Issue(desktop.Options{}), "192.0.2.1:4711")
}

func TestAPersonWhoTypesTakesTheDesktopFromAnAgent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLab(t, nil)
		x := l.mustOpen()
		defer x.Release()
		must(t, x.Key('a', true))
		person := l.person()
		waits := make(chan error, 1)
		go func() {
			_, err := x.Look(t.Context(), screen.Want{Wait: 30 * time.Second})
			waits <- err
		}()
		time.Sleep(time.Second)
		person.Input.Press()
		wantCode(t, x.Key('b', true), apierror.Code("control_held"))
		_, err := x.Look(t.Context(), screen.Want{})
		wantCode(t, err, apierror.Code("control_held"))
		pressed := time.Now()
		wantCode(t, <-waits, apierror.Code("control_held")) // not what the person types now
		if took := time.Since(pressed); took > time.Second {
			t.Errorf("the call under way ended after %v", took)
		}
		if got := heardInput(l); got != "key 61 1; key 61 0" {
			t.Errorf("%s", got)
		}
		person.Leave()
		must(t, x.Key('b', true))
	})
}

func TestTheClipboardIsKeptByItsRule(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLab(t, func(p *desktop.Policy) { p.Session.NoClipboardIn = true })
		x := l.mustOpen()
		defer x.Release()
		wantCode(t, x.Cut("a"), apierror.AutomationOff)
	})
}

// Texts beyond Latin-1 go by the extended clipboard: at once, or when the workstation asks.
func TestTextsOfAllLanguagesReachAnExtendedClipboard(t *testing.T) {
	const text, caps, request, notify, provide = "naïve 日本\nx", 1<<24 | 0x1f<<24 | 1, 1<<25 | 1, 1<<27 | 1, 1<<28 | 1
	for _, size := range []uint32{0, 1000} {
		synctest.Test(t, func(t *testing.T) {
			l := newLab(t, nil)
			x := l.mustOpen()
			defer x.Release()
			wantCode(t, x.Cut(text), apierror.InvalidValue) // it has not said that it knows it
			l.server.say(extended(caps, binary.BigEndian.AppendUint32(nil, size)))
			synctest.Wait()
			must(t, x.Cut(text))
			synctest.Wait()
			if size == 0 {
				if got := l.server.flags(-1); got != notify {
					t.Errorf("%x", got)
				}
				l.server.say(extended(request, nil))
				synctest.Wait()
			}
			if got := l.server.flags(0); got&(1<<24) == 0 {
				t.Errorf("caps %x", got)
			}
			if got := l.server.flags(-1); got != provide {
				t.Errorf("%x", got)
			}
			_, input := l.server.heard()
			z, err := zlib.NewReader(bytes.NewReader(input[len(input)-1][12:]))
			must(t, err)
			got, err := io.ReadAll(z)
			if err != io.ErrUnexpectedEOF {
				t.Errorf("the stream ends with %v; libvncserver takes none that ends", err)
			}
			if want := strings.ReplaceAll(text, "\n", "\r\n") + "\x00"; string(got[4:]) != want || binary.BigEndian.Uint32(got) != uint32(len(want)) {
				t.Errorf("%q", got)
			}
		})
	}
}

// extended is a message of the extended clipboard from the server.
func extended(flags uint32, body []byte) []byte {
	p := binary.BigEndian.AppendUint32([]byte{3, 0, 0, 0}, uint32(-int32(4+len(body))))
	return append(binary.BigEndian.AppendUint32(p, flags), body...)
}

func (s *server) say(p []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.out <- p
}

// flags are those of a message of the extended clipboard that came; -1: of the last.
func (s *server) flags(i int) uint32 {
	_, input := s.heard()
	if i < 0 {
		i += len(input)
	}
	return binary.BigEndian.Uint32(input[i][8:])
}

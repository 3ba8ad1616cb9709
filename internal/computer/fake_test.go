package computer

import (
	"context"
	"errors"
	"fmt"
	"image"
	"slices"
	"strings"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/screen"
)

// fake is a desktop with a text field that has the keyboard. It takes keysyms as one of two kinds of
// server does.
type fake struct {
	layout bool // as QEMU does: a key of a US layout, and whether Shift is held; otherwise as X servers do

	size    image.Point
	at      image.Point
	buttons uint8
	down    []uint32 // keys
	field   string
	clip    string

	log   []string
	began time.Time
	took  []time.Duration // when each event came

	fail struct {
		event int // that fails, counted from 1; 0: none
		panic bool
	}
	gone  chan struct{}
	want  screen.Want
	acted [2]int
}

func newFake() *fake {
	return &fake{size: image.Pt(1280, 720), began: time.Now(), gone: make(chan struct{})}
}

var errHeld = &apierror.Error{Code: apierror.WorkstationOccupied, Message: "held", Details: []byte(`{"holder":"human"}`)}

// event notes one, and fails if it is to.
func (f *fake) event(format string, args ...any) error {
	if err := f.check(); err != nil {
		return err
	}
	if len(f.log)+1 == f.fail.event {
		f.fail.event = 0
		if f.fail.panic {
			panic("the desktop is broken")
		}
		return errHeld
	}
	f.log = append(f.log, fmt.Sprintf(format, args...))
	f.took = append(f.took, time.Since(f.began).Round(time.Millisecond))
	return nil
}

func (f *fake) Size() image.Point        { return f.size }
func (f *fake) At() (image.Point, uint8) { return f.at, f.buttons }

// check fails after the end.
func (f *fake) check() error {
	select {
	case <-f.gone:
		return errHeld
	default:
		return nil
	}
}

func (f *fake) Turn(context.Context) (check func() error, done func(int, int), err error) {
	return f.check, func(actions, typed int) { f.acted = [2]int{f.acted[0] + actions, f.acted[1] + typed} }, nil
}

func (f *fake) Pointer(at image.Point, buttons uint8) error {
	if err := f.event("%d,%d %s", at.X, at.Y, buttonNames(buttons)); err != nil {
		return err
	}
	f.at, f.buttons = at, buttons
	return nil
}

func buttonNames(buttons uint8) string {
	var names []string
	for i, name := range []string{"left", "middle", "right", "up", "down", "leftwards", "rightwards"} {
		if buttons>>i&1 != 0 {
			names = append(names, name)
		}
	}
	return strings.Join(names, "+")
}

func (f *fake) Key(keysym uint32, down bool) error {
	if err := f.event("%c%s", "-+"[btoi(down)], keyName(keysym)); err != nil {
		return err
	}
	if !down {
		f.down = slices.DeleteFunc(f.down, func(k uint32) bool { return k == keysym })
		return nil
	}
	f.down = append(f.down, keysym)
	shift := slices.Contains(f.down, keyShift) || slices.Contains(f.down, keyShiftR)
	ctrl := slices.Contains(f.down, 0xffe3)
	switch {
	case ctrl && keysym == 'v', shift && keysym == 0xff63:
		f.field += f.clip
	case ctrl, keysym >= 0xff00 && keysym < unicodeKeysym && keysym != keyReturn && keysym != keyTab:
	case keysym == keyReturn:
		f.field += "\n"
	case keysym == keyTab:
		f.field += "\t"
	case f.layout && keysym > 0x7e:
		// The layout has no such key.
	case f.layout:
		f.field += string(layoutKey(keysym, shift))
	case keysym >= unicodeKeysym:
		f.field += string(rune(keysym - unicodeKeysym))
	default: // an X server sees to it that this keysym comes out
		f.field += string(rune(keysym))
	}
	return nil
}

// layoutKey is what a US keyboard gives for the key that has a character.
func layoutKey(keysym uint32, shift bool) rune {
	key := strings.IndexByte(plain+" ", byte(keysym))
	if key < 0 {
		key = strings.IndexByte(shifted+" ", byte(keysym))
	}
	if shift {
		return rune((shifted + " ")[key])
	}
	return rune((plain + " ")[key])
}

// keyName names a key for the log.
func keyName(keysym uint32) string {
	if keysym > ' ' && keysym < 0x7f {
		return string(rune(keysym))
	}
	for _, run := range keyRuns {
		for i, key := range strings.Fields(run.names) {
			if run.first+uint32(i) == keysym {
				name, _, _ := strings.Cut(key, "/")
				return name
			}
		}
	}
	return fmt.Sprintf("%#x", keysym)
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}

func (f *fake) Cut(text string) error {
	if err := f.event("clipboard"); err != nil {
		return err
	}
	f.clip = text
	return nil
}

func (f *fake) LetGo() error {
	f.down, f.buttons = nil, 0
	return nil
}

func (f *fake) Look(_ context.Context, want screen.Want) (screen.Shot, error) {
	f.want = want
	if err := f.event("look"); err != nil {
		return screen.Shot{}, err
	}
	space := f.size
	if want.MaxWidth > 0 && want.MaxWidth < f.size.X {
		space = image.Pt(want.MaxWidth, f.size.Y*want.MaxWidth/f.size.X)
	}
	return screen.Shot{Size: f.size, Space: space, ETag: "now", Changed: want.Known != "now", Settled: true}, nil
}

// do runs a request.
func (f *fake) do(ctx context.Context, body string) (Result, error) {
	r, err := Parse([]byte(body))
	if err != nil {
		return Result{}, err
	}
	return r.Run(ctx, f)
}

// events are those of the log before the picture, with equal parts of a way left out.
func (f *fake) events() string {
	return strings.TrimSuffix(strings.Join(f.log, "; "), "; look")
}

func asRefusal(err error) *apierror.Error {
	var e *apierror.Error
	if !errors.As(err, &e) {
		return &apierror.Error{}
	}
	return e
}

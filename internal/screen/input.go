package screen

import (
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"image"
	"strings"
	"sync"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/framebuffer"
)

const (
	// holdLimit is how long a button stays down without another pointer event.
	holdLimit = 10 * time.Second
	// maxHeld bounds the keys that are down: more than a keyboard can tell apart.
	maxHeld = 32
	// MaxCut bounds the text of Cut, in bytes.
	MaxCut = 256 << 10
)

// input is what the agent holds at the workstation.
type input struct {
	mu      sync.Mutex // guards the following, and keeps events in order
	at      image.Point
	buttons uint8
	pressed time.Time // the last pointer event
	keys    map[uint32]struct{}
	last    time.Time // the last event of any kind
	qemu    bool      // set before the desktop is open
	cut     cut
}

// cut is the extended clipboard of a workstation.
type cut struct {
	caps    framebuffer.Clipboard
	offered string // what it may ask for
}

// since returns when the last input was, and since when buttons are down: the zero time if none is.
func (i *input) since() (last, held time.Time) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.buttons != 0 {
		held = i.pressed
	}
	return i.last, held
}

// release returns the events that let everything go; mu is held.
func (i *input) release() (events [][]byte) {
	for key := range i.keys {
		events = append(events, keyEvent(key, false))
	}
	clear(i.keys)
	if i.buttons != 0 {
		i.buttons = 0
		events = append(events, pointerEvent(i.at, 0))
	}
	return events
}

// Size is that of the desktop.
func (x *Screen) Size() image.Point {
	x.updates.mu.Lock()
	defer x.updates.mu.Unlock()
	return x.updates.size
}

// At is where the pointer was sent last, and which buttons are down, as Pointer has them.
func (x *Screen) At() (place image.Point, buttons uint8) {
	x.input.mu.Lock()
	defer x.input.mu.Unlock()
	return x.input.at, x.input.buttons
}

// act sends input, unless a person holds the input of the workstation: control_held.
func (x *Screen) act(event func(i *input) ([]byte, error)) error {
	var failed error
	err := x.Session().Input.Act(func() error {
		i := &x.input
		i.mu.Lock()
		defer i.mu.Unlock()
		message, err := event(i)
		if err == nil {
			i.last = time.Now()
			failed = x.conn.write(eventLimit, message)
		}
		return err
	})
	if failed != nil {
		return x.conn.fail()
	}
	if err != nil && x.Session().Why() != "" {
		return x.conn.ended()
	}
	return err
}

// Pointer moves the pointer and sets which buttons are down: bit 0 is the left one (RFC 6143, section
// 7.5.5). A button that is down comes up by itself 10 s after the last call. A place outside the desktop
// is invalid_value.
func (x *Screen) Pointer(at image.Point, buttons uint8) error {
	if size := x.Size(); !at.In(image.Rectangle{Max: size}) {
		return apierror.New(apierror.InvalidValue, "the place %d,%d is outside the desktop of %dx%d pixels", at.X, at.Y, size.X, size.Y)
	}
	return x.act(func(i *input) ([]byte, error) {
		i.at, i.buttons, i.pressed = at, buttons, time.Now()
		return pointerEvent(at, buttons), nil
	})
}

// The keysym of Tab with Shift, and that of Tab.
const leftTab, tab = 0xfe20, 0xff09

// Key presses or lets go a key by its keysym. QEMU has no key for leftTab, and takes Tab; x11vnc lets go of
// Shift for Tab.
func (x *Screen) Key(keysym uint32, down bool) error {
	if keysym == leftTab && x.input.qemu {
		keysym = tab
	}
	return x.act(func(i *input) ([]byte, error) {
		if delete(i.keys, keysym); down {
			if len(i.keys) == maxHeld {
				return nil, apierror.New(apierror.InvalidValue, "%d keys are down, and no more can be", maxHeld)
			}
			i.keys[keysym] = struct{}{}
		}
		return keyEvent(keysym, down), nil
	})
}

// LetGo has every key and button come up that is down.
func (x *Screen) LetGo() error {
	if x.input.letGo(x.conn, answerLimit) != nil {
		return x.conn.fail()
	}
	return nil
}

func (i *input) letGo(c *connection, within time.Duration) error {
	i.mu.Lock()
	defer i.mu.Unlock()
	return c.write(within, i.release()...)
}

// lost lets go before a person's first event, which waits for it.
func (i *input) lost(c *connection) {
	c.hurry()
	c.session.Recording.Mark("takeover", "")
	if i.letGo(c, lastWrite) != nil {
		go func() { _ = c.fail() }() // the session must not be called here
	}
}

// Cut sets the clipboard of the workstation. Errors: invalid_value for a text of more than MaxCut bytes,
// or one that a workstation cannot take that knows only Latin-1; automation_off where clipboard_in is off.
func (x *Screen) Cut(text string) error {
	if x.conn.session.Pass.Rules.NoClipboardIn {
		return apierror.New(apierror.AutomationOff, "a rule has clipboard_in off: nothing can be put into the clipboard of the workstation")
	}
	if len(text) > MaxCut {
		return apierror.New(apierror.InvalidValue, "the text has %d bytes; the clipboard takes %d", len(text), MaxCut)
	}
	return x.act(func(i *input) ([]byte, error) {
		if latin, ok := latin1(text); ok {
			return cutText(len(latin), latin), nil
		}
		if i.cut.caps.Flags&framebuffer.ClipboardText == 0 {
			return nil, apierror.New(apierror.InvalidValue, "the clipboard of this workstation takes Latin-1 only")
		}
		if i.cut.offered = text; len(text) <= int(i.cut.caps.MaxText) {
			return provide(text), nil
		}
		return extended(framebuffer.ClipboardNotify|framebuffer.ClipboardText, nil), nil
	})
}

// clipboard returns the answer to a message of the extended clipboard, nil if it needs none.
func (i *input) clipboard(m framebuffer.Clipboard) []byte {
	if m.Flags == 0 {
		return nil
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	switch {
	case m.Flags&framebuffer.ClipboardCaps != 0:
		i.cut.caps = m
		const ours = framebuffer.ClipboardCaps | framebuffer.ClipboardText |
			framebuffer.ClipboardRequest | framebuffer.ClipboardNotify | framebuffer.ClipboardProvide
		return extended(ours, []byte{0, 0, 0, 0}) // it sends no text unasked
	case m.Flags&framebuffer.ClipboardRequest != 0 && i.cut.offered != "":
		return provide(i.cut.offered)
	}
	return nil
}

func keyEvent(keysym uint32, down bool) []byte {
	out := []byte{4, 0, 0, 0}
	if down {
		out[1] = 1
	}
	return binary.BigEndian.AppendUint32(out, keysym)
}

func pointerEvent(at image.Point, buttons uint8) []byte {
	return []byte{5, buttons, byte(at.X >> 8), byte(at.X), byte(at.Y >> 8), byte(at.Y)}
}

// cutText is ClientCutText (RFC 6143, section 7.5.6). A length below zero is of the extended clipboard.
func cutText(length int, body []byte) []byte {
	return append(binary.BigEndian.AppendUint32([]byte{6, 0, 0, 0}, uint32(int32(length))), body...)
}

func extended(flags uint32, body []byte) []byte {
	body = append(binary.BigEndian.AppendUint32(nil, flags), body...)
	return cutText(-len(body), body)
}

// provide is the text itself, with the line ends of the extended clipboard. Its stream does not end, as
// those of viewers do not: libvncserver closes the connection at an end.
func provide(text string) []byte {
	text = strings.ReplaceAll(strings.ReplaceAll(text, "\r\n", "\n"), "\n", "\r\n") + "\x00"
	var packed bytes.Buffer
	z := zlib.NewWriter(&packed)
	_, _ = z.Write(binary.BigEndian.AppendUint32(nil, uint32(len(text)))) // a buffer has no errors
	_, _ = z.Write([]byte(text))
	_ = z.Flush()
	return extended(framebuffer.ClipboardProvide|framebuffer.ClipboardText, packed.Bytes())
}

// latin1 returns the text in Latin-1, if it can be.
func latin1(text string) (latin []byte, ok bool) {
	for _, r := range text {
		if r > 255 {
			return nil, false
		}
		latin = append(latin, byte(r))
	}
	return latin, true
}

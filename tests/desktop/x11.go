//go:build linux

package desktop

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
	"time"
)

// A small client of the X Window System, protocol version 11, little-endian, on the local socket.
// It can paint a desktop, read a screen, and act as a keyboard and a mouse. All numbers are from "X
// Window System Protocol", X Version 11, Release 6.8, appendix B; FakeInput is from "XTEST
// Extension Protocol", version 2.2.
//
//	request  opcode u8, data u8, length u16 (of all, in units of 4), …
//	reply    1, data u8, sequence u16, length u32 (beyond 32 bytes, in units of 4), …
//	error    0, code u8, sequence u16, resource u32, minor u16, major u8, …  32 bytes
//	event    2-34, detail u8, sequence u16, …                                32 bytes
const (
	opCreateWindow           = 1
	opChangeWindowAttributes = 2
	opMapWindow              = 8
	opInternAtom             = 16
	opGetProperty            = 20
	opConvertSelection       = 24
	opQueryPointer           = 38
	opGetInputFocus          = 43
	opQueryKeymap            = 44
	opOpenFont               = 45
	opCreatePixmap           = 53
	opCreateGC               = 55
	opChangeGC               = 56
	opClearArea              = 61
	opPolyFillRectangle      = 70
	opGetImage               = 73
	opImageText16            = 77
	opQueryExtension         = 98
	opGetKeyboardMapping     = 101
)

// xTimeout is how long an X server may take to answer.
const xTimeout = 10 * time.Second

// xReplyLimit is more than a screen of the largest size used here.
const xReplyLimit = 64 << 20

var le = binary.LittleEndian

// Screen is a connection to an X server. Requests may come from several goroutines; one is on the
// wire at a time.
type Screen struct {
	mu     sync.Mutex
	conn   net.Conn
	nextID uint32

	Root          uint32 // the window behind all others
	depth         byte
	width, height int
	codes         keyboard
	xtest         byte // the extension's opcode
}

// OpenScreen connects to a display and reads its constants.
func OpenScreen(number string) (*Screen, error) {
	conn, err := net.Dial("unix", "/tmp/.X11-unix/X"+number)
	if err != nil {
		return nil, err
	}
	x := &Screen{conn: conn}
	if err := x.setup(); err != nil {
		conn.Close()
		return nil, fmt.Errorf("display %s: %w", number, err)
	}
	return x, nil
}

// Close closes the connection.
func (x *Screen) Close() { x.conn.Close() }

// setup sends the byte order and version, without authorization, and reads the first screen out of
// the answer:
//
//	1, u8, major u16, minor u16, length u16, release u32, id base u32, id mask u32,
//	motion u32, vendor length u16, u16, screens u8, formats u8, … (40 bytes in all)
//	vendor, padded to 4; formats, 8 bytes each; then the screen: root u32, colormap,
//	white, black, masks u32, width u16, height u16, 12 bytes, visual u32 … depth u8 at 38
func (x *Screen) setup() error {
	_ = x.conn.SetDeadline(time.Now().Add(xTimeout))
	if _, err := x.conn.Write([]byte{'l', 0, 11, 0, 0, 0, 0, 0, 0, 0, 0, 0}); err != nil {
		return err
	}
	head := make([]byte, 8)
	if _, err := io.ReadFull(x.conn, head); err != nil {
		return err
	}
	body := make([]byte, 4*int(le.Uint16(head[6:])))
	if _, err := io.ReadFull(x.conn, body); err != nil {
		return err
	}
	if head[0] != 1 {
		return fmt.Errorf("the X server refused: %q", body)
	}
	if len(body) < 32 {
		return io.ErrUnexpectedEOF
	}
	x.nextID = le.Uint32(body[4:])
	first, last := body[26], body[27]
	skip := 32 + (int(le.Uint16(body[16:]))+3)&^3 + 8*int(body[21])
	if len(body) < skip+40 {
		return io.ErrUnexpectedEOF
	}
	screen := body[skip:]
	x.Root, x.depth = le.Uint32(screen), screen[38]
	x.width, x.height = int(le.Uint16(screen[20:])), int(le.Uint16(screen[22:]))
	return x.readKeyboard(first, last)
}

// id is a new resource id.
func (x *Screen) id() uint32 {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.nextID++
	return x.nextID
}

// request is one request: its length is filled in, its body in units of 4.
func request(opcode, data byte, body ...uint32) []byte {
	b := make([]byte, 4, 4+4*len(body))
	b[0], b[1] = opcode, data
	for _, v := range body {
		b = le.AppendUint32(b, v)
	}
	return sized(b)
}

// sized pads b to a multiple of 4 and fills in its length.
func sized(b []byte) []byte {
	for len(b)%4 != 0 {
		b = append(b, 0)
	}
	le.PutUint16(b[2:], uint16(len(b)/4))
	return b
}

// pair is two 16-bit values in one unit.
func pair(a, b int) uint32 { return uint32(uint16(a)) | uint32(uint16(b))<<16 }

// do sends requests that have no reply, and returns when the server has carried them out: a request
// with a reply follows them.
func (x *Screen) do(requests ...[]byte) error {
	var all []byte
	for _, r := range requests {
		all = append(all, r...)
	}
	_, err := x.ask(append(all, request(opGetInputFocus, 0)...))
	return err
}

// ask sends requests and returns the reply to the last one. Events are dropped: a connection that
// needs them uses event.
func (x *Screen) ask(requests []byte) ([]byte, error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	_ = x.conn.SetDeadline(time.Now().Add(xTimeout))
	if _, err := x.conn.Write(requests); err != nil {
		return nil, err
	}
	for {
		m, err := x.read()
		if err != nil || m[0] == 1 {
			return m, err
		}
	}
}

// event returns the next event, however long it takes.
func (x *Screen) event() ([]byte, error) {
	_ = x.conn.SetDeadline(time.Time{})
	return x.read()
}

var errX = errors.New("error of the X server")

func (x *Screen) read() ([]byte, error) {
	m := make([]byte, 32)
	if _, err := io.ReadFull(x.conn, m); err != nil {
		return nil, err
	}
	switch m[0] {
	case 0:
		return nil, fmt.Errorf("%w: code %d for request %d", errX, m[1], m[10])
	case 1:
		n := int64(le.Uint32(m[4:])) * 4
		if n > xReplyLimit {
			return nil, fmt.Errorf("a reply of %d bytes", n)
		}
		m = append(m, make([]byte, n)...)
		if _, err := io.ReadFull(x.conn, m[32:]); err != nil {
			return nil, err
		}
	}
	return m, nil
}

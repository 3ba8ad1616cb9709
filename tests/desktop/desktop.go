//go:build linux

// Package desktop is real desktops for tests: X servers that speak VNC, scenes of known colours on
// them, the input that arrives there, and a small X client that also reads other screens.
package desktop

import (
	"context"
	"crypto/des"
	"fmt"
	"image"
	"math/bits"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/gatehouse-proxy/gatehouse/tests/process"
)

// Title is the name of every desktop: viewers have it in the titles of their windows.
const Title = "Blue Harbour"

// Desktop is a real VNC server and what its user would see: the picture on it, and the input that
// arrives.
type Desktop struct {
	*Display
	server   *Program // of the display; x11vnc is a separate program
	Name     string   // of the workstation
	Port     int
	Password string

	painter *Screen
	picture *wallpaper
	Shown   Scene

	listener *Screen
	mu       sync.Mutex // guards the following
	keys     []uint32   // symbols, in order
	clicks   []image.Point
	pointer  image.Point
}

// StartXvnc starts Xtigervnc as docs/vnc.md describes, with its files in dir.
func StartXvnc(dir, program, name string) (*Desktop, error) {
	d, file, err := newDesktop(dir, name)
	if err != nil {
		return nil, err
	}
	d.Display, err = StartDisplay(dir, program,
		"-geometry", fmt.Sprintf("%dx%d", Width, Height), "-depth", "24", "-FrameRate", "30",
		"-rfbport", fmt.Sprint(d.Port), "-localhost", "-SecurityTypes", "VncAuth", "-PasswordFile", file,
		"-AcceptSetDesktopSize=0", "-desktop", Title)
	if err != nil {
		return nil, err
	}
	d.server = d.Program
	return d, d.prepare()
}

// StartX11vnc starts x11vnc, which is built on libvncserver, with its own screen.
func StartX11vnc(ctx context.Context, dir, program, xvfb, name string) (*Desktop, error) {
	dir = filepath.Join(dir, "x11vnc")
	if err := os.Mkdir(dir, 0o700); err != nil {
		return nil, err
	}
	d, file, err := newDesktop(dir, name)
	if err != nil {
		return nil, err
	}
	d.Display, err = StartDisplay(dir, xvfb, "-screen", "0", fmt.Sprintf("%dx%dx24", Width, Height))
	if err != nil {
		return nil, err
	}
	// Without -rfbportv6 it also listens on [::1]:5900, the port of the gateway.
	cmd := exec.Command(program, "-display", ":"+d.Number, "-rfbport", fmt.Sprint(d.Port), "-rfbportv6", "-1", "-localhost",
		"-norc", "-rfbauth", file, "-forever", "-shared", "-desktop", Title)
	if d.server, err = StartProgram(cmd, filepath.Join(dir, "x11vnc.log")); err == nil {
		const timeout = 20 * time.Second
		err = process.Eventually(ctx, timeout, func() error { return d.server.Says(fmt.Sprint("PORT=", d.Port)) }) // it listens
	}
	if err != nil {
		d.Stop()
		return nil, err
	}
	return d, d.prepare()
}

// newDesktop chooses a port, and a password that it writes to a file.
func newDesktop(dir, name string) (d *Desktop, file string, err error) {
	ports, err := process.FreePorts(1)
	if err != nil {
		return nil, "", err
	}
	d = &Desktop{Name: name, Port: ports[0], Password: process.Secret()[:8]} // VncAuth takes 8
	obscured, err := passwordFile(d.Password)
	if err != nil {
		return nil, "", err
	}
	file = filepath.Join(dir, "vncpasswd")
	return d, file, os.WriteFile(file, obscured, 0o600)
}

// prepare paints the picture and listens. A desktop that cannot is stopped.
func (d *Desktop) prepare() (err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("preparing the desktop: %w", err)
			d.Stop()
		}
	}()
	if d.painter, err = OpenScreen(d.Number); err != nil {
		return err
	}
	if d.picture, err = newWallpaper(d.painter, d.painter.Root); err != nil {
		return err
	}
	if err := d.Paint(Chequer()); err != nil {
		return err
	}
	if d.listener, err = OpenScreen(d.Number); err != nil {
		return err
	}
	if err := d.listener.selectInput(keyPressMask | buttonPressMask | motionMask); err != nil {
		return err
	}
	go d.listen() // ends with the X server
	return nil
}

// Paint shows s. It draws only areas that changed.
func (d *Desktop) Paint(s Scene) error {
	for i, a := range s {
		if i < len(d.Shown) && d.Shown[i] == a {
			continue
		}
		if err := d.picture.paint(a); err != nil {
			return err
		}
	}
	d.Shown = s
	return nil
}

// listen records the input. Key, button and motion events have the same layout:
//
//	kind u8, detail u8, … 18, x of the root i16, y i16, …
func (d *Desktop) listen() {
	for {
		e, err := d.listener.event()
		if err != nil {
			return
		}
		d.mu.Lock()
		d.pointer = image.Pt(int(int16(le.Uint16(e[20:]))), int(int16(le.Uint16(e[22:]))))
		switch e[0] {
		case keyPress:
			d.keys = append(d.keys, d.listener.codes.symbol(e[1]))
		case buttonPress:
			d.clicks = append(d.clicks, d.pointer)
		}
		d.mu.Unlock()
	}
}

// Forget drops the recorded input.
func (d *Desktop) Forget() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.keys, d.clicks, d.pointer = nil, nil, image.Pt(-1, -1)
}

// Typed is the text of the keys that have arrived.
func (d *Desktop) Typed() string {
	d.mu.Lock()
	defer d.mu.Unlock()
	var text strings.Builder
	for _, sym := range d.keys {
		if sym > 0xff {
			fmt.Fprintf(&text, "<%#x>", sym)
			continue
		}
		text.WriteRune(rune(sym))
	}
	return text.String()
}

// Clicked is the clicks that have arrived, and where the pointer is.
func (d *Desktop) Clicked() (clicks []image.Point, pointer image.Point) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return append(clicks, d.clicks...), d.pointer
}

// Held are the keys and the buttons that are down on the desktop, "" if there are none.
func (d *Desktop) Held() (string, error) { return d.painter.held() }

// Stop ends the server and the display.
func (d *Desktop) Stop() {
	if d.server != nil && d.server != d.Program {
		d.server.Stop()
	}
	d.Display.Stop()
	for _, x := range []*Screen{d.painter, d.listener} {
		if x != nil {
			x.Close()
		}
	}
}

// passwordFile is a password as vncpasswd writes it: encrypted with a public key whose bytes have
// their bits in reverse.
func passwordFile(password string) ([]byte, error) {
	key := [des.BlockSize]byte{23, 82, 107, 6, 35, 78, 88, 7}
	for i := range key {
		key[i] = bits.Reverse8(key[i])
	}
	block, err := des.NewCipher(key[:])
	if err != nil {
		return nil, err
	}
	file := make([]byte, des.BlockSize)
	copy(file, password)
	block.Encrypt(file, file)
	return file, nil
}

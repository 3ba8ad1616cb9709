//go:build linux

package main

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

// desktopName is in the titles of viewers.
const desktopName = "Blue Harbour"

// desktop is a real VNC server and what its user would see: the picture on it, and the input that
// arrives.
type desktop struct {
	*display
	server   *program // of the display; x11vnc is a separate program
	name     string   // of the workstation
	port     int
	password string

	painter *xConn
	picture *wallpaper
	shown   scene

	listener *xConn
	mu       sync.Mutex // guards the following
	keys     []uint32   // symbols, in order
	clicks   []image.Point
	pointer  image.Point
}

// startDesktop starts Xtigervnc as docs/vnc.md describes.
func startDesktop(dir, program string) (*desktop, error) {
	d, file, err := newDesktop(dir, workstation)
	if err != nil {
		return nil, err
	}
	d.display, err = startDisplay(dir, program,
		"-geometry", fmt.Sprintf("%dx%d", desktopWidth, desktopHeight), "-depth", "24", "-FrameRate", "30",
		"-rfbport", fmt.Sprint(d.port), "-localhost", "-SecurityTypes", "VncAuth", "-PasswordFile", file,
		"-AcceptSetDesktopSize=0", "-desktop", desktopName)
	if err != nil {
		return nil, err
	}
	d.server = d.program
	return d, d.prepare()
}

// startX11vnc starts x11vnc, which is built on libvncserver, with its own screen.
func startX11vnc(ctx context.Context, dir, program, xvfb string) (*desktop, error) {
	dir = filepath.Join(dir, "x11vnc")
	if err := os.Mkdir(dir, 0o700); err != nil {
		return nil, err
	}
	d, file, err := newDesktop(dir, x11vncWorkstation)
	if err != nil {
		return nil, err
	}
	d.display, err = startDisplay(dir, xvfb, "-screen", "0", fmt.Sprintf("%dx%dx24", desktopWidth, desktopHeight))
	if err != nil {
		return nil, err
	}
	// Without -rfbportv6 it also listens on [::1]:5900, the port of the gateway.
	cmd := exec.Command(program, "-display", ":"+d.number, "-rfbport", fmt.Sprint(d.port), "-rfbportv6", "-1", "-localhost",
		"-norc", "-rfbauth", file, "-forever", "-shared", "-desktop", desktopName)
	if d.server, err = start(cmd, filepath.Join(dir, "x11vnc.log")); err == nil {
		const timeout = 20 * time.Second
		err = process.Eventually(ctx, timeout, func() error { return d.server.says(fmt.Sprint("PORT=", d.port)) }) // it listens
	}
	if err != nil {
		d.stop()
		return nil, err
	}
	return d, d.prepare()
}

// newDesktop chooses a port, and a password that it writes to a file.
func newDesktop(dir, name string) (d *desktop, file string, err error) {
	ports, err := process.FreePorts(1)
	if err != nil {
		return nil, "", err
	}
	d = &desktop{name: name, port: ports[0], password: process.Secret()[:8]} // VncAuth takes 8
	obscured, err := passwordFile(d.password)
	if err != nil {
		return nil, "", err
	}
	file = filepath.Join(dir, "vncpasswd")
	return d, file, os.WriteFile(file, obscured, 0o600)
}

// prepare paints the picture and listens. A desktop that cannot is stopped.
func (d *desktop) prepare() (err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("preparing the desktop: %w", err)
			d.stop()
		}
	}()
	if d.painter, err = openX(d.number); err != nil {
		return err
	}
	if d.picture, err = newWallpaper(d.painter); err != nil {
		return err
	}
	if err := d.paint(chequer()); err != nil {
		return err
	}
	if d.listener, err = openX(d.number); err != nil {
		return err
	}
	if err := d.listener.selectInput(keyPressMask | buttonPressMask | motionMask); err != nil {
		return err
	}
	go d.listen() // ends with the X server
	return nil
}

// paint shows s. It draws only areas that changed.
func (d *desktop) paint(s scene) error {
	for i, a := range s {
		if i < len(d.shown) && d.shown[i] == a {
			continue
		}
		if err := d.picture.paint(a); err != nil {
			return err
		}
	}
	d.shown = s
	return nil
}

// listen records the input. Key, button and motion events have the same layout:
//
//	kind u8, detail u8, … 18, x of the root i16, y i16, …
func (d *desktop) listen() {
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

// forget drops the recorded input.
func (d *desktop) forget() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.keys, d.clicks, d.pointer = nil, nil, image.Pt(-1, -1)
}

// typed is the text of the keys that have arrived.
func (d *desktop) typed() string {
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

// clicked is the clicks that have arrived, and where the pointer is.
func (d *desktop) clicked() (clicks []image.Point, pointer image.Point) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return append(clicks, d.clicks...), d.pointer
}

func (d *desktop) stop() {
	if d.server != nil && d.server != d.program {
		d.server.Stop()
	}
	d.display.Stop()
	for _, x := range []*xConn{d.painter, d.listener} {
		if x != nil {
			x.close()
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

//go:build linux

package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"image"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"github.com/gatehouse-proxy/gatehouse/tests/desktop"
	"github.com/gatehouse-proxy/gatehouse/tests/process"
)

// startTimeout is how long a server may take to listen; a virtual machine boots meanwhile.
const startTimeout = 30 * time.Second

// server is a VNC server with something on its desktop.
type server struct {
	name     string // of the workstation too
	port     int
	password string

	form    *desktop.Form // nil where X programs do not run
	crowded bool          // many desktops are opened there
	resized string        // the number of a display that can have another size
	started []stopper     // in the order of their start
	picture func() (*image.RGBA, error)
	typed   func() string // where there is no form: all text that has arrived
	paste   string        // the texts that its clipboard takes: "all", "ascii" or "" for none
	log     func() string // where there is no form: what has arrived
	leftTab string        // Tab with Shift there

	sideways bool // it has a wheel to the left and right
	addsKeys bool // for characters that its keyboard lacks
	says     func(text string) error
}

type stopper interface{ Stop() }

func (s *server) stop() {
	if s.form != nil {
		s.form.Close()
	}
	for i := len(s.started) - 1; i >= 0; i-- {
		s.started[i].Stop()
	}
}

// servers are all tested ones.
var servers = []struct {
	name  string
	start func(programs, context.Context, string) (*server, error)
}{
	{"xtigervnc", programs.xtigervnc},
	{"x11vnc", programs.x11vncServer},
	{"qemu", programs.qemuMachine},
	{"libvncserver", programs.libvncserver},
	{"wayvnc", programs.wayvncServer},
}

// withForm is a server of an X display.
func withForm(name string, d *desktop.Desktop, paste string) (*server, error) {
	s := &server{name: name, port: d.Port, password: d.Password, started: []stopper{d}, paste: paste}
	return s, s.showForm(d.Number)
}

// showForm returns when the form is on the display.
func (s *server) showForm(number string) (err error) {
	if s.form, err = desktop.OpenForm(number); err != nil {
		s.stop()
		return err
	}
	s.picture = s.form.Picture
	return nil
}

func (p programs) xtigervnc(_ context.Context, dir string) (*server, error) {
	d, err := desktop.StartXvnc(dir, p.xvnc, "xtigervnc")
	if err != nil {
		return nil, err
	}
	s, err := withForm("xtigervnc", d, "all")
	if err == nil {
		s.resized, s.crowded, s.sideways, s.addsKeys = d.Number, true, true, true
	}
	return s, err
}

func (p programs) x11vncServer(ctx context.Context, dir string) (*server, error) {
	d, err := desktop.StartX11vnc(ctx, dir, p.x11vnc, p.xvfb, "x11vnc")
	if err != nil {
		return nil, err
	}
	s, err := withForm("x11vnc", d, "")
	if err == nil {
		s.addsKeys = true
	}
	return s, err
}

// qemuMachine is a virtual machine without an operating system and without KVM.
func (p programs) qemuMachine(ctx context.Context, dir string) (*server, error) {
	s := &server{name: "qemu"}
	disk, serial := filepath.Join(dir, "boot.img"), filepath.Join(dir, "serial")
	const display = 5900 // the number of a display counts from there
	if err := os.WriteFile(disk, bootSector(), 0o600); err != nil {
		return nil, err
	}
	err := s.run(ctx, dir, func(port int) *exec.Cmd {
		return exec.Command(p.qemu, "-nodefaults", "-accel", "tcg", "-m", "16", "-vga", "std", "-nic", "none", "-display", "none",
			"-drive", "format=raw,if=floppy,file="+disk, "-boot", "a", "-serial", "file:"+serial,
			"-vnc", fmt.Sprintf("127.0.0.1:%d", port-display), "-k", "en-us")
	})
	if err != nil {
		return nil, err
	}
	const ready = ">"
	read := func() string {
		text, _ := os.ReadFile(serial) // not there yet: nothing
		return string(text)
	}
	s.typed = func() string { return strings.TrimPrefix(read(), ready) }
	s.log, s.leftTab = s.typed, "\x00z" // the BIOS has no character for it
	s.picture = func() (*image.RGBA, error) {
		text := "\x00" + s.typed()
		return bootPicture(text[len(text)-1]), nil
	}
	return s, s.wait(ctx, func() error {
		if !strings.HasPrefix(read(), ready) {
			return errors.New("the virtual machine does not start its program")
		}
		return nil
	})
}

// libvncserver compiles a small program of the library.
func (p programs) libvncserver(ctx context.Context, dir string) (*server, error) {
	s := &server{name: "libvncserver", paste: "all"}
	picture, program := filepath.Join(dir, "picture.ppm"), filepath.Join(dir, "libvncserver")
	img := desktop.Chequer().Picture()
	file := bytes.NewBufferString(fmt.Sprintf("P6\n%d %d\n255\n", img.Rect.Dx(), img.Rect.Dy()))
	for i := 0; i < len(img.Pix); i += 4 {
		file.Write(img.Pix[i : i+3])
	}
	if err := os.WriteFile(picture, file.Bytes(), 0o600); err != nil {
		return nil, err
	}
	if said, err := exec.Command(p.cc, "-o", program, p.source, "-lvncserver").CombinedOutput(); err != nil {
		return nil, fmt.Errorf("compiling a program of libvncserver: %w: %s", err, said)
	}
	log := func() string { return "" }
	s.picture = func() (*image.RGBA, error) { return img, nil }
	s.typed = func() string { return symbols(log()) }
	err := s.run(ctx, dir, func(port int) *exec.Cmd {
		return exec.Command(program, picture, "-rfbport", fmt.Sprint(port), "-rfbportv6", "-1", "-listen", "127.0.0.1", "-desktop", desktop.Title)
	})
	if err != nil {
		return nil, err
	}
	p0 := s.started[0].(*desktop.Program)
	log, s.says = p0.Log, p0.Says
	s.log, s.leftTab = log, "down 0xfe20"
	return s, nil
}

var keyLine = regexp.MustCompile(`(?m)^(down|up) 0x([0-9a-f]+)$`)

// symbols is the text of the keys of a log: a program of libvncserver gets symbols, not keys.
func symbols(log string) string {
	var text strings.Builder
	for _, m := range keyLine.FindAllStringSubmatch(log, -1) {
		var symbol rune
		if _, err := fmt.Sscanf(m[2], "%x", &symbol); err == nil && m[1] == "down" && symbol <= 0xff {
			text.WriteRune(symbol)
		}
	}
	return text.String()
}

// run starts a server without a login at a port of its choice, and returns when it listens.
func (s *server) run(ctx context.Context, dir string, command func(port int) *exec.Cmd) error {
	ports, err := process.FreePorts(1)
	if err != nil {
		return err
	}
	s.port = ports[0]
	p, err := desktop.StartProgram(command(s.port), filepath.Join(dir, s.name+".log"))
	if err != nil {
		return err
	}
	s.started = append(s.started, p)
	return s.wait(ctx, func() error {
		if err := listens(s.port); err != nil {
			return fmt.Errorf("%w; it has said %q", err, p.Said())
		}
		return nil
	})
}

// wait waits until the server is ready, and stops it if it is not, or if one of its programs has ended.
func (s *server) wait(ctx context.Context, ready func() error) error {
	starting, cancel := context.WithCancel(ctx)
	defer cancel()
	for _, one := range s.started {
		if p, ok := one.(*desktop.Program); ok {
			go func() {
				select {
				case <-p.Exited:
					cancel()
				case <-starting.Done():
				}
			}()
		}
	}
	err := process.Eventually(starting, startTimeout, ready)
	if err != nil {
		s.stop()
		err = fmt.Errorf("%s: %w", s.name, err)
	}
	return err
}

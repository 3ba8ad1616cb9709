package replay

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"image"
	"image/color"
	"io"
	"net"
	"sync"
	"testing"
	"testing/iotest"
	"testing/synctest"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/framebuffer"
	"github.com/gatehouse-proxy/gatehouse/internal/recording"
	"github.com/gatehouse-proxy/gatehouse/internal/rfb"
)

// tape is a recording in memory.
type tape struct {
	header recording.Header
	mu     sync.Mutex // guards frames while they are read
	frames []recording.Frame
	end    error // behind the last frame
	opened int

	growing bool          // its session is open
	long    chan struct{} // the reader that comes second waits for it at the end
}

// newTape is a recording of a native viewer, which has its pixels blue first.
func newTape(width, height uint16) *tape {
	return &tape{header: recording.Header{Workstation: "desk1", Init: rfb.Init{Width: width, Height: height, Format: blueFirst, Name: "x"}}, end: io.EOF}
}

func (r *tape) add(kind uint8, at time.Duration, data []byte) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.frames = append(r.frames, recording.Frame{Kind: kind, At: at, Data: data})
}

// server adds bytes of the workstation, in pieces that are no messages.
func (r *tape) server(at time.Duration, data []byte) {
	for len(data) > 0 {
		n := min(len(data), 1000)
		r.add(recording.KindServer, at, data[:n])
		data = data[n:]
	}
}

// fill adds an update: Raw pixels of one colour, in the format of the tape.
func (r *tape) fill(at time.Duration, area image.Rectangle, c color.RGBA) {
	data := rectangleHead(head(nil, 1), area, rfb.EncodingRaw)
	pixel := []byte{c.B, c.G, c.R, 0}
	if r.header.Init.Format == framebuffer.LiveFormat {
		pixel = []byte{c.R, c.G, c.B, 0}
	}
	r.server(at, append(data, bytes.Repeat(pixel, area.Dx()*area.Dy())...))
}

func (r *tape) open() (Reader, io.Closer, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.opened++
	return growing{&tapeReader{tape: r, waits: r.long != nil && r.opened == 2}, func() bool { return r.growing }}, io.NopCloser(nil), nil
}

type tapeReader struct {
	*tape
	read  int
	waits bool
}

func (r *tapeReader) Header() recording.Header { return r.header }

func (r *tapeReader) Next() (recording.Frame, error) {
	if r.waits && r.read == len(r.frames) {
		<-r.long
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.read == len(r.frames) {
		return recording.Frame{}, r.end
	}
	r.read++
	return r.frames[r.read-1], nil
}

// pipe is one end of a connection that a replay can hang up.
type pipe struct {
	net.Conn
	hangup sync.Once
	code   int
	reason string
}

func (p *pipe) Hangup(code int, reason string) {
	p.hangup.Do(func() {
		p.code, p.reason = code, reason
		_ = p.Close()
	})
}

// watcher is a viewer, which has its pixels red first as noVNC.
type watcher struct {
	t    *testing.T
	conn net.Conn
	in   *bufio.Reader
	end  *pipe
	done chan struct{}

	signOut context.CancelCauseFunc

	mu      sync.Mutex // guards the following, between updates
	decoder *framebuffer.Decoder
	states  []string
}

// watch begins a replay inside a bubble of synctest.
func watch(t *testing.T, r *tape) *watcher {
	t.Helper()
	near, far := net.Pipe()
	w := &watcher{t: t, conn: near, in: bufio.NewReader(near), end: &pipe{Conn: far}, done: make(chan struct{})}
	ctx, cancel := context.WithCancelCause(context.Background())
	w.signOut = cancel
	go func() {
		defer close(w.done)
		serve(ctx, w.end, r.open)
	}()
	t.Cleanup(func() { _ = near.Close(); <-w.done; cancel(nil) })
	for _, step := range []struct {
		hear int
		say  string
	}{{12, "RFB 003.008\n"}, {2, "\x01"}, {4, "\x01"}} {
		w.hear(step.hear)
		w.say([]byte(step.say))
	}
	b := w.hear(24)
	init := rfb.Init{Width: binary.BigEndian.Uint16(b), Height: binary.BigEndian.Uint16(b[2:]), Format: [16]byte(b[4:20])}
	w.hear(int(binary.BigEndian.Uint32(b[20:])))
	var err error
	if w.decoder, err = framebuffer.NewDecoder(init); err != nil {
		t.Fatal(err)
	}
	w.say(append([]byte{setPixelFormat, 0, 0, 0}, framebuffer.LiveFormat[:]...))
	encodings := []byte{setEncodings, 0, 0, 3}
	for _, e := range []int32{rfb.EncodingZRLE, rfb.EncodingSize, rfb.EncodingName} {
		encodings = binary.BigEndian.AppendUint32(encodings, uint32(e))
	}
	w.say(encodings)
	w.ask(true)
	go w.read()
	return w
}

func (w *watcher) hear(n int) []byte {
	w.t.Helper()
	b := make([]byte, n)
	if _, err := io.ReadFull(w.in, b); err != nil {
		w.t.Fatal(err)
	}
	return b
}

func (w *watcher) say(b []byte) {
	w.t.Helper()
	if _, err := w.conn.Write(b); err != nil {
		w.t.Fatal(err)
	}
}

func (w *watcher) ask(whole bool) {
	message := make([]byte, 10)
	message[0] = updateRequest
	if !whole {
		message[1] = 1
	}
	_, _ = w.conn.Write(message)
}

// read takes updates, and asks for the next, as noVNC does.
func (w *watcher) read() {
	for {
		if err := w.update(); err != nil {
			return
		}
		w.ask(false)
	}
}

// update reads an update. The decoder has no use for a name.
func (w *watcher) update() error {
	start, err := w.in.Peek(16)
	if err != nil {
		return err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	in, rectangles := w.in, binary.BigEndian.Uint16(start[2:])
	if int32(binary.BigEndian.Uint32(start[12:])) == rfb.EncodingName {
		_, _ = w.in.Discard(16)
		name := make([]byte, binary.BigEndian.Uint32(w.hear(4)))
		if _, err := io.ReadFull(w.in, name); err != nil {
			return err
		}
		w.states = append(w.states, string(name))
		in = bufio.NewReader(io.MultiReader(bytes.NewReader(head(nil, int(rectangles-1))), iotest.OneByteReader(w.in)))
	}
	_, err = w.decoder.Read(in)
	return err
}

// state is the last that the page was sent.
func (w *watcher) state() (s struct {
	At, Reached      int64
	Playing, Seeking bool
	Speed            float64
	Note             string
}) {
	w.t.Helper()
	synctest.Wait()
	w.mu.Lock()
	defer w.mu.Unlock()
	if err := json.Unmarshal([]byte(w.states[len(w.states)-1]), &s); err != nil {
		w.t.Fatal(err)
	}
	return s
}

func (w *watcher) order(text string) {
	w.t.Helper()
	w.say(append(binary.BigEndian.AppendUint32([]byte{cutText, 0, 0, 0}, uint32(len(text))), text...))
	synctest.Wait()
}

// pixel is what the viewer sees at a place.
func (w *watcher) pixel(x, y int) color.RGBA {
	synctest.Wait()
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.decoder.Picture().Image().RGBAAt(x, y)
}

// sees fails the test unless the viewer sees a colour.
func (w *watcher) sees(what string, x, y int, want color.RGBA) {
	w.t.Helper()
	if got := w.pixel(x, y); got != want {
		w.t.Errorf("%s: %v at %d,%d, want %v", what, got, x, y, want)
	}
}

var (
	red    = color.RGBA{200, 10, 20, 255}
	green  = color.RGBA{10, 200, 20, 255}
	blue   = color.RGBA{10, 20, 200, 255}
	whole  = image.Rect(0, 0, 200, 150)
	second = time.Second
)

package realtime

import (
	"context"
	"errors"
	"io"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/coder/websocket"

	"github.com/gatehouse-proxy/gatehouse/internal/wsconn"
)

const (
	// maxEvent bounds an event of the provider, in bytes: an item with all the sound that a client
	// may send at once has 20 MiB.
	maxEvent = 32 << 20
	// freeEvent is the largest event that does not count in the memory of answers.
	freeEvent = 256 << 10
	// eventWait is how long a large event waits for memory.
	eventWait = 5 * time.Second
	// closeWait bounds the close of the provider's socket.
	closeWait = time.Second
)

// Memory is that of large answers.
type Memory interface {
	// Wait takes some bytes, within a time. It reports false if there were not so many.
	Wait(ctx context.Context, n int64, within time.Duration) bool
	Give(n int64)
}

// Upstream is the WebSocket to the provider. Next is for one goroutine, the rest for any.
type Upstream struct {
	ws      *websocket.Conn
	write   time.Duration // for a message to be taken
	answers Memory
	timer   *time.Timer
	buffer  *[]byte      // of the event that Next has returned; nil while it waits
	held    int64        // of answers
	reads   atomic.Int64 // how many reads have begun or ended: it is odd while one waits
	closed  atomic.Bool
}

// Connect opens a WebSocket by a handshake. The answer of who refuses it comes with the error. A
// message must be taken within write; the memory of large events is of answers.
func Connect(ctx context.Context, handshake http.RoundTripper, write time.Duration, answers Memory) (*Upstream, *http.Response, error) {
	client := &http.Client{Transport: handshake, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	ws, resp, err := websocket.Dial(ctx, anyURL, &websocket.DialOptions{HTTPClient: client})
	if err != nil {
		return nil, resp, err
	}
	ws.SetReadLimit(maxEvent)
	u := &Upstream{ws: ws, write: write, answers: answers}
	u.timer = time.AfterFunc(wsconn.PingAfter, u.ping)
	return u, nil, nil
}

// anyURL is none that is asked: the handshake has the provider's own.
const anyURL = "ws://provider"

// ping asks a provider whether it is there, as the way to it may break without a word. What it
// answers is seen only while a read waits: nobody reads while the client is slow.
func (u *Upstream) ping() {
	before := u.reads.Load()
	ctx, cancel := context.WithTimeout(context.Background(), wsconn.PongWithin)
	defer cancel()
	waited := func() bool { return before%2 == 1 && u.reads.Load() == before }
	if u.ws.Ping(ctx) != nil && (waited() || u.closed.Load()) {
		_ = u.ws.CloseNow() // it is dead or closed
		return
	}
	u.timer.Reset(wsconn.PingAfter)
}

// errBinary is returned for a message that is no text.
var errBinary = errors.New("a binary message instead of an event")

// Next returns the next event. It is valid until the next Next.
func (u *Upstream) Next() ([]byte, error) {
	u.release()
	kind, message, err := u.reader()
	if err != nil {
		return nil, err
	}
	if kind != websocket.MessageText {
		return nil, errBinary
	}
	u.buffer = buffers.Get().(*[]byte)
	for event := (*u.buffer)[:0]; ; {
		if len(event) == cap(event) {
			if event = u.grown(event); event == nil {
				return nil, errors.New("no memory for a large event")
			}
		}
		n, err := u.read(message, event[len(event):cap(event)])
		if event = event[:len(event)+n]; err == io.EOF {
			return event, nil
		} else if err != nil {
			return nil, err
		}
	}
}

func (u *Upstream) reader() (websocket.MessageType, io.Reader, error) {
	u.reads.Add(1)
	defer u.reads.Add(1)
	return u.ws.Reader(context.Background())
}

func (u *Upstream) read(message io.Reader, p []byte) (int, error) {
	u.reads.Add(1)
	defer u.reads.Add(1)
	return message.Read(p)
}

// buffers are for most events. An idle session has none.
var buffers = sync.Pool{New: func() any { b := make([]byte, 0, 64<<10); return &b }}

// grown returns an event with room for more of it, nil if there is no memory.
func (u *Upstream) grown(event []byte) []byte {
	size := 4 * cap(event)
	if more := int64(size) - u.held; size > freeEvent {
		if !u.answers.Wait(context.Background(), more, eventWait) {
			return nil
		}
		u.held += more
	}
	return append(make([]byte, 0, size), event...)
}

func (u *Upstream) release() {
	if u.buffer != nil {
		buffers.Put(u.buffer)
		u.buffer = nil
	}
	u.answers.Give(u.held)
	u.held = 0
}

// Send sends an event. After an error the connection is closed.
func (u *Upstream) Send(event []byte) error {
	ctx, cancel := context.WithTimeout(context.Background(), u.write)
	defer cancel()
	return u.ws.Write(ctx, websocket.MessageText, event)
}

// Close ends the connection with a code, within closeWait.
func (u *Upstream) Close(code int, reason string) {
	u.closed.Store(true)
	u.timer.Stop()
	late := time.AfterFunc(closeWait, func() { _ = u.ws.CloseNow() })
	defer late.Stop()
	_ = u.ws.Close(websocket.StatusCode(code), reason) // it may be closed
}

package browser

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/coder/websocket"
)

const (
	// commandTimeout is how long a browser may take for one command, on a busy machine. One that takes
	// longer hangs: the session ends, so that no other test waits for it.
	commandTimeout = time.Minute
	// mostOfMessage bounds a message: a picture of a desktop, in base64.
	mostOfMessage = 64 << 20
)

// bidi is a session with a browser by WebDriver BiDi (W3C): commands that are answered in any order, and
// events in between.
type bidi struct {
	socket  *websocket.Conn
	timeout time.Duration // of a command
	ended   chan struct{} // closed when the connection has ended

	mu      sync.Mutex // guards the following
	last    int64
	waiting map[int64]chan bidiMessage
	tabs    map[string]func(method string, params json.RawMessage) // who gets the events, by their context
	why     error                                                  // of the end
}

// bidiMessage is what a browser sends: the result of a command, an error, or an event.
type bidiMessage struct {
	Type, Method   string
	ID             int64
	Result, Params json.RawMessage
	Error, Message string
}

// dialBiDi opens a session that hears the events.
func dialBiDi(ctx context.Context, address string, capabilities map[string]any, events ...string) (*bidi, error) {
	ctx, cancel := context.WithTimeout(ctx, commandTimeout)
	defer cancel()
	socket, _, err := websocket.Dial(ctx, address, nil)
	if err != nil {
		return nil, err
	}
	socket.SetReadLimit(mostOfMessage)
	c := &bidi{socket: socket, timeout: commandTimeout, ended: make(chan struct{}), waiting: map[int64]chan bidiMessage{}, tabs: map[string]func(string, json.RawMessage){}}
	go c.read()
	if err = c.do(ctx, "session.new", object{"capabilities": object{"alwaysMatch": capabilities}}, nil); err == nil {
		err = c.do(ctx, "session.subscribe", object{"events": events}, nil)
	}
	if err != nil {
		_ = socket.CloseNow()
	}
	return c, err
}

// object is one of JSON.
type object = map[string]any

// read hands out what comes, until the connection ends.
func (c *bidi) read() {
	defer close(c.ended)
	for {
		_, text, err := c.socket.Read(context.Background())
		var m bidiMessage
		if err == nil {
			err = json.Unmarshal(text, &m)
		}
		c.mu.Lock()
		if err != nil {
			c.why = err
			c.mu.Unlock()
			return
		}
		answer, hear := c.waiting[m.ID], c.hearer(m)
		delete(c.waiting, m.ID)
		c.mu.Unlock()
		if answer != nil {
			answer <- m // has room for it
		}
		if hear != nil {
			hear(m.Method, m.Params)
		}
	}
}

// hearer is who gets an event. The lock is held.
func (c *bidi) hearer(m bidiMessage) func(string, json.RawMessage) {
	if m.Type != "event" {
		return nil
	}
	var of struct {
		Context string
		Source  struct{ Context string } // of log.entryAdded
	}
	_ = json.Unmarshal(m.Params, &of) // else an event of no tab
	if of.Context == "" {
		of.Context = of.Source.Context
	}
	return c.tabs[of.Context]
}

// do runs a command, and decodes its result into an address that is not nil.
func (c *bidi) do(ctx context.Context, method string, params object, result any) error {
	within, cancel := context.WithTimeout(context.WithoutCancel(ctx), c.timeout)
	defer cancel()
	answer := make(chan bidiMessage, 1)
	c.mu.Lock()
	c.last++
	id := c.last
	c.waiting[id] = answer
	c.mu.Unlock()
	defer func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		delete(c.waiting, id)
	}()
	text, err := json.Marshal(object{"id": id, "method": method, "params": params})
	if err == nil {
		err = c.socket.Write(within, websocket.MessageText, text)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", method, err)
	}
	select {
	case m := <-answer:
		switch {
		case m.Type == "error":
			return fmt.Errorf("%s: %s: %s", method, m.Error, m.Message)
		case result != nil:
			return json.Unmarshal(m.Result, result)
		}
		return nil
	case <-c.ended:
		return fmt.Errorf("%s: the browser has left: %w", method, c.why)
	case <-ctx.Done():
		return fmt.Errorf("%s: %w", method, ctx.Err())
	case <-within.Done():
		_ = c.socket.CloseNow()
		return fmt.Errorf("%s: the browser hangs: no answer in %v", method, c.timeout)
	}
}

// A browser that hangs or has left fails the command that waits, and all that follow, without a wait.
func TestABrowserThatIsGoneFailsItsCommands(t *testing.T) {
	fake := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		socket, err := websocket.Accept(w, r, nil)
		for err == nil {
			var text []byte
			var asked struct {
				ID     int64
				Method string
			}
			if _, text, err = socket.Read(r.Context()); err != nil || json.Unmarshal(text, &asked) != nil {
				break
			}
			answer := object{"id": asked.ID, "type": "success", "result": object{}}
			switch asked.Method {
			case "refuse":
				answer = object{"id": asked.ID, "type": "error", "error": "no such frame", "message": "it is closed"}
			case "hang":
				continue
			case "leave":
				_ = socket.CloseNow()
			}
			text, _ = json.Marshal(answer) // of maps
			err = socket.Write(r.Context(), websocket.MessageText, text)
		}
	}))
	t.Cleanup(fake.Close)
	for _, c := range []struct {
		method, want string
		timeout      time.Duration
	}{{"hang", "hang: the browser hangs", 100 * time.Millisecond}, {"leave", "leave: the browser has left", commandTimeout}} {
		session, err := dialBiDi(t.Context(), "ws"+strings.TrimPrefix(fake.URL, "http"), object{})
		if err != nil {
			t.Fatal(err)
		}
		if err := session.do(t.Context(), "refuse", object{}, nil); err == nil || err.Error() != "refuse: no such frame: it is closed" {
			t.Errorf("a refusal is %v", err)
		}
		session.timeout = c.timeout
		if err := session.do(t.Context(), c.method, object{}, nil); err == nil || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%s: %v", c.method, err)
		}
		<-session.ended
		if err := session.do(t.Context(), "next", object{}, nil); err == nil {
			t.Errorf("after %s a command has a result", c.method)
		}
	}
}

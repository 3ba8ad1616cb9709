package responsesocket

import (
	"context"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/coder/websocket"
	"go.uber.org/zap"

	"github.com/gatehouse-proxy/gatehouse/internal/memory"
	"github.com/gatehouse-proxy/gatehouse/internal/socket"
	"github.com/gatehouse-proxy/gatehouse/internal/upload"
)

// rig is a process with connections of one configuration, whose turns the test makes.
type rig struct {
	t       *testing.T
	process *Process
	sockets *Sockets
	bodies  memory.Semaphore
	maxBody int64
	invalid atomic.Bool // the key is not valid any more
	pipes   chan net.Conn

	mu     sync.Mutex // guards the following
	bodyOf []string   // of each turn
	headOf []http.Header
	turn   Turn // nil: answers "hi"
}

// inside runs a test of a rig with a clock of its own.
func inside(t *testing.T, test func(*testing.T, *rig)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		g := newRig(t)
		test(t, g)
		g.sockets.Replaced()
		time.Sleep(2 * time.Second) // no peer takes longer
		synctest.Wait()
		if open := g.sockets.Open(); open > 0 {
			t.Errorf("%d connections are left", open)
		}
		if used, kept := g.bodies.Used(), g.process.states.used; used != 0 || kept != 0 {
			t.Errorf("%d bytes of bodies and %d of conversations are left", used, kept)
		}
	})
}

func newRig(t *testing.T) *rig {
	g := &rig{t: t, process: NewProcess(), maxBody: 1 << 20, pipes: make(chan net.Conn)}
	g.bodies.SetLimit(64 << 20)
	g.sockets = NewSockets(g.process, socket.Limits{PerKey: 3, Most: 4}, time.Now)
	server := &http.Server{Handler: g}
	go func() { _ = server.Serve(g) }()
	ctx, cancel := context.WithCancel(t.Context())
	go g.sockets.Watch(ctx)
	t.Cleanup(func() { cancel(); _ = server.Close() })
	return g
}

// Accept implements [net.Listener], and so do Close and Addr.
func (g *rig) Accept() (net.Conn, error) {
	conn, ok := <-g.pipes
	if !ok {
		return nil, net.ErrClosed
	}
	return conn, nil
}
func (g *rig) Close() error   { close(g.pipes); return nil }
func (g *rig) Addr() net.Addr { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)} }

func (g *rig) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	err := Serve(w, r, Options{
		Turn: g.serve, Key: r.Header.Get("Authorization"), Still: func() bool { return !g.invalid.Load() }, MaxBody: g.maxBody, Write: time.Minute,
		Uploads: &upload.Config{Memory: &g.bodies, Timeout: 10 * time.Second, Now: time.Now}, Logger: zap.NewNop(), Sockets: g.sockets,
	})
	if err != nil {
		http.Error(w, err.Error(), http.StatusTooManyRequests)
	}
}

// serve notes what a turn gets, and makes it.
func (g *rig) serve(w http.ResponseWriter, r *http.Request, warmUp bool) {
	body, err := io.ReadAll(r.Body)
	if err != nil || int64(len(body)) != r.ContentLength || r.Method != http.MethodPost {
		g.t.Errorf("%s, %d bytes of %d, %v", r.Method, len(body), r.ContentLength, err)
	}
	g.mu.Lock()
	g.bodyOf, g.headOf = append(g.bodyOf, string(body)), append(g.headOf, r.Header)
	turn := g.turn
	g.mu.Unlock()
	switch {
	case turn != nil:
		turn(w, r, warmUp)
	case warmUp:
		w.WriteHeader(http.StatusOK)
	default:
		say(w, "resp_"+string(rune('0'+len(g.bodyOf))), `{"type":"message","content":"hi"}`)
	}
}

// turns sets what makes the turns.
func (g *rig) turns(turn Turn) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.turn = turn
}

// say answers with a response that has these items.
func say(w http.ResponseWriter, id string, items ...string) {
	w.Header().Set("Content-Type", "text/event-stream")
	_, _ = io.WriteString(w, event("response.created", `{"type":"response.created"}`))
	for _, item := range items {
		_, _ = io.WriteString(w, event("response.output_item.done", `{"type":"response.output_item.done","item":`+item+`}`))
	}
	_, _ = io.WriteString(w, event("response.completed", `{"type":"response.completed","response":{"id":"`+id+`"}}`))
}

func event(name, data string) string { return "event: " + name + "\ndata: " + data + "\n\n" }

// client is one of the rig.
type client struct {
	*websocket.Conn
	t   *testing.T
	raw net.Conn // below the frames
}

// dial opens a connection of a key.
func (g *rig) dial(key string) *client {
	g.t.Helper()
	c, status := g.try(key)
	if c == nil {
		g.t.Fatalf("status %d", status)
	}
	return c
}

// try is dial that returns a refusal.
func (g *rig) try(key string) (*client, int) {
	g.t.Helper()
	var raw net.Conn
	transport := &http.Transport{DialContext: func(context.Context, string, string) (net.Conn, error) {
		ours, theirs := net.Pipe()
		raw = ours
		g.pipes <- theirs
		return ours, nil
	}}
	conn, resp, err := websocket.Dial(g.t.Context(), "http://gateway/v1/responses", &websocket.DialOptions{
		HTTPClient: &http.Client{Transport: transport}, HTTPHeader: http.Header{"Authorization": {key}, "Originator": {"codex_exec"}},
	})
	if err != nil {
		transport.CloseIdleConnections()
		if resp == nil {
			g.t.Fatal(err)
		}
		return nil, resp.StatusCode
	}
	conn.SetReadLimit(64 << 20)
	g.t.Cleanup(func() { _ = conn.CloseNow() })
	return &client{conn, g.t, raw}, resp.StatusCode
}

// create sends a response.create with these members.
func (c *client) create(members string) { c.send(`{"type":"response.create",` + members + `}`) }

func (c *client) send(text string) {
	c.t.Helper()
	if err := c.Write(c.t.Context(), websocket.MessageText, []byte(text)); err != nil {
		c.t.Fatal(err)
	}
}

// next is the next event.
func (c *client) next() map[string]any {
	c.t.Helper()
	kind, data, err := c.Read(c.t.Context())
	if err != nil || kind != websocket.MessageText {
		c.t.Fatal(kind, err)
	}
	var e map[string]any
	if err := json.Unmarshal(data, &e); err != nil {
		c.t.Fatalf("%v: %s", err, data)
	}
	return e
}

// until reads events up to one of these types, and returns that.
func (c *client) until(types ...string) map[string]any {
	c.t.Helper()
	for {
		if e := c.next(); slices.Contains(types, e["type"].(string)) {
			return e
		}
	}
}

// ended returns the code and the reason with which the connection ends.
func (c *client) ended() (websocket.StatusCode, string) {
	c.t.Helper()
	for {
		_, data, err := c.Read(c.t.Context())
		if err == nil {
			continue
		}
		_, reason, _ := strings.Cut(err.Error(), "reason = ")
		_ = data
		return websocket.CloseStatus(err), reason
	}
}

// wantError reads an error event.
func (c *client) wantError(status float64, code string) map[string]any {
	c.t.Helper()
	e := c.until("error")
	inner, _ := e["error"].(map[string]any)
	if e["status"] != status || inner["code"] != code {
		c.t.Errorf("%v, want %v %s", e, status, code)
	}
	return e
}

// wantBodies compares the bodies of all turns, as JSON.
func (g *rig) wantBodies(want ...string) {
	g.t.Helper()
	g.mu.Lock()
	defer g.mu.Unlock()
	if len(g.bodyOf) != len(want) {
		g.t.Fatalf("turns %q", g.bodyOf)
	}
	for i := range want {
		if got := canonical(g.t, g.bodyOf[i]); got != canonical(g.t, want[i]) {
			g.t.Errorf("turn %d: %s", i, g.bodyOf[i])
		}
	}
}

func canonical(t *testing.T, text string) string {
	t.Helper()
	var v any
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	out, _ := json.Marshal(v)
	return string(out)
}

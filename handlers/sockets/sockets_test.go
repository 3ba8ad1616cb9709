package sockets

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
	"github.com/coder/websocket"

	"github.com/gatehouse-proxy/gatehouse/internal/features/sockets"
	"github.com/gatehouse-proxy/gatehouse/internal/gateway"
	"github.com/gatehouse-proxy/gatehouse/internal/testkit/handlerstest"
)

// answer is a stream of so many pieces of text, as a provider sends it.
func answer(pieces int) string {
	var b strings.Builder
	event := func(name, rest string) {
		fmt.Fprintf(&b, "event: %s\ndata: {\"type\":\"%s\",\"sequence_number\":%d,%s}\n\n", name, name, b.Len(), rest)
	}
	const response = `"response":{"id":"resp_1","object":"response","created_at":1,"status":"%s","model":"m","output":[]%s}`
	event("response.created", fmt.Sprintf(response, "in_progress", ""))
	for range pieces {
		event("response.output_text.delta", `"item_id":"msg_1","output_index":0,"content_index":0,"delta":"word "`)
	}
	event("response.output_item.done", `"output_index":0,"item":{"type":"message","id":"msg_1","role":"assistant","status":"completed","content":[]}`)
	event("response.completed", fmt.Sprintf(response, "completed", `,"usage":{"input_tokens":1,"output_tokens":2,"total_tokens":3}`))
	return b.String()
}

// start returns the origin of a gateway that serves sockets, and the gateway.
func start(t testing.TB, provider handlerstest.RoundTrip, limits sockets.Limits) (string, *gateway.Gateway) {
	t.Helper()
	g := handlerstest.Start(t, handlerstest.Setup{Provider: provider, Features: func(c gateway.Core) []gateway.Feature {
		return []gateway.Feature{sockets.Feature(c, &limits)}
	}})
	h := handlerstest.API(t, g)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_ = h.ServeHTTP(w, r, caddyhttp.HandlerFunc(func(http.ResponseWriter, *http.Request) error { return nil }))
	}))
	t.Cleanup(server.Close)
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		defer cancel()
		g.Drain(ctx)
		g.Close()
	})
	return server.URL, g
}

func dial(t testing.TB, origin string) *websocket.Conn {
	t.Helper()
	conn, _, err := websocket.Dial(t.Context(), origin+"/v1/responses", &websocket.DialOptions{
		HTTPHeader: http.Header{"Authorization": {"Bearer " + handlerstest.SecretOf("full")}},
	})
	handlerstest.Must(t, err)
	conn.SetReadLimit(64 << 20)
	t.Cleanup(func() { _ = conn.CloseNow() })
	return conn
}

// event is what the tests read of one.
type event struct {
	Type     string
	Response struct{ Model string }
}

// turn makes a response over a socket, and returns its last event.
func turn(t testing.TB, conn *websocket.Conn, body string) (last event) {
	t.Helper()
	handlerstest.Must(t, conn.Write(t.Context(), websocket.MessageText, []byte(body)))
	for last.Type != "response.completed" {
		_, data, err := conn.Read(t.Context())
		handlerstest.Must(t, err)
		handlerstest.Must(t, json.Unmarshal(data, &last))
		if last.Type == "error" {
			t.Fatalf("%s", data)
		}
	}
	return last
}

const create = `{"type":"response.create","model":"acme/m","input":"hello"}`

// Rows of a connection have their own ids, the name of the connection and how they came; the model
// is named as it was asked.
func TestEachResponseHasARowOfItsOwn(t *testing.T) {
	origin, g := start(t, handlerstest.Answering(200, "text/event-stream", answer(2)), sockets.Limits{})
	conn := dial(t, origin)
	for range 2 {
		if last := turn(t, conn, create); last.Response.Model != "acme/m" {
			t.Errorf("%+v", last)
		}
	}
	_ = conn.Close(websocket.StatusNormalClosure, "")
	rows := handlerstest.Rows(t, g)
	if len(rows) != 2 || rows[0].RequestID == rows[1].RequestID || rows[0].ID == rows[1].ID || rows[0].Connection == "" || rows[0].Connection != rows[1].Connection {
		t.Fatalf("%+v", rows)
	}
	for _, row := range rows {
		if row.Transport != "websocket" || row.Route != "POST /v1/responses" || row.CostNano != 3000 || row.Status != 200 || !row.Stream {
			t.Errorf("%+v", row)
		}
	}
}

// A warm-up is checked as a call is, and leaves nothing.
func TestAWarmUpAsksNoProvider(t *testing.T) {
	asked := 0
	origin, g := start(t, func(*http.Request) (*http.Response, error) { asked++; return nil, io.EOF }, sockets.Limits{})
	conn := dial(t, origin)
	turn(t, conn, `{"type":"response.create","model":"acme/m","input":[],"generate":false}`)
	handlerstest.Must(t, conn.Write(t.Context(), websocket.MessageText, []byte(`{"type":"response.create","model":"acme/x","input":[],"generate":false}`)))
	_, data, err := conn.Read(t.Context())
	if err != nil || !bytes.Contains(data, []byte("model_not_found")) || asked > 0 {
		t.Errorf("%s, %v, %d calls", data, err, asked)
	}
	rows := handlerstest.Rows(t, g)
	if len(rows) != 1 || rows[0].Code != "model_not_found" || rows[0].Transport != "websocket" {
		t.Errorf("%+v", rows) // refusals have rows
	}
}

// An idle connection holds little: no request, no buffer of a message.
func TestAThousandIdleConnectionsAreSmall(t *testing.T) {
	if testing.Short() {
		t.Skip("a thousand connections")
	}
	const connections, most = 1000, 64 << 10
	origin, _ := start(t, handlerstest.Answering(200, "text/event-stream", answer(2)), sockets.Limits{Most: connections, PerKey: connections})
	clients := make([]io.Closer, 0, connections)
	turn(t, dial(t, origin), create) // what is made once is there
	before := inUse()
	for range connections - 1 {
		conn := dial(t, origin)
		turn(t, conn, create)
		clients = append(clients, closer{conn})
	}
	each := (inUse() - before) / (connections - 1) // both ends are in this process
	t.Logf("%d bytes for each connection, with its client", each)
	if each > most {
		t.Errorf("%d bytes for each connection, want at most %d", each, most)
	}
	for _, c := range clients {
		_ = c.Close()
	}
}

type closer struct{ *websocket.Conn }

func (c closer) Close() error { return c.CloseNow() }

// inUse is the memory of objects and stacks.
func inUse() int64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.GC()
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc + m.StackInuse)
}

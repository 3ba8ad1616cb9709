package faults_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/testkit/faults"
)

// patience bounds every wait of these tests; it is only spent by a failure.
const patience = 20 * time.Second

const epoch = 1_800_000_000

// start serves a provider on a loopback port and returns it with its address.
func start(t *testing.T) (p *faults.Provider, addr string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p = faults.New()
	p.Now = func() time.Time { return time.Unix(epoch, 0) }
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- p.Serve(ctx, l) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Errorf("Serve: %v", err)
		}
	})
	return p, l.Addr().String()
}

// reply is an answer as it stood on the wire.
type reply struct {
	status int
	header http.Header
	body   []byte   // without the chunk framing
	frames [][]byte // the chunks: one for each write of the provider
	err    error    // how reading the body ended, nil for a proper end
}

// dial sends one POST and leaves the answer to the caller.
func dial(t *testing.T, addr, path, body string) *net.TCPConn {
	t.Helper()
	conn, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	if err := conn.SetDeadline(time.Now().Add(patience)); err != nil {
		t.Fatal(err)
	}
	credential := "Authorization: Bearer canary-key"
	if strings.Contains(path, "/messages") {
		credential = "Anthropic-Version: 2023-06-01\r\nX-Api-Key: canary-key"
	}
	fmt.Fprintf(conn, "POST %s HTTP/1.1\r\nHost: %s\r\n%s\r\nContent-Length: %d\r\nConnection: close\r\n\r\n%s",
		path, addr, credential, len(body), body)
	return conn.(*net.TCPConn)
}

func post(t *testing.T, addr, path, body string) reply {
	t.Helper()
	raw, readErr := io.ReadAll(dial(t, addr, path, body))
	resp, err := http.ReadResponse(bufio.NewReader(bytes.NewReader(raw)), nil)
	if err != nil {
		return reply{err: fmt.Errorf("no answer: %w (%v)", err, readErr)}
	}
	out := reply{status: resp.StatusCode, header: resp.Header}
	out.body, out.err = io.ReadAll(resp.Body)
	if readErr != nil {
		out.err = readErr
	}
	if len(resp.TransferEncoding) > 0 {
		_, rest, _ := bytes.Cut(raw, []byte("\r\n\r\n"))
		out.frames = frames(rest)
	}
	return out
}

func frames(chunked []byte) (out [][]byte) {
	for {
		size, rest, ok := bytes.Cut(chunked, []byte("\r\n"))
		n, err := strconv.ParseInt(string(size), 16, 32)
		if !ok || err != nil || n == 0 || len(rest) < int(n)+2 {
			return out
		}
		out, chunked = append(out, rest[:n]), rest[n+2:]
	}
}

const (
	chatV1      = "/v1/chat/completions"
	chatRouter  = "/api/v1/chat/completions"
	respV1      = "/v1/responses"
	messagesV1  = "/v1/messages"
	helloPrompt = "hello there"
	helloText   = "You said: hello there"
)

func chatBody(model string, extra string) string {
	return fmt.Sprintf(`{"model":%q,"messages":[{"role":"user","content":%q}]%s}`, model, helloPrompt, extra)
}

func responsesBody(model string, extra string) string {
	return fmt.Sprintf(`{"model":%q,"input":%q%s}`, model, helloPrompt, extra)
}

func messagesBody(model string, extra string) string {
	return fmt.Sprintf(`{"model":%q,"max_tokens":2000,"messages":[{"role":"user","content":%q}]%s}`, model, helloPrompt, extra)
}

// wires are the three APIs that say something.
var wires = map[string]func(model, extra string) string{chatV1: chatBody, respV1: responsesBody, messagesV1: messagesBody}

const (
	streaming = `,"stream":true`
	withUsage = `,"stream":true,"stream_options":{"include_usage":true}`
)

// data returns the data of the events of a stream in lines ended by eol.
func data(body []byte, eol string) (out []string) {
	for line := range strings.SplitSeq(string(body), eol) {
		if value, ok := strings.CutPrefix(line, "data:"); ok {
			out = append(out, strings.TrimPrefix(value, " "))
		}
	}
	return out
}

// decode parses JSON with numbers kept as they are written.
func decode(t *testing.T, text []byte) map[string]any {
	t.Helper()
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.UseNumber()
	var out map[string]any
	if err := dec.Decode(&out); err != nil {
		t.Fatalf("decoding %.200q: %v", text, err)
	}
	return out
}

// at walks through objects (string) and lists (int); nil when it ends early.
func at(v any, path ...any) any {
	for _, step := range path {
		switch key := step.(type) {
		case string:
			m, _ := v.(map[string]any)
			v = m[key]
		case int:
			l, _ := v.([]any)
			if key >= len(l) {
				return nil
			}
			v = l[key]
		}
	}
	return v
}

// has reports whether the last key of path is there, be it null.
func has(v any, path ...any) bool {
	m, _ := at(v, path[:len(path)-1]...).(map[string]any)
	_, ok := m[path[len(path)-1].(string)]
	return ok
}

// chunks decodes the events of a chat stream, [DONE] left out and reported.
func chunks(t *testing.T, r reply) (out []map[string]any, done bool) {
	t.Helper()
	for _, d := range data(r.body, "\n") {
		if d == "[DONE]" {
			done = true
			continue
		}
		out = append(out, decode(t, []byte(d)))
	}
	return out, done
}

// content joins the text of the chunks.
func content(list []map[string]any) string {
	var b strings.Builder
	for _, c := range list {
		s, _ := at(c, "choices", 0, "delta", "content").(string)
		b.WriteString(s)
	}
	return b.String()
}

func finish(c map[string]any) any { return at(c, "choices", 0, "finish_reason") }

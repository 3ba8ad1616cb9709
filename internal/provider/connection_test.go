package provider_test

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/provider"
)

// serve handles connections, numbered from 1, until the test ends.
func serve(t *testing.T, connection func(n int, conn net.Conn)) (baseURL string) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	go func() {
		for n := 1; ; n++ {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			go func() {
				defer func() { _ = conn.Close() }()
				connection(n, conn)
			}()
		}
	}()
	return "http://" + listener.Addr().String() + "/v1"
}

// dialling returns a provider that is reached through net/http, as in the product.
func dialling(t *testing.T, baseURL string, adapt func(*http.Transport)) *provider.Provider {
	t.Helper()
	transport := func(keep bool) *http.Transport {
		t.Helper()
		tr := &http.Transport{DialContext: provider.ReadToEnd(new(net.Dialer).DialContext), DisableKeepAlives: !keep}
		adapt(tr)
		t.Cleanup(tr.CloseIdleConnections)
		return tr
	}
	return newProvider(t, provider.Config{Endpoints: provider.One(baseURL, ""), Transport: transport(true), Fresh: transport(false)})
}

func plain(*http.Transport) {}

// read reads a request to its end and returns its body. It returns false at the connection's end.
func read(from *bufio.Reader) (string, bool) {
	r, err := http.ReadRequest(from)
	if err != nil {
		return "", false
	}
	body, err := io.ReadAll(r.Body)
	return string(body), err == nil
}

const fine = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}"

// send sends a body with method and reads the answer to its end.
func send(t *testing.T, body *provider.Body, method func(context.Context, provider.Request) (*http.Response, error)) error {
	t.Helper()
	resp, err := method(t.Context(), provider.Request{Operation: provider.Chat, Body: body})
	if err != nil {
		return err
	}
	defer func() { _ = resp.Body.Close() }()
	if text, err := io.ReadAll(resp.Body); err != nil || resp.StatusCode != 200 || string(text) != "{}" {
		t.Errorf("answer %d %q, %v", resp.StatusCode, text, err)
	}
	return nil
}

func TestARequestWhoseKeptConnectionDiesIsSentOnceMoreOnANewOne(t *testing.T) {
	for name, text := range map[string]string{"short": `{"a":1}`, "long": long, "larger than the kernel holds": strings.Repeat(long, 150)} {
		for _, unread := range []bool{false, true} {
			got := make(chan string, 4)
			p := dialling(t, serve(t, func(n int, conn net.Conn) {
				from := bufio.NewReader(conn)
				if _, ok := read(from); ok && n < 3 {
					_, _ = io.WriteString(conn, fine)
				} else {
					return // Resend has no connection to reuse
				}
				if n == 1 && unread {
					_, _ = from.ReadByte() // of the second request
					return
				}
				if body, ok := read(from); ok {
					got <- body
				}
			}), plain)
			if err := send(t, newBody(`{}`), p.Endpoints[0].Send); err != nil {
				t.Fatal(err)
			}
			body := newBody(text)
			err := send(t, body, p.Endpoints[0].Send)
			if !errors.Is(err, provider.ErrStale) {
				t.Fatalf("%s: %v", name, err)
			}
			if !unread && <-got != text {
				t.Errorf("%s: the first attempt came in pieces", name)
			}
			if err := send(t, body, p.Endpoints[0].Resend); err != nil {
				t.Errorf("%s: sent once more: %v", name, err)
			}
		}
	}
}

// A request may have caused a new connection to fail: it is not sent again.
func TestANewConnectionThatDiesIsNotStale(t *testing.T) {
	p := dialling(t, serve(t, func(_ int, conn net.Conn) { _, _ = read(bufio.NewReader(conn)) }), plain)
	body := newBody(`{}`)
	if err := send(t, body, p.Endpoints[0].Send); err == nil || errors.Is(err, provider.ErrStale) || !body.Delivered() {
		t.Errorf("%v, delivered %v", err, body.Delivered())
	}
}

// Neither an answer that has begun nor a client that has disconnected is a reason to send again.
func TestOnlyAConnectionThatEndsWithoutAnAnswerIsStale(t *testing.T) {
	arrived := make(chan struct{})
	p := dialling(t, serve(t, func(n int, conn net.Conn) {
		from := bufio.NewReader(conn)
		_, _ = read(from)
		_, _ = io.WriteString(conn, fine)
		_, _ = read(from)
		if n == 1 {
			_, _ = io.WriteString(conn, "HTTP/1.1 200")
			return
		}
		close(arrived)
		_, _ = read(from)
	}), plain)
	if err := send(t, newBody(`{}`), p.Endpoints[0].Send); err != nil {
		t.Fatal(err)
	}
	if err := send(t, newBody(`{}`), p.Endpoints[0].Send); err == nil || errors.Is(err, provider.ErrStale) {
		t.Errorf("half a status line: %v", err)
	}
	if err := send(t, newBody(`{}`), p.Endpoints[0].Send); err != nil {
		t.Fatal(err)
	}
	ctx, leave := context.WithCancel(t.Context())
	go func() { <-arrived; leave() }()
	if _, err := p.Endpoints[0].Send(ctx, provider.Request{Operation: provider.Chat, Body: newBody(`{}`), Stream: false}); !errors.Is(err, context.Canceled) || errors.Is(err, provider.ErrStale) {
		t.Errorf("the client left: %v", err)
	}
}

// A provider refuses an upload without reading it, and closes. The kernel resets the connection,
// but the answer is still read.
func TestAnAnswerWinsOverTheUploadThatItEnds(t *testing.T) {
	p := dialling(t, serve(t, func(_ int, conn net.Conn) {
		_, _ = conn.Read(make([]byte, 1024))
		_, _ = io.WriteString(conn, "HTTP/1.1 413 Too Large\r\nConnection: close\r\nContent-Length: 5\r\n\r\nlarge")
	}), plain)
	for _, size := range []int{2, 150} {
		text := strings.Repeat(long, size)
		for range 20 {
			resp, err := p.Endpoints[0].Send(t.Context(), provider.Request{Operation: provider.Chat, Body: newBody(text), Stream: false})
			if err != nil {
				t.Fatalf("%d bytes: %v", len(text), err)
			}
			if said, err := io.ReadAll(resp.Body); err != nil || resp.StatusCode != 413 || string(said) != "large" {
				t.Fatalf("%d bytes: %d %q, %v", len(text), resp.StatusCode, said, err)
			}
			_ = resp.Body.Close()
		}
	}
}

func TestAnUploadThatWasNotReadIsNotDelivered(t *testing.T) {
	p := dialling(t, serve(t, func(_ int, conn net.Conn) { _, _ = conn.Read(make([]byte, 1024)) }), plain)
	body := newBody(strings.Repeat(long, 150))
	if err := send(t, body, p.Endpoints[0].Send); err == nil || errors.Is(err, provider.ErrStale) || body.Delivered() {
		t.Errorf("%v, delivered %v", err, body.Delivered())
	}
	dead := dialling(t, "http://127.0.0.1:1/v1", plain)
	body = newBody(`{}`)
	if err := send(t, body, dead.Endpoints[0].Send); err == nil || body.Delivered() {
		t.Errorf("%v, delivered %v", err, body.Delivered())
	}
}

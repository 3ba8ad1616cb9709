package provider_test

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httptrace"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"golang.org/x/net/http2"

	"github.com/gatehouse-proxy/gatehouse/internal/provider"
)

// overHTTP2 makes a transport speak HTTP/2, and trust what client trusts.
func overHTTP2(t *testing.T, client *tls.Config) func(*http.Transport) {
	return func(tr *http.Transport) {
		t.Helper()
		tr.TLSClientConfig = client.Clone()
		if err := http2.ConfigureTransport(tr); err != nil { //nolint:staticcheck // deprecated, but it is what Caddy's transport does
			t.Fatal(err)
		}
	}
}

// Over HTTP/2 a connection dies for all its requests, and a request can be reset alone.
func TestHTTP2(t *testing.T) {
	var connections atomic.Int32
	kill := make(chan net.Conn, 1)
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		switch first := connections.Load() == 1; {
		case first && strings.Contains(string(body), "die"):
			_ = (<-kill).Close()
			<-r.Context().Done()
		case strings.Contains(string(body), "reset"):
			panic(http.ErrAbortHandler)
		default:
			_, _ = io.WriteString(w, "{}")
		}
	}))
	server.EnableHTTP2 = true
	server.Config.ConnState = func(conn net.Conn, state http.ConnState) {
		if state == http.StateNew {
			if connections.Add(1) == 1 {
				kill <- conn
			}
		}
	}
	server.StartTLS()
	t.Cleanup(server.Close)
	p := dialling(t, server.URL, overHTTP2(t, server.Client().Transport.(*http.Transport).TLSClientConfig))
	if err := send(t, newBody(`{}`), p.Endpoints[0].Send); err != nil {
		t.Fatal(err)
	}
	body := newBody(`{"reset":1}`)
	if err := send(t, body, p.Endpoints[0].Send); err == nil || errors.Is(err, provider.ErrStale) || !body.Delivered() {
		t.Errorf("a stream that was reset: %v, delivered %v", err, body.Delivered())
	}
	body = newBody(`{"die":1}`)
	if err := send(t, body, p.Endpoints[0].Send); !errors.Is(err, provider.ErrStale) || !body.Delivered() {
		t.Fatalf("a connection that died: %v, delivered %v", err, body.Delivered())
	}
	for range 2 {
		if err := send(t, body, p.Endpoints[0].Resend); err != nil {
			t.Errorf("sent once more: %v", err)
		}
	}
	if n := connections.Load(); n != 3 {
		t.Errorf("%d connections, want a new one for each Resend", n)
	}
}

func TestAStreamThatTheProviderRefusedIsNotDelivered(t *testing.T) {
	refused := func(r *http.Request) (*http.Response, error) {
		httptrace.ContextClientTrace(r.Context()).WroteRequest(httptrace.WroteRequestInfo{})
		return nil, http2.StreamError{StreamID: 1, Code: http2.ErrCodeRefusedStream}
	}
	p := newProvider(t, provider.Config{Transport: &transport{answer: refused}})
	body := newBody(`{}`)
	if _, err := p.Endpoints[0].Send(t.Context(), provider.Request{Operation: provider.Chat, Body: body, Stream: false}); err == nil || body.Delivered() {
		t.Errorf("%v, delivered %v", err, body.Delivered())
	}
}

// A connection that has not answered yet does not count as kept, however many requests share it.
// With GOAWAY a provider names the last request that it has begun with.
func TestStreamsThatWereReceivedWholeAreNotStale(t *testing.T) {
	const streams = 8
	for name, c := range map[string]struct{ answerFirst, goAway bool }{
		"new connection":          {},
		"new connection, GOAWAY":  {goAway: true},
		"used connection, GOAWAY": {answerFirst: true, goAway: true},
	} {
		t.Run(name, func(t *testing.T) {
			server, client := certified(t)
			server.NextProtos = []string{http2.NextProtoTLS}
			p := dialling(t, serveTLS(t, server, func(_ int, conn net.Conn) { afterStreams(conn, streams, c.answerFirst, c.goAway) }), overHTTP2(t, client))
			if c.answerFirst {
				if resp, err := p.Endpoints[0].Send(t.Context(), provider.Request{Operation: provider.Chat, Body: newBody(`{}`), Stream: false}); err != nil {
					t.Fatal(err)
				} else {
					_ = resp.Body.Close()
				}
			}
			var wg sync.WaitGroup
			for range streams {
				wg.Go(func() {
					body := newBody(`{"a":1}`)
					_, err := p.Endpoints[0].Send(context.Background(), provider.Request{Operation: provider.Chat, Body: body, Stream: false})
					if err == nil || errors.Is(err, provider.ErrStale) || !body.Delivered() {
						t.Errorf("%v, delivered %v", err, body.Delivered())
					}
				})
			}
			wg.Wait()
		})
	}
}

// afterStreams ends an HTTP/2 connection as soon as it has received that many whole requests. With
// answerFirst it answers one request before.
func afterStreams(conn net.Conn, streams int, answerFirst, goAway bool) {
	if _, err := io.ReadFull(conn, make([]byte, len(http2.ClientPreface))); err != nil {
		return
	}
	framer := http2.NewFramer(conn, conn)
	_ = framer.WriteSettings()
	for last := uint32(0); streams > 0; {
		frame, err := framer.ReadFrame()
		if err != nil {
			return
		}
		switch frame := frame.(type) {
		case *http2.SettingsFrame:
			if !frame.IsAck() {
				_ = framer.WriteSettingsAck()
			}
		case *http2.DataFrame:
			if !frame.StreamEnded() {
				continue
			}
			last = max(last, frame.StreamID)
			if answerFirst {
				answerFirst = false
				const status200 = "\x88" // RFC 7541, appendix A
				_ = framer.WriteHeaders(http2.HeadersFrameParam{StreamID: last, BlockFragment: []byte(status200), EndHeaders: true, EndStream: true})
				continue
			}
			if streams--; streams == 0 && goAway {
				_ = framer.WriteGoAway(last, http2.ErrCodeNo, nil)
			}
		}
	}
}

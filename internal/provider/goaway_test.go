package provider_test

import (
	"context"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/http2"

	"github.com/gatehouse-proxy/gatehouse/internal/provider"
)

// frames serves an HTTP/2 connection by hand: whole is called for each request that has come whole.
// Pings are not answered.
func frames(conn net.Conn, whole func(f *http2.Framer, stream uint32) (proceed bool)) {
	if _, err := io.ReadFull(conn, make([]byte, len(http2.ClientPreface))); err != nil {
		return
	}
	framer := http2.NewFramer(conn, conn)
	_ = framer.WriteSettings()
	for {
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
			if frame.StreamEnded() && !whole(framer, frame.StreamID) {
				return
			}
		}
	}
}

// begin begins an answer with status 200.
func begin(f *http2.Framer, stream uint32) {
	_ = f.WriteHeaders(http2.HeadersFrameParam{StreamID: stream, BlockFragment: []byte("\x88"), EndHeaders: true}) // RFC 7541, appendix A
}

func answerWhole(f *http2.Framer, stream uint32) bool {
	begin(f, stream)
	return f.WriteData(stream, true, []byte("{}")) == nil
}

// overFrames is a provider whose n-th connection is served by a function.
func overFrames(t *testing.T, connection func(n int, conn net.Conn)) *provider.Provider {
	t.Helper()
	server, client := certified(t)
	server.NextProtos = []string{http2.NextProtoTLS}
	return dialling(t, serveTLS(t, server, connection), func(tr *http.Transport) {
		overHTTP2(t, client)(tr)
		provider.SendPings(tr)
	})
}

// GOAWAY says which requests the provider has begun with. Another is sent once more on a new connection,
// and the caller does not see it.
func TestARequestAfterGoAwayIsSentOnANewConnection(t *testing.T) {
	connections := make(chan int, 9)
	p := overFrames(t, func(n int, conn net.Conn) {
		connections <- n
		frames(conn, func(f *http2.Framer, stream uint32) bool {
			if n == 1 && stream > 1 {
				return f.WriteGoAway(1, http2.ErrCodeNo, nil) == nil
			}
			return answerWhole(f, stream)
		})
	})
	for i := range 3 {
		body := newBody(`{"a":1}`)
		if err := send(t, body, p.Endpoints[0].Send); err != nil {
			t.Errorf("request %d: %v", i, err)
		}
	}
	if n := len(connections); n != 2 {
		t.Errorf("%d connections", n)
	}
}

// A stream that is under way goes on to its end after GOAWAY; new requests have a new connection.
func TestGoAwayDuringAStreamDoesNotEndIt(t *testing.T) {
	goOn := make(chan struct{})
	p := overFrames(t, func(n int, conn net.Conn) {
		frames(conn, func(f *http2.Framer, stream uint32) bool {
			if n > 1 {
				return answerWhole(f, stream)
			}
			begin(f, stream)
			_ = f.WriteData(stream, false, []byte("data: one\n\n"))
			_ = f.WriteGoAway(stream, http2.ErrCodeNo, nil)
			<-goOn
			return f.WriteData(stream, true, []byte("data: two\n\n")) == nil
		})
	})
	resp, err := p.Endpoints[0].Send(t.Context(), provider.Request{Operation: provider.Chat, Body: newBody(`{}`), Stream: true})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	first := make([]byte, len("data: one\n\n"))
	if _, err := io.ReadFull(resp.Body, first); err != nil {
		t.Fatal(err)
	}
	if err := send(t, newBody(`{}`), p.Endpoints[0].Send); err != nil {
		t.Errorf("a request meanwhile: %v", err)
	}
	close(goOn)
	if rest, err := io.ReadAll(resp.Body); err != nil || string(rest) != "data: two\n\n" {
		t.Errorf("the rest of the stream is %q, %v", rest, err)
	}
}

// A connection whose provider is gone without a word ends for all its calls, and takes no new ones.
func TestADeadHTTP2ConnectionIsFound(t *testing.T) {
	if c := provider.Pings(); c.SendPingTimeout != 30*time.Second || c.PingTimeout != 15*time.Second {
		t.Errorf("%+v", c)
	}
	provider.SetPings(t, http.HTTP2Config{SendPingTimeout: 20 * time.Millisecond, PingTimeout: 20 * time.Millisecond})
	p := overFrames(t, func(n int, conn net.Conn) {
		frames(conn, func(f *http2.Framer, stream uint32) bool { return n == 1 || answerWhole(f, stream) })
	})
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	_, err := p.Endpoints[0].Send(ctx, provider.Request{Operation: provider.Chat, Body: newBody(`{}`)})
	if err == nil || ctx.Err() != nil || !strings.Contains(err.Error(), "connection") {
		t.Errorf("a request on it ended with %v", err)
	}
	if err := send(t, newBody(`{}`), p.Endpoints[0].Send); err != nil {
		t.Errorf("the next request: %v", err)
	}
}

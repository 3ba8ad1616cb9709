package operator

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/tests/harness"
)

// keepsConnections is the option that hands connections over to the next configuration. Without HTTP/3:
// Caddy 2.11.9 starts it while requests read whether it is there, which is a data race.
const keepsConnections = "servers {\nprotocols h1 h2\nlistener_wrappers {\ngatehouse\ntls\ngatehouse\n}\n}\n"

// hammer makes calls until stopped, and counts those without an answer: dropped by the server
// (lost), or reset by the kernel.
func hammer(h *harness.Gateway, client *http.Client, origin string, callers int) (stop func() (calls, lost, resets int64, last error)) {
	ctx, cancel := context.WithCancel(h.T.Context())
	var calls, lost, resets atomic.Int64
	var last atomic.Value
	var all sync.WaitGroup
	for range callers {
		all.Go(func() {
			for ctx.Err() == nil {
				r := h.Client.Request(origin+harness.ChatV1, "full", harness.Chat("fake/echo", ""))
				if client != h.Client.HTTP2 { // HTTP/2 says which requests were not processed
					r.GetBody = nil // so that net/http repeats none
				}
				resp, err := client.Do(r)
				if err == nil {
					_, err = io.Copy(io.Discard, resp.Body)
					_ = resp.Body.Close()
				}
				calls.Add(1)
				if errors.Is(err, syscall.ECONNRESET) {
					resets.Add(1)
				} else if err != nil {
					lost.Add(1)
					last.Store(err)
				}
			}
		})
	}
	return func() (int64, int64, int64, error) {
		cancel()
		all.Wait()
		err, _ := last.Load().(error)
		return calls.Load(), lost.Load(), resets.Load(), err
	}
}

// The kernel still resets a new connection that comes in the moment between Caddy's opening of another
// socket and its closing by the wrapper.
//
// A client that has opened its connections before a reload, and opens new ones meanwhile, gets an answer
// to every request, over HTTP/1 with and without TLS, and over HTTP/2.
func TestNoRequestIsLostByAReload(t *testing.T) {
	const reloads = 10
	keeps := harness.Setup{Global: keepsConnections, Secure: true}
	h := harness.Start(t, keeps)
	overTLS := harness.NewClient(t, nil)
	overTLS.Transport.(*http.Transport).TLSClientConfig = h.Client.HTTP2.Transport.(*http.Transport).TLSClientConfig.Clone()
	overTLS.Transport.(*http.Transport).TLSClientConfig.NextProtos = nil
	for name, c := range map[string]struct {
		client *http.Client
		origin string
		proto  string
	}{"HTTP/1": {h.Client.HTTP, h.Client.Origin, "HTTP/1.1"}, "HTTP/1 over TLS": {overTLS, h.Client.Secure, "HTTP/1.1"}, "HTTP/2": {h.Client.HTTP2, h.Client.Secure, "HTTP/2.0"}} {
		if resp, err := c.client.Do(h.Client.Request(c.origin+"/", "", "")); err != nil || resp.Proto != c.proto || resp.Body.Close() != nil {
			t.Fatalf("%s: %v, %v", name, resp, err)
		}
		stop := hammer(h, c.client, c.origin, 8)
		for range reloads {
			if err := h.Reload(keeps); err != nil {
				t.Fatal(err)
			}
		}
		calls, lost, resets, err := stop()
		if lost > 0 || resets > reloads/2 || calls == 0 {
			t.Errorf("%s: %d of %d calls have no answer, the last for %v; %d new connections were reset", name, lost, calls, err, resets)
		}
	}
	if rows := h.Records.Rows(""); len(rows) == 0 {
		t.Error("nothing is recorded")
	}
}

// The idle connection of a client goes on with the new configuration, and so does a header that has
// come in part.
func TestAConnectionGoesOnWithTheNewConfiguration(t *testing.T) {
	keeps := harness.Setup{Global: keepsConnections}
	h := harness.Start(t, keeps)
	for _, part := range []string{"", "GET /v1/models HTTP/1.1\r\nHo"} {
		conn, err := net.Dial("tcp", strings.TrimPrefix(h.Client.Origin, "http://"))
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = conn.Close() }()
		answers := bufio.NewReader(conn)
		request := "GET /v1/models HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer " + harness.Secret("full") + "\r\n\r\n"
		send := func(text string) {
			t.Helper()
			if _, err := io.WriteString(conn, text); err != nil {
				t.Fatal(err)
			}
		}
		receive := func() string {
			t.Helper()
			resp, err := http.ReadResponse(answers, nil)
			if err != nil {
				t.Fatalf("after %q: %v", part, err)
			}
			body, err := io.ReadAll(resp.Body)
			if err != nil || resp.StatusCode != 200 {
				t.Fatalf("%d %s %v", resp.StatusCode, body, err)
			}
			return string(body)
		}
		send(request)
		before := receive()
		send(part)
		if err := h.Reload(harness.Setup{Global: keepsConnections, Providers: "provider later {\nbase_url PROVIDER/v1\nmodels echo\n}\n"}); err != nil {
			t.Fatal(err)
		}
		send(request[len(part):])
		if after := receive(); !strings.Contains(after, `"later/echo"`) || strings.Contains(before, "later") {
			t.Errorf("after %q: %s", part, after)
		}
		h.Become(keeps)
	}
}

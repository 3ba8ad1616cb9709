package provider_test

import (
	"bufio"
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/provider"
)

// certified returns the TLS of a server and of a client that trusts it.
func certified(t *testing.T) (server, client *tls.Config) {
	t.Helper()
	s := httptest.NewTLSServer(nil)
	defer s.Close()
	return &tls.Config{Certificates: s.TLS.Certificates}, s.Client().Transport.(*http.Transport).TLSClientConfig
}

// serveTLS is serve over TLS.
func serveTLS(t *testing.T, config *tls.Config, connection func(n int, conn net.Conn)) (baseURL string) {
	t.Helper()
	url := serve(t, func(n int, conn net.Conn) {
		secure := tls.Server(conn, config)
		defer func() { _ = secure.Close() }()
		connection(n, secure)
	})
	return strings.Replace(url, "http://", "https://", 1)
}

// A provider that closes a kept connection does so at once. A connection that ends later was in
// use.
func TestAKeptConnectionIsStaleOnlyIfItEndsSoon(t *testing.T) {
	const timedOut = "HTTP/1.1 408 Request Timeout\r\nConnection: close\r\nContent-Length: 0\r\n\r\n"
	for name, c := range map[string]struct {
		after     time.Duration
		answer    string
		reused    bool
		stale     bool
		delivered bool
	}{
		"ends soon":                {900 * time.Millisecond, "", true, true, true},
		"works":                    {1100 * time.Millisecond, "", true, false, true},
		"says that it was idle":    {900 * time.Millisecond, timedOut, true, true, false},
		"answers 408 later":        {1100 * time.Millisecond, timedOut, true, false, false},
		"answers 408 on a new one": {0, timedOut, false, false, false},
		"answers 408 and keeps it": {0, strings.Replace(timedOut, "close", "keep-alive", 1), true, false, false},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := dialledBy(t, func(context.Context, string, string) (net.Conn, error) {
					ours, theirs := net.Pipe()
					go func() {
						defer func() { _ = theirs.Close() }()
						from := bufio.NewReader(theirs)
						if c.reused {
							_, _ = read(from)
							_, _ = io.WriteString(theirs, fine)
						}
						_, _ = read(from)
						time.Sleep(c.after) // fake time
						_, _ = io.WriteString(theirs, c.answer)
					}()
					return ours, nil
				})
				if c.reused {
					if err := send(t, newBody(`{}`), p.Endpoints[0].Send); err != nil {
						t.Fatal(err)
					}
				}
				body := newBody(`{"a":1}`)
				resp, err := p.Endpoints[0].Send(t.Context(), provider.Request{Operation: provider.Chat, Body: body, Stream: false})
				if errors.Is(err, provider.ErrStale) != c.stale || body.Delivered() != c.delivered {
					t.Errorf("%v, delivered %v", err, body.Delivered())
				}
				if answered := c.answer != "" && !c.stale; answered != (err == nil) {
					t.Fatalf("answered: %v", err)
				} else if answered {
					if resp.StatusCode != 408 {
						t.Errorf("status %d", resp.StatusCode)
					}
					_ = resp.Body.Close()
				}
			})
		})
	}
}

// A connection that goes from an answered request straight to a waiting one counts as kept too.
func TestAConnectionThatIsHandedOnIsStaleIfItEndsSoon(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tr := &http.Transport{MaxConnsPerHost: 1, DialContext: provider.ReadToEnd(func(context.Context, string, string) (net.Conn, error) {
			ours, theirs := net.Pipe()
			go func() {
				defer func() { _ = theirs.Close() }()
				from := bufio.NewReader(theirs)
				_, _ = read(from)
				time.Sleep(time.Second) // fake time: the second request waits meanwhile
				_, _ = io.WriteString(theirs, fine)
				_, _ = read(from)
			}()
			return ours, nil
		})}
		defer tr.CloseIdleConnections()
		p := newProvider(t, provider.Config{Endpoints: provider.One("http://provider.invalid/v1", ""), Transport: tr})
		first := make(chan error, 1)
		go func() { first <- send(t, newBody(`{}`), p.Endpoints[0].Send) }()
		synctest.Wait()
		if err := send(t, newBody(`{"a":1}`), p.Endpoints[0].Send); !errors.Is(err, provider.ErrStale) {
			t.Error(err)
		}
		if err := <-first; err != nil {
			t.Error(err)
		}
	})
}

// dialledBy returns a provider that is reached through net/http by a dial function.
func dialledBy(t *testing.T, dial provider.DialFunc) *provider.Provider {
	t.Helper()
	tr := &http.Transport{DialContext: provider.ReadToEnd(dial)}
	t.Cleanup(tr.CloseIdleConnections)
	return newProvider(t, provider.Config{Endpoints: provider.One("http://provider.invalid/v1", ""), Transport: tr})
}

// After a reset TLS still writes close_notify, which fails: it is not part of the request.
func TestARequestThatWasReadBeforeAResetIsDelivered(t *testing.T) {
	server, client := certified(t)
	for name, text := range map[string]string{"short": `{"a":1}`, "long": strings.Repeat(long, 4)} {
		for _, secure := range []bool{false, true} {
			reset := func(_ int, conn net.Conn) {
				_, _ = read(bufio.NewReader(conn))
				if over, ok := conn.(*tls.Conn); ok {
					conn = over.NetConn()
				}
				_ = conn.(*net.TCPConn).SetLinger(0)
				_ = conn.Close()
			}
			url := serve(t, reset)
			if secure {
				url = serveTLS(t, server, reset)
			}
			p := dialling(t, url, func(tr *http.Transport) { tr.TLSClientConfig = client.Clone() })
			for range 10 {
				body := newBody(text)
				if err := send(t, body, p.Endpoints[0].Send); err == nil || !body.Delivered() {
					t.Fatalf("%s, TLS %v: %v, delivered %v", name, secure, err, body.Delivered())
				}
			}
		}
	}
}

// If the second attempt is not received, the first one may still have been processed.
func TestWhatOneAttemptDeliveredStaysDelivered(t *testing.T) {
	dials := 0
	p := dialling(t, serve(t, func(_ int, conn net.Conn) {
		from := bufio.NewReader(conn)
		_, _ = read(from)
		_, _ = io.WriteString(conn, fine)
		_, _ = read(from)
	}), func(tr *http.Transport) {
		dial := tr.DialContext
		tr.DialContext = func(ctx context.Context, network, address string) (net.Conn, error) {
			if dials++; dials > 1 {
				return nil, errors.New("connection refused")
			}
			return dial(ctx, network, address)
		}
	})
	if err := send(t, newBody(`{}`), p.Endpoints[0].Send); err != nil {
		t.Fatal(err)
	}
	body := newBody(`{"a":1}`)
	if err := send(t, body, p.Endpoints[0].Send); !errors.Is(err, provider.ErrStale) || !body.Delivered() {
		t.Fatalf("%v, delivered %v", err, body.Delivered())
	}
	if err := send(t, body, p.Endpoints[0].Resend); err == nil || !body.Delivered() {
		t.Errorf("the second attempt: %v, delivered %v", err, body.Delivered())
	}
}

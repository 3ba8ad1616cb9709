//go:build linux

package main

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

const testKey = "sk-test-upstream"

// startTestUpstream returns the address of the bench's upstream in this process.
func startTestUpstream(t *testing.T) string {
	t.Helper()
	s := httptest.NewServer(newUpstream(testKey))
	t.Cleanup(s.Close)
	return strings.TrimPrefix(s.URL, "http://")
}

func testConn(t *testing.T, addr string) *conn {
	c := newConn(addr)
	t.Cleanup(c.close)
	return c
}

func TestUpstreamAnswersEveryCase(t *testing.T) {
	addr := startTestUpstream(t)
	direct := &server{role: direct, addr: addr, guarded: addr, secure: addr}
	for _, c := range allCases() {
		if c.wrong || c.spent {
			continue
		}
		for _, prompt := range []promptKind{codePrompt, prosePrompt} {
			if prompt == prosePrompt && c.stream {
				continue // the prompt of a stream is as short as that of req-1k
			}
			l, err := c.load(direct, newSecrets(), prompt)
			if err != nil {
				t.Fatal(err)
			}
			if c.shape == idle {
				conns := newConns(openers+1, addr)
				err = hold(t.Context(), conns, l)
				closeAll(conns)
			} else {
				_, err = l.call(t.Context(), testConn(t, addr), t0)
			}
			if err != nil {
				t.Errorf("%s, prompt %s: %v", c.name, prompt, err)
			}
		}
	}
}

func TestUpstreamSendsUsageIfAsked(t *testing.T) {
	c := testConn(t, startTestUpstream(t))
	const asked = `{"model":"up/bench-coalesced","stream":true,"messages":[],"stream_options":{"include_usage":true}}`
	a, err := c.do(t.Context(), encode("h", chatPath, "k", []byte(asked)))
	if err != nil {
		t.Fatal(err)
	}
	if err := checkChatStream(coalescedEvents+1, false)(a, 0, modelWhole); err != nil {
		t.Error(err)
	}
	if err := checkChatStream(coalescedEvents, true)(a, 0, modelWhole); err != nil {
		t.Errorf("an API that always has usage: %v", err)
	}
	if err := checkChatStream(coalescedEvents, false)(a, 0, modelWhole); err == nil {
		t.Error("a usage chunk that nobody asked for passed the check")
	}
}

func TestUpstreamRefusesWhatAProxyBroke(t *testing.T) {
	c := testConn(t, startTestUpstream(t))
	tests := []struct {
		name, path, key, body string
		want                  int
	}{
		{"renamed, with the provider's key", chatPath, testKey, `{"model":"bench"}`, http.StatusOK},
		{"renamed, with the client's key", chatPath, "sk-client", `{"model":"bench"}`, http.StatusUnauthorized},
		{"not renamed, any key", chatPath, "sk-client", `{"model":"up/bench"}`, http.StatusOK},
		{"cut", chatPath, "k", `{"model":"up/bench"`, http.StatusBadRequest},
		{"cut in the middle of a long one", chatPath, "k", `{"model":"up/bench"` + strings.Repeat(" ", 3*readSize), http.StatusBadRequest},
		{"long", chatPath, "k", `{"model":"up/bench"` + strings.Repeat(" ", 3*readSize) + `}`, http.StatusOK},
		{"exactly the buffer", chatPath, "k", `{"model":"up/bench"` + strings.Repeat(" ", readSize-20) + `}`, http.StatusOK},
		{"no model", chatPath, "k", `{}`, http.StatusBadRequest},
		{"no end of the model", chatPath, "k", `{"model":"up/bench}`, http.StatusBadRequest},
		{"empty", chatPath, "k", ``, http.StatusBadRequest},
		{"another model", chatPath, "k", `{"model":"up/other"}`, http.StatusNotFound},
		{"another path", "/v2", "k", `{"model":"up/bench"}`, http.StatusNotFound},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			a, err := c.do(t.Context(), encode("h", tt.path, tt.key, []byte(tt.body)))
			if err != nil || a.status != tt.want {
				t.Fatalf("status %d, %v; want %d (%s)", a.status, err, tt.want, a.body)
			}
			if tt.want == http.StatusOK {
				if err := checkWhole(a, len(tt.body), modelWhole); err != nil {
					t.Error(err)
				}
			}
		})
	}
}

// upstreamProcess starts the upstream as the rounds do, with a certificate that it makes for f.
func upstreamProcess(t *testing.T, f *fleet) *server {
	t.Helper()
	dir := t.TempDir()
	var err error
	if f.cert, err = newCertificate(dir); err != nil {
		t.Fatal(err)
	}
	p, addr, secure, err := startUpstream(t.Context(), dir, []string{upstreamKeyVar + "=" + testKey}, f.cert)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Stop)
	return &server{role: direct, proc: p, addr: addr, secure: secure}
}

func TestUpstreamTakesOnlyHTTP2OverTLS(t *testing.T) {
	var f fleet
	s := upstreamProcess(t, &f)
	c := benchCase{secure: true, conns: 1}.dialers(&f, s)[0]
	defer c.close()
	a, err := c.do(t.Context(), encode(s.secure, chatPath, testKey, []byte(`{"model":"bench"}`)))
	if err != nil || a.status != http.StatusHTTPVersionNotSupported {
		t.Errorf("HTTP/1.1 over TLS: status %d, %v", a.status, err)
	}
}

//go:build unix && !race

package clustertest_test

import (
	"io"
	"net/http"
	"net/url"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/gatehouse-proxy/gatehouse/tests/clustertest"
)

// browse sends a request of the console to gateway i, as a browser does that has a cookie, or none.
func (p *proof) browse(i int, method, path, cookie string, form url.Values) *http.Response {
	p.t.Helper()
	origin := p.Gateways[i].Origin
	r, err := http.NewRequestWithContext(p.t.Context(), method, origin+path, strings.NewReader(form.Encode()))
	if err != nil {
		p.t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.Header.Set("Origin", origin)
	if cookie != "" {
		r.Header.Set("Cookie", cookie)
	}
	resp, err := http.DefaultTransport.RoundTrip(r) // a redirect is an answer
	if err != nil {
		p.t.Fatal(err)
	}
	p.t.Cleanup(func() { resp.Body.Close() })
	return resp
}

// signIn signs in at gateway i and returns the cookie.
func (p *proof) signIn(i int, key string) string {
	p.t.Helper()
	resp := p.browse(i, http.MethodPost, "/console/sign-in", "", url.Values{"key": {secret(key)}})
	if resp.StatusCode != http.StatusSeeOther || len(resp.Cookies()) != 1 {
		p.t.Fatalf("sign-in: %s", resp.Status)
	}
	c := resp.Cookies()[0]
	return c.Name + "=" + c.Value
}

// page returns the status of a page at gateway i.
func (p *proof) page(i int, cookie string) int {
	p.t.Helper()
	return p.browse(i, http.MethodGet, "/console/about", cookie, nil).StatusCode
}

func (p *proof) console() {
	cookie := p.signIn(0, "reader")
	for i := range p.Gateways {
		if status := p.page(i, cookie); status != http.StatusOK {
			p.t.Errorf("a page of gateway %d: %d", i, status)
		}
	}
	if resp := p.browse(1, http.MethodPost, "/console/sign-out", cookie, nil); resp.StatusCode != http.StatusSeeOther {
		p.t.Errorf("sign-out: %s", resp.Status)
	}
	for i := range p.Gateways {
		if status := p.page(i, cookie); status != http.StatusSeeOther {
			p.t.Errorf("a page of gateway %d after the sign-out: %d", i, status)
		}
	}
}

// Nobody can be proved to be signed in without Valkey. Who was, is again when it answers.
func TestTheConsoleWithoutValkeySaysSo(t *testing.T) {
	e := holdable(t)
	p := newProof(t, clustertest.Start(t, clustertest.Config{
		Caddy: caddy(t), Gateways: 1, Engines: e.Engines, Options: keys, Environment: environment, Alone: true,
	}))
	cookie := p.signIn(0, "reader")
	if err := e.Redis.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	for _, ask := range []func() *http.Response{
		func() *http.Response { return p.browse(0, http.MethodGet, "/console/about", cookie, nil) },
		func() *http.Response {
			return p.browse(0, http.MethodPost, "/console/sign-in", "", url.Values{"key": {secret("reader")}})
		},
	} {
		began := time.Now()
		resp := ask()
		text, _ := io.ReadAll(resp.Body)
		if resp.StatusCode != http.StatusServiceUnavailable || !strings.Contains(string(text), "Valkey, which does not answer") || time.Since(began) > 5*time.Second {
			t.Errorf("%s after %v: %s", resp.Status, time.Since(began), text)
		}
	}
	if err := e.Redis.Signal(syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	p.soon("the session", func() error {
		if status := p.page(0, cookie); status != http.StatusOK {
			return errStatus(status)
		}
		return nil
	})
}

type errStatus int

func (e errStatus) Error() string { return http.StatusText(int(e)) }

package source

import (
	"errors"
	"io"
	"net/http"
	"net/netip"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	"github.com/gatehouse-proxy/gatehouse/caddymodule/guest"
)

const (
	planeURL = "https://control.example.com/desktops"
	secret   = "whsec_MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3"
)

var ada = guest.Question{
	Reason: guest.Issue, Tenant: "lab", Name: "desk1", Caller: guest.Caller{Key: "ada", User: "alice@example.com", Address: netip.MustParseAddr("203.0.113.7")}, ViewOnly: true,
}

// plane is a control plane. It is a transport, so that it can be asked in a bubble.
type plane struct {
	answer atomic.Pointer[func(body []byte) (status int, kind, answer string)]
	takes  atomic.Int64 // how long an answer takes
	lost   atomic.Bool  // it cannot be reached

	mu     sync.Mutex // guards the following
	asked  []string   // bodies
	now    int
	most   int // at once
	header http.Header
}

func (p *plane) say(answer string) { p.sayAs(200, "application/json; charset=utf-8", answer) }

func (p *plane) sayAs(status int, kind, answer string) {
	f := func([]byte) (int, string, string) { return status, kind, answer }
	p.answer.Store(&f)
}

func (p *plane) count() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.asked)
}

func (p *plane) RoundTrip(r *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	p.mu.Lock()
	p.asked = append(p.asked, string(body))
	p.now++
	p.most = max(p.most, p.now)
	p.header = r.Header.Clone()
	p.mu.Unlock()
	defer func() {
		p.mu.Lock()
		p.now--
		p.mu.Unlock()
	}()
	if p.lost.Load() {
		return nil, errors.New("connection refused")
	}
	select {
	case <-time.After(time.Duration(p.takes.Load())):
	case <-r.Context().Done():
		return nil, r.Context().Err()
	}
	status, kind, answer := (*p.answer.Load())(body)
	return &http.Response{
		StatusCode: status, Header: http.Header{"Content-Type": {kind}, "Location": {"https://elsewhere.example.com"}}, Body: io.NopCloser(strings.NewReader(answer)),
	}, nil
}

const allowed = `{"decision":"allow","address":"10.20.0.9:5901","generation":"vm-7f3a/4","login":{"password":"hunter2"}}`

// config is what a source by a webhook needs.
type config struct {
	Webhook
	Config
}

func open(t *testing.T, change func(*config)) (*Source, *plane, *observer.ObservedLogs) {
	t.Helper()
	p := new(plane)
	p.say(allowed)
	core, lines := observer.New(zap.DebugLevel)
	c := config{
		Webhook{URL: planeURL, Secrets: []string{secret}, Gateway: func() string { return "gw-1" }, Transport: p},
		Config{Name: "lab", Logger: zap.New(core), Now: time.Now},
	}
	if change != nil {
		change(&c)
	}
	s, err := NewWebhook(c.Webhook, c.Config)
	if err != nil {
		t.Fatal(err)
	}
	return s, p, lines
}

func wantAnswer(t *testing.T, s *Source, q guest.Question, want guest.Decision) guest.Answer {
	t.Helper()
	a, err := s.Resolve(q, time.Time{})
	if err != nil || a.Decision != want {
		t.Fatalf("%v, %v, want %s", a, err, want)
	}
	return a
}

func wantFailure(t *testing.T, s *Source, q guest.Question, code string) {
	t.Helper()
	a, err := s.Resolve(q, time.Time{})
	var failure *Failure
	if !errors.As(err, &failure) || failure.Code != code || a.Decision != "" {
		t.Fatalf("%v, %v, want the failure %s", a, err, code)
	}
}

func TestImpossibleSourcesAreRefused(t *testing.T) {
	for want, change := range map[string]func(*config){
		"webhook: want a URL":             func(c *config) { c.URL = "control.example.com" },
		"webhook: http is possible":       func(c *config) { c.URL = "http://control.example.com/" },
		"webhook: http is possible to":    func(c *config) { c.URL = "http://10.0.0.1/" },
		"webhook: a URL with a user":      func(c *config) { c.URL = "https://me:secret@control.example.com/" },
		"secret: give one":                func(c *config) { c.Secrets = nil },
		"secret: give one, or":            func(c *config) { c.Secrets = []string{secret, secret, secret} },
		"secret: want whsec_":             func(c *config) { c.Secrets = []string{"hunter2"} },
		"secret: want whsec_ and":         func(c *config) { c.Secrets = []string{"whsec_c2hvcnQ="} },
		"timeout 11s: want at most 10s":   func(c *config) { c.Timeout = 11 * time.Second },
		"cache 6m0s: want at most 5m0s":   func(c *config) { c.Cache = 6 * time.Minute },
		"stale -1s: want at most 24h0m0s": func(c *config) { c.Stale = -time.Second },
	} {
		c := config{Webhook{URL: planeURL, Secrets: []string{secret}}, Config{Name: "lab", Now: time.Now}}
		change(&c)
		if _, err := NewWebhook(c.Webhook, c.Config); err == nil || !strings.HasPrefix(err.Error(), want) || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%v, want %s", err, want)
		}
	}
	for _, possible := range []string{"http://127.0.0.1:8080/", "http://[::1]/x", "http://localhost:1/", "https://10.0.0.1"} {
		if _, err := NewWebhook(Webhook{URL: possible, Secrets: []string{secret}}, Config{Now: time.Now}); err != nil {
			t.Errorf("%s: %v", possible, err)
		}
	}
}

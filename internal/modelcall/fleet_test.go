package modelcall

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/activity"
	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/catalog"
	"github.com/gatehouse-proxy/gatehouse/internal/failover"
	"github.com/gatehouse-proxy/gatehouse/internal/keys"
	"github.com/gatehouse-proxy/gatehouse/internal/modelcall/wire"
	"github.com/gatehouse-proxy/gatehouse/internal/provider"
	"github.com/gatehouse-proxy/gatehouse/internal/testkit/faults"
)

// fleet is an alias "fast" over several providers, each a server of its own in memory, so that all
// runs on the clock of a bubble. Provider n is named targetNames[n], and its price is n+1 times
// pricePerToken.
type fleet struct {
	*rig
	family  family
	servers []*server
	began   time.Time
	spent   int64 // of the budget, by then

	panicAt int          // the number of the request that panics; 0: none
	sending func(string) // runs when a provider, by its name, is sent a request; nil: nothing

	// transports replace the servers of providers, by name.
	transports map[string]http.RoundTripper

	mu    sync.Mutex
	asked []asked
}

// asked is a request that was sent to a provider.
type asked struct {
	target string
	after  time.Duration // since the fleet began
}

var targetNames = []string{"first", "second", "third", "fourth", "fifth", "sixth"}

// newFleet begins one provider for each behaviour of package faults. The first one is configured as
// the family says.
func newFleet(t *testing.T, of family, behaviours []string, change ...func(*rig)) *fleet {
	t.Helper()
	return newFleetRig(t, change...).fleet(t, of, behaviours)
}

// newFleetRig is a rig for fleets, one at a time. Its key has a hard budget.
func newFleetRig(t *testing.T, change ...func(*rig)) *rig {
	t.Helper()
	return newRig(t, roundTrip(silent), append([]func(*rig){limited(budget(t, "1000usd/day"))}, change...)...)
}

func (r *rig) fleet(t *testing.T, of family, behaviours []string) *fleet {
	t.Helper()
	f := &fleet{rig: r, family: of, began: time.Now(), transports: make(map[string]http.RoundTripper)}
	var groups [][]Candidate
	for i, behaviour := range behaviours {
		name := targetNames[i]
		s := newServer(faults.New())
		t.Cleanup(s.stop)
		f.servers = append(f.servers, s)
		p := newProvider(t, f.noted(name, s.client), func(c *provider.Config) {
			if c.Name = name; i == 0 && of.first != nil {
				of.first(c)
			}
		})
		groups = append(groups, []Candidate{{Provider: p, Model: &catalog.Model{
			ID: name + "/" + behaviour, Provider: name, Name: behaviour, Known: true, Price: priceTimes(t, i+1),
		}}})
	}
	r.Models = aliasModels{groups: groups}
	r.Health = failover.NewHealth(r.Now, func() float64 { return 0 }, func(failover.Change) {})
	f.spent = f.balance(t).Spent
	return f
}

// noted is a transport that notes what it sends.
func (f *fleet) noted(name string, transport http.RoundTripper) roundTrip {
	return func(r *http.Request) (*http.Response, error) {
		f.mu.Lock()
		f.asked = append(f.asked, asked{name, time.Since(f.began)})
		n := len(f.asked)
		f.mu.Unlock()
		if n == f.panicAt {
			panic("a bug")
		}
		if f.sending != nil {
			f.sending(name)
		}
		if instead := f.transports[name]; instead != nil {
			return instead.RoundTrip(r)
		}
		return transport.RoundTrip(r)
	}
}

// health is the state of a target, by its number.
func (f *fleet) health(n int) failover.Status {
	for _, s := range f.Health.Snapshot() {
		if strings.HasPrefix(s.ID, targetNames[n]+"/") {
			return s
		}
	}
	return failover.Status{State: failover.StateHealthy}
}

// wantNothingHeld checks that calls that have ended hold nothing.
func (f *fleet) wantNothingHeld(t *testing.T) {
	t.Helper()
	if b := f.balance(t); b.Reserved != 0 {
		t.Errorf("%d nano-USD are still reserved", b.Reserved)
	}
	if n := f.calls.Len(); n != 0 {
		t.Errorf("%d calls are under way", n)
	}
	for i := range f.servers {
		if s := f.health(i); s.State == failover.StateProbing && f.probeLeaked(s.ID) {
			t.Errorf("%s: its probe never ends", s.ID)
		}
	}
	if used := f.memory.Used(); used != 0 {
		t.Errorf("%d bytes of uploads are still counted", used)
	}
}

// probeLeaked reports whether a target that is due for a probe gets none.
func (f *fleet) probeLeaked(id string) bool {
	trial := f.Health.Begin(id, false)
	defer trial.End(failover.Result{Class: failover.Neutral})
	return !trial.Probe()
}

// aliasModels is one alias for all names.
type aliasModels struct {
	groups  [][]Candidate
	skipped []activity.Skipped
}

func (aliasModels) Await(context.Context, ...string) error { return nil }

func (aliasModels) NotListed(string) {}

func (m aliasModels) Find(_ *keys.Key, name string) (Found, error) {
	if name != "fast" {
		return Found{}, apierror.New(apierror.ModelNotFound, "no model %q", name)
	}
	found := Found{Groups: m.groups, Alias: true, Skipped: m.skipped}
	if len(m.groups) == 0 {
		return found, apierror.New(apierror.ModelNotCallable, "none")
	}
	return found, nil
}

func priceTimes(t testing.TB, n int) *catalog.Price {
	p := *pricePerToken(t)
	p.Prompt.Rate *= catalog.Rate(n)
	p.Completion.Rate *= catalog.Rate(n)
	return &p
}

// server serves HTTP on connections in memory.
type server struct {
	provider *faults.Provider
	client   *http.Transport
	http     http.Server
	conns    chan net.Conn
	done     chan struct{}
}

func newServer(p *faults.Provider) *server {
	s := &server{provider: p, conns: make(chan net.Conn), done: make(chan struct{})}
	s.http.Handler = p
	s.client = &http.Transport{DialContext: s.dial, DisableCompression: true}
	go func() { _ = s.http.Serve(s) }()
	return s
}

func (s *server) dial(ctx context.Context, _, _ string) (net.Conn, error) {
	near, far := net.Pipe()
	select {
	case s.conns <- far:
		return near, nil
	case <-s.done:
	case <-ctx.Done():
	}
	return nil, errors.New("nobody listens")
}

// Accept, Close and Addr implement [net.Listener].
func (s *server) Accept() (net.Conn, error) {
	select {
	case conn := <-s.conns:
		return conn, nil
	case <-s.done:
		return nil, net.ErrClosed
	}
}

func (s *server) Close() error   { return nil }
func (s *server) Addr() net.Addr { return &net.IPAddr{} }

func (s *server) stop() {
	close(s.done)
	s.client.CloseIdleConnections()
	_ = s.http.Close()
}

// ask makes a call. The refusal is nil if an answer was written.
func (f *fleet) ask(t *testing.T, stream bool, change ...func(*http.Request)) (*httptest.ResponseRecorder, *apierror.Error) {
	t.Helper()
	body := f.family.body
	if stream {
		body = strings.TrimSuffix(body, "}") + `,"stream":true}`
	}
	return f.send(t, body, change...)
}

func (f *fleet) send(t *testing.T, body string, change ...func(*http.Request)) (*httptest.ResponseRecorder, *apierror.Error) {
	t.Helper()
	w, req := httptest.NewRecorder(), post(strings.NewReader(body), int64(len(body)))
	req.Header.Set("Anthropic-Version", "2023-06-01")
	for _, c := range change {
		c(req)
	}
	return w, f.serveTo(t, w, req, f.family.op)
}

// family is an API of callers, and how the first provider has it.
type family struct {
	name      string
	op        *wire.Operation
	body      string
	first     func(*provider.Config) // nil: it has the API itself
	anthropic bool                   // the first provider is Anthropic
	good      string                 // in the end of a whole stream
	bad       string                 // in the end of a broken one
}

// sixty is a prompt of sixty words, which the providers repeat.
var sixty = strings.TrimSuffix(strings.Repeat("word ", 60), " ")

var families = func() []family {
	chat := family{
		name: "chat", op: wire.Chat, good: doneWord, bad: `data: {"error":`,
		body: `{"model":"fast","messages":[{"role":"user","content":"` + sixty + `"}],"max_tokens":100}`,
	}
	responses := family{
		name: "responses", op: wire.Responses, good: `"type":"response.completed"`, bad: `"type":"response.failed"`,
		body: `{"model":"fast","input":"` + sixty + `","max_output_tokens":100}`,
	}
	messages := family{
		name: "messages", op: wire.Messages, good: `"type":"message_stop"`, bad: `"type":"error"`,
		body: `{"model":"fast","messages":[{"role":"user","content":"` + sixty + `"}],"max_tokens":100}`,
	}
	at := func(f family, kind string, first func(*provider.Config)) family {
		f.name, f.first, f.anthropic = f.name+" as "+kind, first, kind == "messages"
		return f
	}
	responsesOnly := func(c *provider.Config) { c.ResponsesOnly = true }
	chatOnly := func(c *provider.Config) { c.Translate = new(provider.Translate) }
	anthropic := func(c *provider.Config) { c.Dialect = "anthropic" }
	return []family{
		chat, responses, at(messages, "messages", anthropic),
		at(chat, "responses", responsesOnly), at(responses, "chat", chatOnly), at(messages, "chat", nil),
		at(chat, "messages", anthropic), at(responses, "messages", anthropic), at(messages, "responses", responsesOnly),
	}
}()

// looksWhole reports whether a client takes an answer for a good one.
func (f *family) looksWhole(stream bool, body string) bool {
	if !stream {
		return strings.Contains(body, sixty)
	}
	return strings.Count(body, f.good) == 1 && !strings.Contains(body, f.bad) && strings.Count(body, "word") >= 60
}

// looksBroken reports whether each client sees that a stream is not complete.
func (f *family) looksBroken(body string) bool {
	for _, good := range []string{"[DONE]", `"finish_reason":"`, "response.completed", "message_stop"} {
		if strings.Contains(body, good) {
			return false
		}
	}
	return strings.Count(body, f.bad) == 1 && strings.Contains(body, "You ")
}

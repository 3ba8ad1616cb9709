package modelcall

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/catalog"
	"github.com/gatehouse-proxy/gatehouse/internal/failover"
	"github.com/gatehouse-proxy/gatehouse/internal/modelcall/wire"
	"github.com/gatehouse-proxy/gatehouse/internal/provider"
)

// pair is the alias "fast" over two accounts, "a" and "b". Each answers what it is told to, or 503.
type pair struct {
	*rig
	answers map[string]string // by account
	asked   []string          // accounts, in the order of the requests
	sent    []string          // their bodies
	stream  bool
}

func (p *pair) RoundTrip(r *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	account, _, _ := strings.Cut(r.URL.Host, ".")
	p.asked, p.sent = append(p.asked, account), append(p.sent, string(body))
	answer, ok := p.answers[account]
	if !ok {
		return answering(503, `{"error":{"message":"down"}}`)(r)
	}
	resp, err := answering(200, answer)(r)
	if p.stream {
		resp.Header.Set("Content-Type", "text/event-stream")
	}
	return resp, err
}

// newPair makes the accounts providers of their own, or two endpoints of one provider.
func newPair(t *testing.T, endpoints bool, change func(*provider.Config)) *pair {
	t.Helper()
	p := &pair{answers: map[string]string{}}
	host := func(account string) string { return "http://" + account + ".invalid/v1" }
	candidate := func(name string, endpoints []provider.EndpointConfig) Candidate {
		made := newProvider(t, p, func(c *provider.Config) {
			if c.Name, c.Endpoints = name, endpoints; change != nil {
				change(c)
			}
		})
		return Candidate{Provider: made, Model: &catalog.Model{ID: name + "/claude", Provider: name, Name: "claude", Known: true}}
	}
	groups := [][]Candidate{{candidate("a", provider.One(host("a"), ""))}, {candidate("b", provider.One(host("b"), ""))}}
	if endpoints {
		groups = [][]Candidate{{candidate("ab", []provider.EndpointConfig{
			{Name: "a", BaseURL: host("a")}, {Name: "b", BaseURL: host("b")},
		})}}
	}
	p.rig = newRig(t, roundTrip(silent), func(r *rig) {
		r.Models = aliasModels{groups: groups}
		r.Health = failover.NewHealth(r.Now, func() float64 { return 0 }, func(failover.Change) {})
	})
	return p
}

// ask makes a call and returns the accounts that were asked, in their order.
func (p *pair) ask(t *testing.T, op *wire.Operation, body string) (accounts string, answer string, refusal *apierror.Error) {
	t.Helper()
	p.asked, p.sent = nil, nil
	if p.stream {
		body = strings.Replace(body, "{", `{"stream":true,`, 1)
	}
	w, req := httptest.NewRecorder(), post(strings.NewReader(body), int64(len(body)))
	req.Header.Set("Anthropic-Version", "2023-06-01")
	req.Header.Set("X-Session-Id", "s")
	q := p.request(t, w, req)
	if err := Serve(&p.Deps, q, op, openaiAPI{}); err != nil {
		refusal = apierror.From(err)
		q.Outcome.Fail(refusal)
	}
	q.Finish()
	return strings.Join(p.asked, " "), w.Body.String(), refusal
}

func TestStoredStateLeadsToItsAccount(t *testing.T) {
	for _, endpoints := range []bool{false, true} {
		p := newPair(t, endpoints, nil)
		response := `{"id":"resp_1","object":"response","status":"completed","output":[]}`
		p.answers["b"] = response
		if accounts, _, refusal := p.ask(t, wire.Responses, `{"model":"fast","input":"hi"}`); !strings.HasSuffix(accounts, "b") || refusal != nil {
			t.Fatalf("%s, %v", accounts, refusal)
		}
		again := `{"model":"fast","input":"hi","previous_response_id":"resp_1"}`
		p.answers["a"] = response
		for range 4 {
			if accounts, _, refusal := p.ask(t, wire.Responses, again); accounts != "b" || refusal != nil {
				t.Errorf("endpoints %v: asked %q, %v", endpoints, accounts, refusal)
			}
		}
		delete(p.answers, "b")
		if accounts, _, refusal := p.ask(t, wire.Responses, again); strings.Contains(accounts, "a") || refusal == nil {
			t.Errorf("endpoints %v: b is down, asked %q, %v", endpoints, accounts, refusal)
		}
		accounts, _, refusal := p.ask(t, wire.Responses, strings.Replace(again, "resp_1", "resp_2", 1))
		if wantRefusal(t, refusal, apierror.PreviousNotFound, "resp_2"); accounts != "" {
			t.Errorf("endpoints %v: unknown state was asked of %q", endpoints, accounts)
		}
	}
}

// The accounts are the tenant's own: it may use there what the gateway has never seen.
func TestStoredStateLeadsToItsAccountAmongTheTenantsOwn(t *testing.T) {
	p := newPair(t, false, func(c *provider.Config) { c.AccountOf = "default" })
	p.answers["b"] = `{"id":"resp_1","object":"response","status":"completed","output":[]}`
	if _, _, refusal := p.ask(t, wire.Responses, `{"model":"fast","input":"hi"}`); refusal != nil {
		t.Fatal(refusal)
	}
	p.answers["a"] = strings.Replace(p.answers["b"], "resp_1", "resp_2", 1)
	for id, want := range map[string]string{"resp_1": "b", "resp_new": "a"} {
		if accounts, _, refusal := p.ask(t, wire.Responses, `{"model":"fast","input":"hi","previous_response_id":"`+id+`"}`); accounts != want || refusal != nil {
			t.Errorf("%s: asked %q, %v", id, accounts, refusal)
		}
	}
}

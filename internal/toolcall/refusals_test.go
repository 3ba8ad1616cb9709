package toolcall

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/guardrail"
	"github.com/gatehouse-proxy/gatehouse/internal/guardrail/judge"
	"github.com/gatehouse-proxy/gatehouse/internal/limits"
	"github.com/gatehouse-proxy/gatehouse/internal/mcp"
	"github.com/gatehouse-proxy/gatehouse/internal/policy"
	"github.com/gatehouse-proxy/gatehouse/internal/toolserver"
)

var update = flag.Bool("update", false, "write the golden file")

// fault is a request that is refused at one step. Change makes the request, or the gateway, so that the
// step refuses; the steps before it are content.
type fault struct {
	name   string
	row    string // the code in the record
	asked  bool   // the server was
	change func(*rig)
	req    func(*http.Request)
	body   string // "" for a call of echo
}

func header(name, value string) func(*http.Request) {
	return func(req *http.Request) { req.Header.Set(name, value) }
}

func upstreamAnswers(status int, contentType, body string) func(*rig) {
	return func(r *rig) { r.config.Transport = answering(status, contentType, body) }
}

func upstreamRedirects(to string) func(*rig) {
	return func(r *rig) {
		r.config.Transport = roundTrip(func(*http.Request) (*http.Response, error) {
			resp := reply(307, "", strings.NewReader(""))
			resp.Header.Set("Location", to)
			return resp, nil
		})
	}
}

func limitedKey(s limits.Subject) func(*rig) {
	s.Name = "key:dev"
	return func(r *rig) {
		r.Limits.Keys = map[string]*policy.KeyLimits{"dev": {Subjects: []limits.Subject{s}}}
	}
}

func words(t testing.TB, on guardrail.Direction, action judge.Action) *judge.Guardrail {
	t.Helper()
	g, err := judge.Compile(judge.Spec{Name: "words", On: on, Rules: []judge.Rule{{Action: action, Detector: judge.Words, Words: []string{"mellon"}}}})
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// faults are in the order of the steps.
func faults(t testing.TB) []fault {
	minute := limits.Rate{Unit: limits.Requests, Limit: 1, Window: time.Minute}
	usd := func(n int64) limits.Budget { return limits.Budget{Unit: limits.Money, Limit: n, Period: limits.Daily} }
	return []fault{
		{name: "a page of another site", row: "insufficient_scope", req: header("Origin", "https://evil.example")},
		{name: "unknown server", row: "not_found", change: func(r *rig) { r.config.Name = "other" }},
		{name: "not JSON by its type", row: "unsupported_encoding", req: header("Content-Type", "text/plain")},
		{name: "too large", row: "request_too_large", change: func(r *rig) {
			r.Limits.Keys = map[string]*policy.KeyLimits{"dev": {Caps: policy.Caps{Body: 10}}}
		}},
		{name: "broken JSON", row: "invalid_json", body: `{"jsonrpc":`},
		{name: "a batch", row: "invalid_value", body: `[]`},
		{name: "unknown version", row: "invalid_value", asked: true, req: header(mcp.HeaderVersion, "2099-01-01"), change: upstreamAnswers(200, asJSON,
			`{"jsonrpc":"2.0","id":1,"result":{"supportedVersions":["2025-06-18","2026-07-28","2098-01-01"]}}`)},
		{name: "unknown version at a server of sessions", row: "invalid_value", asked: true, req: header(mcp.HeaderVersion, "2099-01-01"), change: upstreamAnswers(400, "", "")},
		{name: "unknown version at a server that is away", row: "invalid_value", asked: true, req: header(mcp.HeaderVersion, "2099-01-01"), change: upstreamAnswers(503, "", "")},
		{name: "another method in the header", row: "invalid_value", req: header(mcp.HeaderMethod, "tools/list")},
		{name: "unknown method", row: "not_found", body: message("tasks/get", "")},
		{name: "unknown tool", row: "tool_not_found", change: func(r *rig) { r.spec.Tools = []string{"files/read_*"} }},
		{name: "rate", row: "rate_limit_exceeded", change: func(r *rig) {
			limitedKey(limits.Subject{Rates: []limits.Rate{minute}})(r)
		}},
		{name: "rate of the server", row: "rate_limit_exceeded", change: func(r *rig) {
			r.Limits.Servers = map[string]*limits.Subject{"files": {Name: policy.ServerSubject("files"), Rates: []limits.Rate{minute}}}
		}},
		{name: "budget", row: "budget_exceeded", change: func(r *rig) {
			limitedKey(limits.Subject{Budgets: []limits.Budget{usd(9)}})(r)
			r.config.Prices = []toolserver.Price{{Pattern: "echo", Nano: 10}}
		}},
		{name: "guardrail on arguments", row: "guardrail_blocked", change: func(r *rig) {
			r.Guardrails.All = []guardrail.Guardrail{words(t, guardrail.Input, judge.Deny)}
		}, body: message("tools/call", `{"name":"echo","arguments":{"text":"say mellon"}}`)},
		{name: "guardrail on the result", row: "guardrail_blocked", asked: true, change: func(r *rig) {
			r.Guardrails.Servers = map[string][]guardrail.Guardrail{"files": {words(t, guardrail.Output, judge.Deny)}}
			upstreamAnswers(200, asJSON, strings.Replace(result, "hello", "mellon", 1))(r)
		}},
		{name: "not reachable", row: "upstream_error", asked: true, change: func(r *rig) {
			r.config.Transport = roundTrip(func(*http.Request) (*http.Response, error) { return nil, errors.New("no route to 10.0.0.1") })
		}},
		{name: "redirect", row: "upstream_error", asked: true, change: upstreamAnswers(307, "", "")},
		{name: "redirect to an address", row: "upstream_error", asked: true, change: upstreamRedirects("https://u:p@tools.example.com/mcp/?token=" + credential)},
		{name: "redirect with a credential", row: "upstream_error", asked: true, change: upstreamRedirects("/" + credential + "/mcp/")},
		{name: "credential refused", row: "upstream_auth_error", asked: true, change: upstreamAnswers(401, asJSON, `{"error":"`+credential+`"}`)},
		{name: "rate of the server itself", row: "upstream_rate_limited", asked: true, change: upstreamAnswers(429, "", "")},
		{name: "overloaded", row: "upstream_overloaded", asked: true, change: upstreamAnswers(503, "", "")},
		{name: "failed to list", row: "upstream_error", asked: true, change: upstreamAnswers(500, "", ""), body: message("tools/list", "")},
		{name: "failed", row: "upstream_error", asked: true, change: upstreamAnswers(500, "text/html", "<h1>"+credential+"</h1>")},
		{name: "refused in words of its own", row: "upstream_rejected", asked: true, change: upstreamAnswers(400, "text/plain", "Bad Request: "+credential)},
		{name: "refused as JSON-RPC says", row: "upstream_rejected", asked: true, change: upstreamAnswers(400, asJSON, `{"jsonrpc":"2.0","id":7,"error":{"code":-32022,"message":"not this version","data":{"supported":["2025-11-25"]}}}`)},
		{name: "no MCP by its type", row: "upstream_error", asked: true, change: upstreamAnswers(200, "text/html", "<h1>hello</h1>")},
		{name: "no JSON", row: "upstream_error", asked: true, change: upstreamAnswers(200, asJSON, "hello")},
		{name: "the answer to another request", row: "upstream_error", asked: true, change: upstreamAnswers(200, asJSON, strings.Replace(result, `"id":7`, `"id":8`, 1))},
		{name: "too large a result", row: "upstream_error", asked: true, change: func(r *rig) {
			r.config.MaxResult = toolserver.LeastMaxResult
			upstreamAnswers(200, asJSON, strings.Replace(result, "hello", strings.Repeat("x", toolserver.LeastMaxResult), 1))(r)
		}},
		{name: "a stream without an answer", row: "upstream_error", asked: true, change: upstreamAnswers(200, asEvents, ": hello\n\n")},
	}
}

// inTime is what a refusal says of the time.
var inTime = regexp.MustCompile(`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ|in 1m\d*\.?\d*m?s|After: 6\d|after":6\d`)

// serveFault runs a request that is refused, and returns the answer as a text.
func serveFault(t *testing.T, f fault, more func(*http.Request)) (text string, r *rig) {
	t.Helper()
	asked := false
	r = newRig(t, answering(200, asJSON, result), func(r *rig) {
		if f.change != nil {
			f.change(r)
		}
		inner := r.config.Transport
		r.config.Transport = roundTrip(func(req *http.Request) (*http.Response, error) {
			asked = true
			return inner.RoundTrip(req)
		})
	})
	body := f.body
	if body == "" {
		body = toolCall("echo")
	}
	if strings.HasPrefix(f.row, "rate_limit") {
		r.serve(post(message("server/discover", "")))
		r.rows, r.serial = nil, 0
		asked = false
	}
	req := post(body)
	for _, change := range []func(*http.Request){f.req, more} {
		if change != nil {
			change(req)
		}
	}
	w := r.serve(req)
	row := r.row(t)
	if row.Code != f.row || asked != f.asked {
		t.Errorf("%s: code %q, want %q; asked %v: %d %s", f.name, row.Code, f.row, asked, w.Code, w.Body)
	}
	if r.Servers.Named("files") != nil {
		r.released(t)
	}
	if strings.Contains(w.Body.String(), credential) || strings.Contains(w.Body.String(), "10.0.0.1") {
		t.Errorf("%s: the answer tells too much: %s", f.name, w.Body)
	}
	text = fmt.Sprintf("== %s\n%d %s\n", f.name, w.Code, w.Header().Get("Content-Type"))
	for _, name := range []string{"Retry-After", "X-Refused"} {
		if value := w.Header().Get(name); value != "" {
			text += name + ": " + value + "\n"
		}
	}
	return inTime.ReplaceAllString(text+strings.TrimSuffix(w.Body.String(), "\n"), "TIME") + "\n", r
}

func TestEachRefusalHasItsBytes(t *testing.T) {
	var got strings.Builder
	for _, f := range faults(t) {
		text, _ := serveFault(t, f, nil)
		got.WriteString(text + "\n")
	}
	const golden = "testdata/refusals.txt"
	if *update {
		if err := os.WriteFile(golden, []byte(got.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if got.String() != string(want) {
		t.Errorf("got\n%s", got.String())
	}
}

// A request that several steps would refuse is refused by the first of them, and no later one runs.
func TestTheFirstStepThatRefusesDecides(t *testing.T) {
	all := faults(t)
	for i, early := range all[:16] {
		for _, late := range all[i+1 : 16] {
			if late.body != "" && (early.body != "" || early.name == "too large") || early.name == "unknown server" && late.change != nil {
				continue
			}
			both := fault{name: early.name + " and " + late.name, row: early.row, asked: early.asked, body: early.body + late.body}
			both.change = func(r *rig) {
				for _, f := range []fault{late, early} {
					if f.change != nil {
						f.change(r)
					}
				}
			}
			both.req = func(req *http.Request) {
				for _, f := range []fault{late, early} {
					if f.req != nil {
						f.req(req)
					}
				}
			}
			if strings.HasPrefix(late.row, "rate") || early.change != nil && late.change != nil {
				continue // they would change the same option
			}
			serveFault(t, both, nil)
		}
	}
}

func TestAPageOfTheSiteMayAsk(t *testing.T) {
	r := newRig(t, answering(200, asJSON, result))
	req := post(toolCall("echo"))
	req.Header.Set("Origin", "http://example.com") // httptest's Host
	if w := r.serve(req); w.Code != 200 {
		t.Errorf("%d %s", w.Code, w.Body)
	}
}

func TestAClientThatHasLeftIsNotAnswered(t *testing.T) {
	ctx, leave := context.WithCancel(t.Context())
	r := newRig(t, roundTrip(func(req *http.Request) (*http.Response, error) {
		leave()
		<-req.Context().Done()
		return nil, io.ErrUnexpectedEOF
	}))
	r.serve(post(toolCall("echo")).WithContext(ctx))
	if row := r.row(t); row.Status != 499 || row.Code != "client_closed_request" {
		t.Errorf("%+v", row)
	}
	r.released(t)
}

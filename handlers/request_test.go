package handlers

import (
	"context"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/caddyserver/caddy/v2"
	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	"github.com/gatehouse-proxy/gatehouse/internal/api"
)

const hello = `{"model":"acme/m","messages":[{"role":"user","content":"hello"}]}`

// completion is a provider's answer to it: 20 tokens, which cost 20,000 nano-USD.
const completion = `{"id":"chatcmpl-1","object":"chat.completion","created":1,"model":"m",` +
	`"choices":[{"index":0,"message":{"role":"assistant","content":"hi"},"finish_reason":"stop"}],` +
	`"usage":{"prompt_tokens":12,"completion_tokens":8,"total_tokens":20}}`

// Each check comes before the next: a request that fails several gets the first one's answer.
func TestChecksHaveTheirOrder(t *testing.T) {
	never := newGateway(t, setup{}) // it was closed before it started
	never.Close()
	replaced := startGateway(t, setup{}) // its stores are closed
	replaced.Close()
	serving := startGateway(t, setup{})

	call(t, never, "PUT", "/v1/models", "", "").Want(t, 405, "method_not_allowed", "PUT is not possible on /v1/models; use GET")
	call(t, never, "GET", "/v1/models", "", "").Want(t, 503, "shutting_down", "did not start")
	call(t, replaced, "GET", "/v1/models", "", "").Want(t, 401, "invalid_api_key", "")
	call(t, replaced, "GET", "/v1/models", "chat", "").Want(t, 503, "shutting_down", "was replaced")
	call(t, serving, "GET", "/v1/models?a;b", "chat", "").Want(t, 403, "insufficient_scope", `"chat" has no scope models:read`)
	call(t, serving, "GET", "/v1/models?a;b", "models", "").Want(t, 400, "invalid_value", "malformed")
}

func TestAWebSocketGets426BeforeAnyCheck(t *testing.T) {
	g := newGateway(t, setup{})
	g.Close()
	r := newTestRequest("GET", "/v1/responses", "", "")
	r.Header.Set("Upgrade", "h2c, WebSocket")
	a := send(t, &Gatehouse{gateway: g}, r)
	a.Want(t, 426, "upgrade_required", "/v1/responses is not served over WebSocket; use POST over HTTP")
	if a.Header().Get("Upgrade") != "HTTP/1.1" || a.Header().Get("Connection") != "Upgrade" || a.Header().Get("Allow") != "" {
		t.Errorf("headers %v", a.Header())
	}
}

// Net/http reads what is left of a body after the operation, too: the deadline must still be there.
func TestABodyOfAStrangerHasADeadline(t *testing.T) {
	g := startGateway(t, setup{})
	o := &Operation{Name: "open", Method: "POST", Serve: func(x *Request) error { x.Writer.WriteHeader(200); return nil }}
	Open(o)
	defer delete(keyless, o)
	for body, want := range map[string][]time.Time{"": nil, "x": {g.Requests().Now().Add(keylessBody)}} {
		a := newAnswer()
		if err := serve(g, a, newTestRequest("POST", "/", "", body), &match{api: api.OpenAI{}, operations: []*Operation{o}}); err != nil || !slices.Equal(a.Deadlines, want) {
			t.Errorf("%q: deadlines %v, want %v; %v", body, a.Deadlines, want, err)
		}
	}
}

func TestRefusedRequestsLeaveTheirRecord(t *testing.T) {
	core, logs := observer.New(zap.WarnLevel)
	g := startGateway(t, setup{Logger: zap.New(core)})
	r := newTestRequest("GET", "/v1/models", "chat", "")
	r.Header.Set("X-Client-Request-Id", "mine")
	a := send(t, &Gatehouse{gateway: g}, r)
	a.Want(t, 403, "insufficient_scope", "")
	found := rows(t, g)
	if len(found) != 1 || found[0].RequestID != a.Header().Get(api.RequestIDHeader) || found[0].ClientRequestID != "mine" ||
		found[0].Route != "GET /v1/models" || found[0].Family != "openai" || found[0].Status != 403 {
		t.Errorf("rows %+v", found)
	}
	a = call(t, g, "GET", "/v1/models", "", "")
	a.Want(t, 401, "invalid_api_key", "")
	if n := len(rows(t, g)); n != 1 {
		t.Errorf("%d rows after a request without a key", n)
	}
	refused := logs.FilterMessage("request without a valid key").All()
	if len(refused) != 1 {
		t.Fatalf("logs %v", logs.All())
	}
	if f := refused[0].ContextMap(); f["request_id"] != a.Header().Get(api.RequestIDHeader) || f["remote"] != r.RemoteAddr || f["route"] != "GET /v1/models" {
		t.Errorf("log %v", f)
	}
}

// A read that succeeds is not a row of the activity; a call or a change is.
func TestCallsAndChangesAreRecordedWhenTheySucceed(t *testing.T) {
	g := startGateway(t, setup{Workstations: true, Provider: answering(200, "application/json", completion)})
	made := call(t, g, "POST", "/api/v1/chat/completions", "full", hello)
	session := open(t, g, call(t, g, "POST", "/v1/workstations/desk1/vnc", "full", ""))
	for _, c := range []struct {
		method, target, body string
		route                string // of the new row; "" for none
	}{
		{"GET", "/v1/models", "", ""},
		{"GET", "/api/v1/activity", "", ""},
		{"GET", "/api/v1/generation?id=" + made.Header().Get(api.GenerationIDHeader), "", ""},
		{"GET", "/api/v1/key", "", ""},
		{"GET", "/v1/workstations", "", ""},
		{"GET", "/v1/workstations/desk1", "", ""},
		{"GET", "/v1/workstations/desk1/sessions", "", ""},
		{"POST", "/v1/chat/completions", hello, "POST /v1/chat/completions"},
		{"POST", "/v1/workstations/desk1/vnc", "", "POST /v1/workstations/{id}/vnc"},
		{"DELETE", "/v1/workstations/desk1/sessions/" + session, "", "DELETE /v1/workstations/{id}/sessions/{session}"},
		{"PUT", "/v1/workstations/lab1", address, "PUT /v1/workstations/{id}"},
		{"DELETE", "/v1/workstations/lab1", "", "DELETE /v1/workstations/{id}"},
	} {
		before, route := len(rows(t, g)), ""
		if a := call(t, g, c.method, c.target, "full", c.body); a.Code >= 300 {
			t.Errorf("%s %s: %d %s", c.method, c.target, a.Code, a.Body)
		}
		if found := rows(t, g); len(found) > before {
			route = found[0].Route
		}
		if route != c.route {
			t.Errorf("%s %s: recorded as %q, want %q", c.method, c.target, route, c.route)
		}
	}
}

func TestRequestsHaveTwoIDs(t *testing.T) {
	g := startGateway(t, setup{})
	first, second := newIDs(g), newIDs(g)
	if first == second {
		t.Errorf("%v twice", first)
	}
	// noon is 1773835200 seconds since 1970, 0x69ba93c0.
	for id, form := range map[string]string{
		first.RequestID: `^req_69ba93c0[0-9a-f]{24}$`, first.GenerationID: `^gen-1773835200-[0-9a-f]{20}$`,
	} {
		if !regexp.MustCompile(form).MatchString(id) {
			t.Errorf("%q is not of the form %s", id, form)
		}
	}
	if a := call(t, g, "GET", "/v1/models", "full", ""); a.Header().Get(api.GenerationIDHeader) != "" {
		t.Errorf("OpenAI's clients got a generation: %v", a.Header())
	}
}

func TestClientRequestIDIsOfPrintableASCII(t *testing.T) {
	for _, c := range []struct{ client, request, want string }{
		{"", "", ""},
		{"mine", "", "mine"},
		{"", "theirs", "theirs"},
		{"mine", "theirs", "mine"},
		{"a b", "", "a b"},
		{"a~", "", "a~"},
		{"a\tb", "", ""},
		{"é", "", ""},
		{"a\x7f", "", ""},
		{strings.Repeat("x", 128), "", strings.Repeat("x", 128)},
		{strings.Repeat("x", 129), "", ""},
	} {
		h := http.Header{}
		h.Set("X-Client-Request-Id", c.client)
		h.Set("X-Request-Id", c.request)
		if got := clientRequestID(h); got != c.want {
			t.Errorf("%+v: %q", c, got)
		}
	}
}

func TestBearer(t *testing.T) {
	for text, want := range map[string]string{
		"Bearer abc": "abc", "bearer abc": "abc", "BEARER  abc ": "abc", "Basic abc": "", "abc": "", "": "", "Bearer": "", "Bearerabc": "",
	} {
		if got := bearer(http.Header{"Authorization": {text}}); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

// withReplacer returns the request as Caddy's server hands it to handlers.
func withReplacer(r *http.Request) (*http.Request, *caddy.Replacer) {
	repl := caddy.NewEmptyReplacer()
	return r.WithContext(context.WithValue(r.Context(), caddy.ReplacerCtxKey, repl)), repl
}

func TestPlaceholdersShowTheRequest(t *testing.T) {
	g := startGateway(t, setup{})
	r, repl := withReplacer(newTestRequest("POST", "/v1/chat/completions", "other", strings.Replace(hello, "acme/m", "acme/x", 1)))
	a := send(t, &Gatehouse{gateway: g}, r)
	a.Want(t, 404, "model_not_found", "")
	for name, want := range map[string]string{
		"http.auth.user.id": "other", "http.gatehouse.key": "other", "http.gatehouse.tenant": "other",
		"http.gatehouse.model": "acme/x", "http.gatehouse.provider": "", "http.gatehouse.code": "model_not_found",
		"http.gatehouse.request_id": a.Header().Get(api.RequestIDHeader),
	} {
		if got, known := repl.GetString(name); got != want || !known {
			t.Errorf("{%s}: %q, %v, want %q", name, got, known, want)
		}
	}
	for _, name := range []string{"http.gatehouse.secret", "http.other.key", "key"} {
		if got, known := repl.Get(name); known {
			t.Errorf("{%s} is %q", name, got)
		}
	}
	r, repl = withReplacer(newTestRequest("POST", "/v1/chat/completions", "chat", hello))
	send(t, &Gatehouse{gateway: g}, r)
	if got, _ := repl.GetString("http.gatehouse.provider"); got != "acme" {
		t.Errorf("provider %q", got)
	}
}

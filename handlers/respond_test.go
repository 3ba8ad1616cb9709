package handlers

import (
	"context"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/gatehouse-proxy/gatehouse/internal/api"
	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/limits"
	"github.com/gatehouse-proxy/gatehouse/internal/request"
	"github.com/gatehouse-proxy/gatehouse/internal/testkit/jsontest"
)

func apiOf(t testing.TB, family string) api.API {
	t.Helper()
	a, err := api.Parse(family)
	must(t, err)
	return a
}

// dependent are the headers of an answer that depend on the refusal.
var dependent = []string{
	"Www-Authenticate", "Upgrade", "Connection", "Allow", "Retry-After", "Retry-After-Ms", "X-Should-Retry",
	"X-Ratelimit-Limit-Requests", "X-Ratelimit-Remaining-Requests", "X-Ratelimit-Reset-Requests",
	"X-Ratelimit-Limit", "X-Ratelimit-Remaining", "X-Ratelimit-Reset",
}

func TestRefusalsHaveTheHeadersOfTheirCode(t *testing.T) {
	g := startGateway(t, setup{})
	rate := &apierror.Rate{Limit: 60, Remaining: 0, Reset: 90 * time.Second}
	for _, c := range []struct {
		family string
		e      apierror.Error
		status int
		want   http.Header
	}{
		{"openai", apierror.Error{Code: apierror.InvalidAPIKey}, 401, http.Header{"Www-Authenticate": {`Bearer realm="gatehouse"`}, "X-Should-Retry": {"false"}}},
		{"openai", apierror.Error{Code: apierror.UpgradeRequired}, 426, http.Header{"Upgrade": {"HTTP/1.1"}, "Connection": {"Upgrade"}, "X-Should-Retry": {"false"}}},
		{"openai", apierror.Error{Code: apierror.MethodNotAllowed, Allow: []string{"GET", "PUT"}}, 405, http.Header{"Allow": {"GET, PUT"}, "X-Should-Retry": {"false"}}},
		{"openai", apierror.Error{Code: apierror.InvalidValue}, 400, http.Header{"X-Should-Retry": {"false"}}},
		{"openrouter", apierror.Error{Code: apierror.InsufficientScope}, 403, http.Header{"X-Should-Retry": {"false"}}},
		{"anthropic", apierror.Error{Code: apierror.UpstreamRejected, Status: 413}, 413, http.Header{"X-Should-Retry": {"false"}}},
		{"openai", apierror.Error{Code: apierror.UpstreamRateLimited, RetryAfter: 1500 * time.Millisecond}, 429, http.Header{"Retry-After": {"2"}}},
		{"openai", apierror.Error{Code: apierror.RateLimitExceeded, RetryAfter: 1500 * time.Millisecond, Rate: rate}, 429, http.Header{
			"Retry-After": {"2"}, "Retry-After-Ms": {"1500"},
			"X-Ratelimit-Limit-Requests": {"60"}, "X-Ratelimit-Remaining-Requests": {"0"}, "X-Ratelimit-Reset-Requests": {"1m30s"},
		}},
		{"openrouter", apierror.Error{Code: apierror.RateLimitExceeded, RetryAfter: time.Second, Rate: rate}, 429, http.Header{
			"Retry-After": {"1"}, "Retry-After-Ms": {"1000"},
			"X-Ratelimit-Limit": {"60"}, "X-Ratelimit-Remaining": {"0"}, "X-Ratelimit-Reset": {"1773835290000"},
		}},
		{"openai", apierror.Error{Code: apierror.ConcurrencyLimitExceeded}, 429, http.Header{"Retry-After": {"1"}, "Retry-After-Ms": {"1000"}}},
		{"anthropic", apierror.Error{Code: apierror.UpstreamOverloaded, RetryAfter: time.Second}, 503, http.Header{"Retry-After": {"1"}}},
		{"openai", apierror.Error{Code: apierror.WorkstationConflict}, 409, http.Header{"X-Should-Retry": {"false"}}},
		{"openai", apierror.Error{Code: apierror.NoProvider, NoRetry: true, RetryAfter: 9 * time.Second}, 503,
			http.Header{"X-Should-Retry": {"false"}, "Retry-After": {"9"}}},
	} {
		a := newAnswer()
		x := newRequest(g, a, newTestRequest("GET", "/", "", ""), apiOf(t, c.family))
		x.writeError(&c.e)
		h := a.Header()
		if a.Code != c.status || len(jsontest.Values(t, a.Body.String(), "error")) != 1 || len(h[api.RequestIDHeader]) != 1 {
			t.Errorf("%s: %d %v %s", c.e.Code, a.Code, h, a.Body)
		}
		for _, name := range dependent {
			if got, want := h[name], c.want[name]; !slices.Equal(got, want) {
				t.Errorf("%s %s: %s is %q, want %q", c.family, c.e.Code, name, got, want)
			}
		}
	}
}

func TestDefaultWaitsAreSpread(t *testing.T) {
	busy := apierror.New(apierror.UpstreamError, "x")
	seen := map[int64]bool{}
	for range 200 {
		s := seconds(busy, busy.Retry())
		if s < 10 || s > 20 {
			t.Fatalf("%d s is not between 10 and 20", s)
		}
		seen[s] = true
	}
	if len(seen) < 5 {
		t.Errorf("only %d different waits in 200", len(seen))
	}
	for _, e := range []*apierror.Error{
		{Code: apierror.UpstreamRateLimited, RetryAfter: 1500 * time.Millisecond},
		{Code: apierror.UpstreamError, RetryAfter: 2 * time.Second}, // given by the provider: as it is
	} {
		if s := seconds(e, e.Retry()); s != 2 {
			t.Errorf("%s: %s became %d s", e.Code, e.RetryAfter, s)
		}
	}
	for range 50 { // a default of a 4xx is not spread
		e := apierror.New(apierror.WorkstationsExceeded, "x")
		if s := seconds(e, e.Retry()); s != 60 {
			t.Fatalf("a minute became %d s", s)
		}
	}
}

func TestHeadIsAnsweredLikeGetWithoutABody(t *testing.T) {
	g := startGateway(t, setup{})
	for _, path := range []string{"/v1/models", "/api/v1/models", "/v1/models/acme/x", "/v1/unknown"} {
		get, head := call(t, g, "GET", path, "full", ""), call(t, g, "HEAD", path, "full", "")
		if head.Code != get.Code || head.Body.Len() != 0 || head.Header().Get("Content-Type") != "application/json" {
			t.Errorf("%s: %d %q, want %d without a body", path, head.Code, head.Body, get.Code)
		}
		if length := strconv.Itoa(get.Body.Len()); get.Header().Get("Content-Length") != length || path != "/v1/unknown" && head.Header().Get("Content-Length") != length {
			t.Errorf("%s: Content-Length %s and %s of %s", path, get.Header().Get("Content-Length"), head.Header().Get("Content-Length"), length)
		}
	}
}

// notedAnswer notes whether the request has ended when its answer is written.
type notedAnswer struct {
	http.ResponseWriter
	x     *Request
	ended bool
}

func (w *notedAnswer) Write(body []byte) (int, error) {
	w.ended = w.x.Req.Finished()
	return w.ResponseWriter.Write(body)
}

// A client that has read an answer finds its row, and its place among the calls at once free.
func TestARequestEndsBeforeItsAnswerIsWritten(t *testing.T) {
	g := startGateway(t, setup{})
	for name, answer := range map[string]func(x *Request) error{
		"reply":   func(x *Request) error { return x.Reply(http.StatusOK, "x") },
		"succeed": func(x *Request) error { return x.Succeed([]byte("{}"), nil) },
		"fail":    func(x *Request) error { x.fail(apierror.New(apierror.NotFound, "x")); return nil },
	} {
		w := &notedAnswer{ResponseWriter: newAnswer()}
		r := newTestRequest("GET", "/v1/models", "full", "")
		w.x = newRequest(g, w, r, apiOf(t, "openai"))
		caller, err := authenticated(g, r, w.x.API, "")
		must(t, err)
		must(t, w.x.begin(caller, request.Route{Name: "GET /v1/models"}))
		must(t, answer(w.x))
		if !w.ended {
			t.Errorf("%s: the answer is written before the request has ended", name)
		}
		w.x.Req.Finish()
	}
}

// A client that only stopped sending reads the 499; to any other nothing arrives.
func TestAClientThatHasLeftGets499AndNoBody(t *testing.T) {
	waiting := newGateway(t, setup{}) // it has not started yet
	serving := startGateway(t, setup{Provider: silent})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, h := range []caddyhttp.MiddlewareHandler{&Gatehouse{gateway: waiting}, &Gatehouse{gateway: serving}, &Auth{gateway: waiting}} {
		a := send(t, h, newTestRequest("POST", "/v1/chat/completions", "full", hello).WithContext(ctx))
		if a.Code != 499 || a.Body.Len() != 0 || a.Header().Get("Content-Type") != "" {
			t.Errorf("%d %v %q", a.Code, a.Header(), a.Body)
		}
	}
	found := rows(t, serving)
	if len(found) != 1 || found[0].Status != 499 || found[0].Code != "client_closed_request" {
		t.Errorf("rows %+v", found)
	}
}

// The refusal of an upload is sent before the upload ends.
func TestUploadsOfRefusedRequestsAreThrownAway(t *testing.T) {
	g := startGateway(t, setup{})
	small, large := strings.Repeat("x", 1<<10), strings.Repeat("x", 1<<20)
	for _, c := range []struct {
		key, body string
		status    int
		closes    bool // the connection
		left      int  // bytes of the body that nobody reads
	}{
		{"", small, 401, false, len(small)},
		{"", large, 401, true, len(large)},
		{"models", small, 403, false, 0},
		{"models", large, 403, true, 0},
	} {
		body := strings.NewReader(c.body)
		r := newTestRequest("POST", "/v1/chat/completions", c.key, c.body)
		r.Body = readCloser{body}
		a := send(t, &Gatehouse{gateway: g}, r)
		if a.Code != c.status || (a.Header().Get("Connection") == "close") != c.closes || body.Len() != c.left {
			t.Errorf("key %q, %d bytes: %d %v, %d bytes left", c.key, len(c.body), a.Code, a.Header(), body.Len())
		}
		if len(a.Deadlines) == 0 || !a.Deadlines[0].Equal(noon.Add(5*time.Second)) || a.Flushed != (c.left == 0) {
			t.Errorf("key %q, %d bytes: deadlines %v, flushed %v", c.key, len(c.body), a.Deadlines, a.Flushed)
		}
	}
	a := call(t, g, "POST", "/v1/chat/completions", "full", `{"model":1}`+strings.Repeat(" ", 1<<20)) // read to its end
	a.Want(t, 400, "invalid_value", "")
	if a.Header().Get("Connection") != "" || len(a.Deadlines) != 0 {
		t.Errorf("a body that was read: %v, deadlines %v", a.Header(), a.Deadlines)
	}
	if a := call(t, g, "GET", "/v1/models", "", ""); len(a.Deadlines) != 0 {
		t.Errorf("no body: deadlines %v", a.Deadlines)
	}
}

func TestRatesAreShownOnSuccessAndRefusal(t *testing.T) {
	rate, err := limits.ParseRate("2/min")
	must(t, err)
	g := startGateway(t, setup{Provider: answering(200, "application/json", completion), Limits: limitedTo("full", limits.Subject{Rates: []limits.Rate{rate}})})
	const remaining = "X-Ratelimit-Remaining-Requests"
	a := call(t, g, "POST", "/v1/chat/completions", "full", hello)
	if a.Want(t, 200, "", ""); a.Header().Get(remaining) != "1" || a.Header().Get("X-Ratelimit-Limit-Requests") != "2" {
		t.Errorf("headers %v", a.Header())
	}
	a = call(t, g, "POST", "/v1/chat/completions", "full", strings.Replace(hello, "acme/m", "acme/x", 1))
	if a.Want(t, 404, "model_not_found", ""); a.Header().Get(remaining) != "0" {
		t.Errorf("a refusal that was counted: %v", a.Header())
	}
	a = call(t, g, "POST", "/v1/chat/completions", "full", hello)
	if a.Want(t, 429, "rate_limit_exceeded", "2/min"); a.Header().Get(remaining) != "0" || a.Header().Get("Retry-After-Ms") == "" {
		t.Errorf("headers %v", a.Header())
	}
	a = call(t, g, "POST", "/api/v1/chat/completions", "full", hello)
	if a.Want(t, 429, "rate_limit_exceeded", ""); a.Header().Get("X-Ratelimit-Remaining") != "0" || a.Header().Get(remaining) != "" {
		t.Errorf("headers %v", a.Header())
	}
	if a := call(t, g, "GET", "/v1/models", "full", ""); a.Header().Get(remaining) != "" {
		t.Errorf("a list is under no rate: %v", a.Header())
	}
}

// unread is the connection of a client that reads nothing: a write waits until its deadline.
type unread struct {
	*httptest.ResponseRecorder
	once sync.Once
	late chan struct{}
}

func (u *unread) Write([]byte) (int, error) {
	<-u.late
	return 0, os.ErrDeadlineExceeded
}

func (u *unread) SetWriteDeadline(time.Time) error {
	u.once.Do(func() { close(u.late) })
	return nil
}

func TestAnAnswerThatIsNotReadIsGivenUp(t *testing.T) {
	g := startGateway(t, setup{Workstations: true, Write: 10 * time.Millisecond})
	for _, path := range []string{"/v1/workstations", "/v1/models"} {
		w, done := &unread{ResponseRecorder: httptest.NewRecorder(), late: make(chan struct{})}, make(chan struct{})
		go func() {
			defer close(done)
			_ = (&Gatehouse{gateway: g}).ServeHTTP(w, newTestRequest("GET", path, "full", ""), new(nextHandler))
		}()
		select {
		case <-done:
		case <-time.After(10 * time.Second):
			t.Errorf("%s is written for ever", path)
			_ = w.SetWriteDeadline(time.Time{})
			<-done
		}
	}
}

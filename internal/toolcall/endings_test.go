package toolcall

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httptrace"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/activity"
	"github.com/gatehouse-proxy/gatehouse/internal/limits"
	"github.com/gatehouse-proxy/gatehouse/internal/mcp"
	"github.com/gatehouse-proxy/gatehouse/internal/provider"
	"github.com/gatehouse-proxy/gatehouse/internal/request"
	"github.com/gatehouse-proxy/gatehouse/internal/testkit/jsontest"
	"github.com/gatehouse-proxy/gatehouse/internal/toolserver"
)

// pricedCall makes each call cost 10 of a budget of 100, and permits one call at once.
func pricedCall(r *rig) {
	r.config.Prices = []toolserver.Price{{Pattern: "echo", Nano: 10}}
	limitedKey(limits.Subject{
		Budgets: []limits.Budget{{Unit: limits.Money, Limit: 100, Period: limits.Total}}, Concurrency: limits.Concurrency{Limit: 1},
	})(r)
}

// silent is a body that says nothing until its request ends.
type silent struct {
	first io.Reader
	ctx   context.Context
}

func (s silent) Read(p []byte) (int, error) {
	if n, err := s.first.Read(p); err == nil {
		return n, nil
	}
	<-s.ctx.Done()
	return 0, s.ctx.Err()
}

func (silent) Close() error { return nil }

// then answers with the beginning of a stream, and says nothing more.
func then(first string) roundTrip {
	return func(req *http.Request) (*http.Response, error) {
		resp := reply(200, asEvents, nil)
		resp.Body = silent{strings.NewReader(first), req.Context()}
		return resp, nil
	}
}

// hangs never answers.
var hangs = roundTrip(func(req *http.Request) (*http.Response, error) {
	<-req.Context().Done()
	return nil, req.Context().Err()
})

// takes takes the request, and never answers.
var takes = roundTrip(func(req *http.Request) (*http.Response, error) {
	httptrace.ContextClientTrace(req.Context()).WroteRequest(httptrace.WroteRequestInfo{})
	return hangs(req)
})

var redirects = roundTrip(func(req *http.Request) (*http.Response, error) {
	httptrace.ContextClientTrace(req.Context()).WroteRequest(httptrace.WroteRequestInfo{})
	return reply(307, asJSON, strings.NewReader("")), nil
})

// However a call ends, it leaves one row, gives back all that it holds, and is charged at most its price:
// nothing if the server cannot have worked on it.
func TestHoweverACallEnds(t *testing.T) {
	for name, c := range map[string]struct {
		transport http.RoundTripper
		during    func(r *rig, leave func()) // while the server is waited for
		code      string
		limit     string // of time
		charged   int64
	}{
		"answered":              {transport: answering(200, asJSON, result), charged: 10},
		"answered by a stream":  {transport: answering(200, asEvents, event(1, result)), charged: 10},
		"failed by the tool":    {transport: answering(200, asJSON, strings.Replace(result, `"content"`, `"isError":true,"content"`, 1)), charged: 10},
		"refused by the server": {transport: answering(400, asJSON, `{}`), code: "upstream_rejected"},
		"broken":                {transport: answering(500, asJSON, `{}`), code: "upstream_error"},
		"not reached":           {transport: roundTrip(func(*http.Request) (*http.Response, error) { return nil, errors.New("no route") }), code: "upstream_error"},
		"without a credential":  {transport: roundTrip(func(*http.Request) (*http.Response, error) { return nil, provider.ErrNoCredential }), code: "upstream_error"},
		"a broken connection": {transport: roundTrip(func(r *http.Request) (*http.Response, error) {
			resp := reply(200, asJSON, io.MultiReader(strings.NewReader("{"), errorReader{}))
			return resp, nil
		}), code: "upstream_error", charged: 10},
		"no answer in time":      {transport: takes, code: "upstream_timeout", limit: "first_byte", charged: 10},
		"no connection in time":  {transport: hangs, code: "upstream_timeout", limit: "first_byte"},
		"a redirect":             {transport: redirects, code: "upstream_error"},
		"silence":                {transport: then(event(1, progress)), code: "upstream_timeout", limit: "idle", charged: 10},
		"too long":               {transport: &drip{}, code: "upstream_timeout", limit: "call", charged: 10},
		"client gone at first":   {transport: hangs, during: func(_ *rig, leave func()) { leave() }, code: "client_closed_request"},
		"client gone in between": {transport: then(event(1, progress)), during: func(_ *rig, leave func()) { leave() }, code: "client_closed_request", charged: 10},
		"shutdown at first":      {transport: hangs, during: func(r *rig, _ func()) { r.calls.Interrupt(request.ErrShutdown) }, code: "shutting_down"},
		"shutdown in between":    {transport: then(event(1, progress)), during: func(r *rig, _ func()) { r.calls.Interrupt(request.ErrShutdown) }, code: "shutting_down", charged: 10},
		"a reload goes on":       {transport: &drip{last: result}, during: func(r *rig, _ func()) { close(r.replaced) }, charged: 10},
		"panic":                  {transport: roundTrip(func(*http.Request) (*http.Response, error) { panic("a bug") }), code: "internal"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newRig(t, c.transport, pricedCall, func(r *rig) {
					r.config.Timeouts = toolserver.Timeouts{Header: time.Minute, Idle: 2 * time.Minute, Call: 10 * time.Minute}
				})
				ctx, leave := context.WithCancel(t.Context())
				ended := make(chan struct{})
				w := httptest.NewRecorder()
				go func() {
					defer close(ended)
					defer func() { _ = recover() }()
					r.ServeHTTP(w, post(toolCall("echo")).WithContext(ctx))
				}()
				synctest.Wait()
				if c.during != nil {
					c.during(r, leave)
				}
				<-ended
				row := r.row(t)
				if row.Code != c.code || row.CostNano != c.charged || row.Model != "files/echo" {
					t.Errorf("code %q, charged %d: %+v", row.Code, row.CostNano, row)
				}
				balances, err := r.Ledger.Status(t.Context(), time.Now(), r.Limits.Keys["dev"].Subjects)
				if err != nil || balances[0].Spent != c.charged || balances[0].Reserved != 0 {
					t.Errorf("spent %+v, %v", balances, err)
				}
				if in, _ := r.Concurrency.InUse("key:dev"); in != 0 {
					t.Errorf("%d slots are held", in)
				}
				wantSaid(t, w, row)
				health := map[string]toolserver.State{"": toolserver.OK, "upstream_rejected": toolserver.OK, "upstream_error": toolserver.Failing, "upstream_timeout": toolserver.Failing}[row.Code]
				if got := r.Servers.Named("files").Health().State; health != "" && got != health {
					t.Errorf("the server is %s", got)
				}
				r.released(t)
				leave()
			})
		})
	}
}

// wantSaid checks that the client was told of a failure, once.
func wantSaid(t *testing.T, w *httptest.ResponseRecorder, row *activity.Record) {
	t.Helper()
	told := len(jsontest.Values(t, w.Body.String(), "error"))
	want := 1
	if row.Code == "" || row.Code == "client_closed_request" || row.Code == "internal" {
		want = 0
	}
	if told != want {
		t.Errorf("the client was told of %d failures: %s", told, w.Body)
	}
}

type errorReader struct{}

func (errorReader) Read([]byte) (int, error) { return 0, io.ErrUnexpectedEOF }

// drip is a stream that says something each minute, and after half an hour last.
type drip struct{ last string }

func (d *drip) RoundTrip(req *http.Request) (*http.Response, error) {
	reader, writer := io.Pipe()
	go func() {
		for range 5 {
			_, _ = io.WriteString(writer, event(1, progress))
			time.Sleep(time.Minute)
		}
		if d.last != "" {
			_, _ = io.WriteString(writer, event(2, d.last))
			_ = writer.Close()
			return
		}
		for req.Context().Err() == nil {
			_, _ = io.WriteString(writer, event(1, progress))
			time.Sleep(time.Minute)
		}
		_ = writer.CloseWithError(req.Context().Err())
	}()
	return reply(200, asEvents, reader), nil
}

// A stream that stays open ends with its configuration, with its key, at a shutdown and when its client
// leaves. No silence ends it, and it keeps its session.
func TestWhatEndsAStreamThatStaysOpen(t *testing.T) {
	const listen = `{"notifications":{"toolsListChanged":true}}`
	for name, c := range map[string]struct {
		during func(r *rig, holds *atomic.Bool, leave func())
		code   string
	}{
		"reload":   {func(r *rig, _ *atomic.Bool, _ func()) { close(r.replaced) }, ""},
		"key":      {func(_ *rig, holds *atomic.Bool, _ func()) { holds.Store(false) }, "invalid_api_key"},
		"shutdown": {func(r *rig, _ *atomic.Bool, _ func()) { r.calls.Interrupt(request.ErrShutdown) }, "shutting_down"},
		"client":   {func(_ *rig, _ *atomic.Bool, leave func()) { leave() }, "client_closed_request"},
	} {
		for _, req := range []*http.Request{old(http.MethodGet, "", ""), post(message("subscriptions/listen", listen))} {
			t.Run(name+" "+req.Method, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					var holds atomic.Bool
					holds.Store(true)
					r := newRig(t, then(event(1, progress)), func(r *rig) {
						limitedKey(limits.Subject{Concurrency: limits.Concurrency{Limit: 1}})(r)
						r.Holds = func(*request.Caller, string) bool { return holds.Load() }
					})
					ctx, leave := context.WithCancel(t.Context())
					defer leave()
					w, ended := httptest.NewRecorder(), make(chan struct{})
					go func() { r.ServeHTTP(w, req.WithContext(ctx)); close(ended) }()
					time.Sleep(time.Hour)
					synctest.Wait()
					if in, _ := r.Concurrency.InUse("key:dev"); in != 0 || r.calls.Len() != 1 {
						t.Errorf("%d slots, %d requests under way", in, r.calls.Len())
					}
					began := time.Now()
					c.during(r, &holds, leave)
					<-ended
					if took := time.Since(began); took > checkEvery {
						t.Errorf("it ended after %s", took)
					}
					if row := r.row(t); row.Code != c.code || !strings.HasPrefix(w.Body.String(), event(1, progress)) {
						t.Errorf("%+v: %s", row, w.Body)
					}
					told := len(jsontest.Values(t, w.Body.String(), "error")) > 0
					if want := req.Method == http.MethodPost && c.code != "client_closed_request"; told != want {
						t.Errorf("told %v: %s", told, w.Body)
					}
					r.released(t)
				})
			})
		}
	}
}

// A request that may have run is not sent twice if it calls a tool.
func TestOnlyWhatMayRunTwiceIsSentAgain(t *testing.T) {
	for method, want := range map[string]int{"tools/list": 2, "tools/call": 1} {
		sent := 0
		r := newRig(t, roundTrip(func(*http.Request) (*http.Response, error) {
			sent++
			return nil, provider.ErrStale
		}))
		body := message(method, "")
		if method == mcp.ToolsCall {
			body = toolCall("echo")
		}
		r.serve(post(body))
		if sent != want || r.row(t).Attempts != want {
			t.Errorf("%s was sent %d times: %+v", method, sent, r.row(t))
		}
	}
}

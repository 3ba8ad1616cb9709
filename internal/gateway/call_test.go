package gateway_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
	"go.uber.org/zap/zaptest/observer"

	"github.com/gatehouse-proxy/gatehouse/internal/activity"
	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/catalog"
	"github.com/gatehouse-proxy/gatehouse/internal/gateway"
	"github.com/gatehouse-proxy/gatehouse/internal/keys"
	"github.com/gatehouse-proxy/gatehouse/internal/openai"
	"github.com/gatehouse-proxy/gatehouse/internal/provider"
)

func TestACallLeavesOneRecordOneLineOneCount(t *testing.T) {
	core, lines := observer.New(zapcore.InfoLevel)
	cent := int64(1)
	models := []catalog.Model{{Provider: "acme", Name: "m", Price: &catalog.Price{Rates: catalog.Rates{
		Prompt: catalog.Quoted(catalog.Rate(cent)), Completion: catalog.Quoted(catalog.Rate(cent)),
	}}}}
	r := newRig(t, gateway.Config{
		Logger:  zap.New(core),
		Catalog: newCatalog(t, models, catalog.Source{Provider: "acme", Patterns: []string{"m"}}),
	}).start(t, t.Context())
	call := r.begin(t)
	if err := call.Admit(t.Context(), provider.Chat, "acme/m"); err != nil {
		t.Fatal(err)
	}
	call.FirstToken()
	call.Summarise(openai.Summary{
		UpstreamID: "chatcmpl-1", Finish: "stop", NativeFinish: "end", HasUsage: true,
		Usage: openai.Usage{Prompt: 3, Completion: 4, Reasoning: 1, Cached: 2},
	})
	call.Succeed(200)
	call.Finish()

	rows := r.records(t)
	if len(rows) != 1 {
		t.Fatalf("%d records", len(rows))
	}
	got := rows[0]
	if got.Latency <= 0 || got.FirstToken <= 0 || got.FirstToken > got.Latency {
		t.Errorf("latency %s, first token %s", got.Latency, got.FirstToken)
	}
	got.Latency, got.FirstToken, got.CreatedAt, got.CostNano = 0, 0, time.Time{}, 0
	want := activity.Record{
		ID: "gen-1", RequestID: "req_1", UpstreamID: "chatcmpl-1", Tenant: "default", Key: "dev",
		KeyHash: strings.TrimPrefix(keys.Hash(secret), "sha256:"), Family: "openai", Route: "POST /v1/chat/completions",
		Model: "acme/m", Provider: "acme", UpstreamModel: "m", Status: 200, FinishReason: "stop", NativeFinishReason: "end",
		PromptTokens: 3, CompletionTokens: 4, ReasoningTokens: 1, CachedTokens: 2, UsageSource: "provider", Priced: true,
	}
	if got != want {
		t.Errorf("record\n%+v, want\n%+v", got, want)
	}
	if n := lines.FilterMessage("call").Len(); n != 1 {
		t.Errorf("%d log lines", n)
	}
	fields := lines.All()[0].ContextMap()
	for name, want := range map[string]any{
		"request_id": "req_1", "key": "dev", "model": "acme/m", "status": int64(200), "tokens_in": int64(3), "tokens_out": int64(4),
	} {
		if fields[name] != want {
			t.Errorf("log field %s is %v, want %v", name, fields[name], want)
		}
	}
	if n := counted(t, r, `gatehouse_requests_total{code="",model="acme/m",provider="acme",route="POST /v1/chat/completions",status="200"}`); n != 1 {
		t.Errorf("counted %v times", n)
	}
}

// A handler that panics never notes an outcome: the deferred Finish does.
func TestAPanicIsSettledAsOurOwnFailure(t *testing.T) {
	core, lines := observer.New(zapcore.InfoLevel)
	r := newRig(t, gateway.Config{Logger: zap.New(core)}).start(t, t.Context())
	func() {
		defer func() { _ = recover() }()
		call := r.begin(t)
		defer call.Finish()
		if _, err := call.ReadBody(nopWriter{}, post(strings.NewReader("{}"), 2)); err != nil {
			t.Error(err)
		}
		panic("a bug")
	}()
	rows := r.records(t)
	if len(rows) != 1 || rows[0].Status != 500 || rows[0].Code != string(apierror.Internal) {
		t.Errorf("records %+v", rows)
	}
	if line := lines.All()[0]; line.Level != zapcore.ErrorLevel {
		t.Errorf("the line is at level %s", line.Level)
	}
	if r.state.Memory.Used() != 0 {
		t.Error("the body's memory was not given back")
	}
	r.Close()
	if r.released.Load() != 1 {
		t.Error("the call is still counted as under way")
	}
}

type nopWriter struct{ http.ResponseWriter }

func TestASuccessfulLookLeavesNoRecord(t *testing.T) {
	r := newRig(t, gateway.Config{}).start(t, t.Context())
	credential, err := r.Authenticate(secret)
	if err != nil {
		t.Fatal(err)
	}
	for _, refused := range []bool{false, true} {
		call, err := r.Begin(credential, gateway.Route{Name: "GET /v1/models", Family: "openai"}, gateway.IDs{RequestID: "req_2", GenerationID: "gen-2"})
		if err != nil {
			t.Fatal(err)
		}
		call.Succeed(200)
		if refused {
			call.Fail(apierror.From(call.Require(keys.ModelsRead)))
		}
		call.Finish()
	}
	if rows := r.records(t); len(rows) != 1 || rows[0].Code != string(apierror.InsufficientScope) || rows[0].Status != 403 {
		t.Errorf("records %+v, want the refusal alone", rows)
	}
}

func TestTheLogShowsNoSecretOfACause(t *testing.T) {
	core, lines := observer.New(zapcore.InfoLevel)
	r := newRig(t, gateway.Config{Logger: zap.New(core), Secrets: []string{"provider-credential"}}).start(t, t.Context())
	call := r.begin(t)
	call.Fail(apierror.New(apierror.UpstreamAuth, "x").WithCause(errors.New("key provider-credential is wrong")))
	call.Finish()
	if cause := lines.All()[0].ContextMap()["cause"]; cause != "key [redacted] is wrong" {
		t.Errorf("cause %q", cause)
	}
	if got := r.Redact("you sent "+secret+" and provider-credential", secret); got != "you sent [redacted] and [redacted]" {
		t.Errorf("redacted: %q", got)
	}
}

func TestAuthenticateHasOneRefusal(t *testing.T) {
	r := newRig(t, gateway.Config{})
	for _, wrong := range []string{"", "short", "gk-unit-012345678X", strings.Repeat("a", 600)} {
		_, err := r.Authenticate(wrong)
		wantFault(t, err, apierror.InvalidAPIKey, "the API key is missing or not valid")
	}
}

func TestFailuresOfTheUpstreamLegHaveTheirOwnCodes(t *testing.T) {
	for _, c := range []struct {
		name string
		rt   roundTrip
		code apierror.Code
		text string
	}{
		{"unreachable", func(*http.Request) (*http.Response, error) { return nil, errors.New("dial: connection refused") },
			apierror.UpstreamError, "could not be reached"},
		{"redirect", answering(307, ""), apierror.UpstreamError, "redirect"},
		{"broken off", func(*http.Request) (*http.Response, error) {
			body := io.MultiReader(strings.NewReader("{"), errorReader{io.ErrUnexpectedEOF})
			return &http.Response{StatusCode: 200, Header: http.Header{}, Body: io.NopCloser(body)}, nil
		}, apierror.UpstreamError, "broke off"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := newRig(t, gateway.Config{Providers: []*provider.Provider{newProvider(t, "acme", true, c.rt)}}).start(t, t.Context())
			call := r.begin(t)
			defer call.Finish()
			if err := call.Admit(t.Context(), provider.Chat, "acme/m"); err != nil {
				t.Fatal(err)
			}
			err := sendAndRead(t.Context(), call)
			wantFault(t, err, c.code, c.text)
			if e := apierror.From(err); e.Provider != "acme" {
				t.Errorf("provider %q", e.Provider)
			}
		})
	}
}

// sendAndRead makes the upstream call and reads its answer to the end.
func sendAndRead(ctx context.Context, call *gateway.Call) error {
	resp, err := call.Send(ctx, provider.Chat, [][]byte{[]byte("{}")}, true)
	if err != nil {
		return err
	}
	defer func() { _ = resp.Body.Close() }()
	_, err = io.Copy(io.Discard, resp.Body)
	return err
}

type errorReader struct{ err error }

func (e errorReader) Read([]byte) (int, error) { return 0, e.err }

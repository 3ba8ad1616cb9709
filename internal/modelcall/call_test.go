package modelcall

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/modelcall/wire"
	"github.com/gatehouse-proxy/gatehouse/internal/policy"
	"github.com/gatehouse-proxy/gatehouse/internal/request"
	"github.com/gatehouse-proxy/gatehouse/internal/testkit/jsontest"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
	"go.uber.org/zap/zaptest/observer"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/keys"
	"github.com/gatehouse-proxy/gatehouse/internal/limits"
)

// serve runs a call to its end as a handler does, and returns its answer and its refusal.
func (r *rig) serve(t testing.TB, op *wire.Operation, body string) (*httptest.ResponseRecorder, *apierror.Error) {
	t.Helper()
	w := httptest.NewRecorder()
	return w, r.serveTo(t, w, post(strings.NewReader(body), int64(len(body))), op)
}

func (r *rig) serveTo(t testing.TB, w http.ResponseWriter, req *http.Request, op *wire.Operation) *apierror.Error {
	t.Helper()
	q := r.request(t, w, req)
	defer q.Finish()
	err := Serve(&r.Deps, q, op, openaiAPI{})
	if err == nil {
		return nil
	}
	refusal := apierror.From(err)
	q.Outcome.Fail(refusal)
	return refusal
}

const chatAnswerBody = `{"id":"chatcmpl-1","object":"chat.completion","created":1,"model":"m","choices":[{"index":0,` +
	`"message":{"role":"assistant","content":"Hello."},"finish_reason":"stop"}],"usage":{"prompt_tokens":3,"completion_tokens":4,"total_tokens":7}}`

func TestACallLeavesOneRecordOneLineOneCount(t *testing.T) {
	core, lines := observer.New(zapcore.InfoLevel)
	r := newRig(t, answering(200, chatAnswerBody), func(r *rig) { r.Logger = zap.New(core) })
	w, refusal := r.serve(t, wire.Chat, hello)
	if refusal != nil || w.Code != 200 || !jsontest.Has(t, w.Body.String(), `{"model":"acme/m"}`) {
		t.Fatalf("%v: %d %s", refusal, w.Code, w.Body)
	}
	rows := r.rows(t)
	if len(rows) != 1 {
		t.Fatalf("%d records", len(rows))
	}
	got := rows[0]
	if got.ID != "gen-1" || got.RequestID != "req_1" || got.UpstreamID != "chatcmpl-1" || got.Key != "dev" || got.Tenant != "default" || got.Model != "acme/m" ||
		got.Provider != "acme" || got.UpstreamModel != "m" || got.Status != 200 || got.Code != "" || got.FinishReason != "stop" || got.PromptTokens != 3 ||
		got.CompletionTokens != 4 || got.UsageSource != "provider" || got.CostNano != 7000 || !got.Priced || got.Attempts != 1 || got.Latency <= 0 {
		t.Errorf("record %+v", got)
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
	r.calls.Close()
	if r.released != 1 || r.memory.Used() != 0 {
		t.Errorf("released %d times, %d bytes are held", r.released, r.memory.Used())
	}
}

// Nothing later runs after a refusal: the earlier of two reasons is the answer, and the provider is
// asked only if there is none.
func TestTheStepsOfACallRefuseInTheirOrder(t *testing.T) {
	asked := 0
	counting := roundTrip(func(*http.Request) (*http.Response, error) { asked++; return answering(200, chatAnswerBody)(nil) })
	used := func(r *rig) { // a budget that is used up
		k := budget(t, "1 tokens/day")
		k.Caps = policy.Caps{Messages: 1, Body: 4000}
		k.Subjects[0].Rates = []limits.Rate{{Unit: limits.Requests, Limit: 100, Window: 60e9}}
		limited(k)(r)
	}
	two := `"messages":[{"role":"user","content":"x"},{"role":"user","content":"y"}]`
	for _, c := range []struct {
		name, body string
		code       apierror.Code
	}{
		{"size before JSON", strings.Repeat("{", 5000), apierror.RequestTooLarge},
		{"JSON before model", `{"model":"nobody/m","model":"x"}`, apierror.InvalidJSON},
		{"parameters before model", `{"model":"nobody/m","stream":true}`, apierror.MissingParameter},
		{"model before caps", `{"model":"nobody/m",` + two + `}`, apierror.ModelNotFound},
		{"not callable", `{"model":"acme/hidden",` + two + `}`, apierror.ModelNotCallable},
		{"caps before budget", `{"model":"acme/m",` + two + `}`, apierror.InvalidValue},
		{"budget before stored state", `{"model":"acme/m","messages":[],"background":true}`, apierror.BudgetExceeded},
	} {
		r := newRig(t, counting, used)
		if _, refusal := r.serve(t, wire.Chat, hello); refusal == nil || refusal.Code != apierror.BudgetExceeded {
			t.Fatalf("a call that needs more than the budget: %v", refusal)
		}
		if err := spend(t, r, 1); err != nil {
			t.Fatal(err)
		}
		if _, refusal := r.serve(t, wire.Chat, c.body); refusal == nil || refusal.Code != c.code {
			t.Errorf("%s: %v, want %s", c.name, refusal, c.code)
		}
		if row := r.rows(t)[0]; row.Code != string(c.code) || row.Stream {
			t.Errorf("%s: the record has %q, stream %v", c.name, row.Code, row.Stream)
		}
	}
	if asked != 0 {
		t.Errorf("the provider was asked %d times", asked)
	}
}

// spend charges tokens to the rig's key.
func spend(t testing.TB, r *rig, tokens int64) error {
	t.Helper()
	amount := limits.Amount{Tokens: tokens}
	hold, refused, err := limits.Reserve(t.Context(), r.Ledger, limits.ReserveRequest{
		Call: "spent/" + t.Name(), At: r.Now(), Most: amount, Likely: amount, Subjects: r.Limits.Keys["dev"].Subjects,
	})
	if err != nil || refused != nil {
		t.Fatal(refused, err)
	}
	return hold.Settle(t.Context(), amount)
}

// A handler that panics never notes an outcome: the deferred Finish does.
func TestAPanicIsSettledAsOurOwnFailure(t *testing.T) {
	core, lines := observer.New(zapcore.InfoLevel)
	r := newRig(t, answering(200, `{}`), limited(budget(t, "1usd/day")), func(r *rig) { r.Logger = zap.New(core) })
	func() {
		defer func() { _ = recover() }()
		c := r.begin(t, hello)
		defer c.req.Finish()
		if err := c.admit(t.Context()); err != nil {
			t.Error(err)
		}
		panic("a bug")
	}()
	rows := r.rows(t)
	if len(rows) != 1 || rows[0].Status != 500 || rows[0].Code != string(apierror.Internal) {
		t.Errorf("records %+v", rows)
	}
	if line := lines.All()[0]; line.Level != zapcore.ErrorLevel {
		t.Errorf("the line is at level %s", line.Level)
	}
	if b := r.balance(t); b.Reserved != 0 || b.Spent != 0 {
		t.Errorf("%d nano-USD are reserved and %d spent", b.Reserved, b.Spent)
	}
	r.calls.Close()
	if r.memory.Used() != 0 || r.released != 1 {
		t.Errorf("%d bytes are held, released %d times", r.memory.Used(), r.released)
	}
}

func TestACallOfAClosedConfigurationIsRefused(t *testing.T) {
	r := newRig(t, answering(200, `{}`))
	r.calls.Init(func() bool { return false }, func() {})
	r.calls.Close()
	_, err := request.Begin(&r.Deps.Deps.Deps, httptest.NewRecorder(), post(strings.NewReader(""), 0), request.Caller{Credential: keys.Credential{Key: &r.key}}, request.Route{}, request.IDs{})
	wantRefusal(t, err, apierror.ShuttingDown, "try again")
}

func TestFailuresOfTheProviderHaveTheirOwnCodes(t *testing.T) {
	for _, c := range []struct {
		name string
		rt   roundTrip
		code apierror.Code
		text string
	}{
		{"unreachable", func(*http.Request) (*http.Response, error) { return nil, errors.New("dial: connection refused") },
			apierror.UpstreamError, "could not be reached"},
		{"redirect", answering(307, ""), apierror.UpstreamError, "redirect"},
		{"broken off", breaking(`{"id":`), apierror.UpstreamError, "broke off"},
		{"nonsense", answering(200, "<html>"), apierror.UpstreamError, "is not JSON"},
		{"its own 400", answering(400, `{"error":{"message":"bad temperature"}}`), apierror.UpstreamRejected, "bad temperature"},
		{"its credential", answering(401, `{"error":{"message":"no"}}`), apierror.UpstreamAuth, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := newRig(t, c.rt)
			w, refusal := r.serve(t, wire.Chat, hello)
			if refusal == nil || refusal.Code != c.code || !strings.Contains(refusal.Message, c.text) || refusal.Provider != "acme" {
				t.Errorf("%+v, want %s with %q", refusal, c.code, c.text)
			}
			if w.Body.Len() > 0 {
				t.Errorf("written: %s", w.Body)
			}
		})
	}
}

func TestACallThatBeginsAfterItsClientHasLeftIsNotSent(t *testing.T) {
	r := newRig(t, roundTrip(func(*http.Request) (*http.Response, error) { t.Error("sent"); return nil, errors.New("x") }))
	c := r.begin(t, hello)
	defer c.req.Finish()
	if err := c.admit(t.Context()); err != nil {
		t.Fatal(err)
	}
	gone, leave := context.WithCancel(t.Context())
	leave()
	_, err := c.send(gone)
	wantRefusal(t, err, apierror.ClientGone, "the client left")
}

package modelcall

import (
	"database/sql"
	"errors"
	"net/http/httptest"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"weak"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
	"go.uber.org/zap/zaptest/observer"

	sqliteactivity "github.com/gatehouse-proxy/gatehouse/internal/activity/sqlite"
	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/keys"
	"github.com/gatehouse-proxy/gatehouse/internal/limits/sqlite"
	"github.com/gatehouse-proxy/gatehouse/internal/modelcall/wire"
	sqliteowners "github.com/gatehouse-proxy/gatehouse/internal/owners/sqlite"
	"github.com/gatehouse-proxy/gatehouse/internal/provider"
	"github.com/gatehouse-proxy/gatehouse/internal/redact"
	"github.com/gatehouse-proxy/gatehouse/internal/request"
	"github.com/gatehouse-proxy/gatehouse/internal/store"
)

func TestASuccessfulLookLeavesNoRecord(t *testing.T) {
	r := newRig(t, answering(200, `{}`))
	for _, refused := range []bool{false, true} {
		q, err := request.Begin(&r.Deps.Deps.Deps, httptest.NewRecorder(), post(strings.NewReader(""), 0), request.Caller{Credential: keys.Credential{Key: &r.key}},
			request.Route{Name: "GET /v1/models", Family: "openai"}, request.IDs{RequestID: "req_2", GenerationID: "gen-2"})
		if err != nil {
			t.Fatal(err)
		}
		q.Outcome.Succeed(200)
		if refused {
			q.Outcome.Fail(apierror.From(q.Require(keys.ModelsRead)))
		}
		q.Finish()
		q.Finish()
	}
	if rows := r.rows(t); len(rows) != 1 || rows[0].Code != string(apierror.InsufficientScope) || rows[0].Status != 403 {
		t.Errorf("records %+v, want the refusal alone", rows)
	}
	if c := r.begin(t, hello); c.req.Require(keys.ChatWrite) != nil {
		t.Error("a scope that the key has is refused")
	}
}

func TestTheLogShowsNoSecretOfACause(t *testing.T) {
	core, lines := observer.New(zapcore.InfoLevel)
	r := newRig(t, answering(200, `{}`), func(r *rig) {
		r.Logger, r.Redactor = zap.New(core), redact.New([]string{"provider-credential"}, func(string) bool { return false })
	})
	c := r.begin(t, hello)
	c.req.Outcome.Fail(apierror.New(apierror.UpstreamAuth, "x").WithCause(errors.New("key provider-credential is wrong")))
	c.req.Finish()
	line := lines.All()[0]
	if cause := line.ContextMap()["cause"]; cause != "key [redacted] is wrong" || line.Level != zapcore.ErrorLevel {
		t.Errorf("cause %q at level %s", cause, line.Level)
	}
}

// Callers see neither their own key nor the credential of the provider that answered, and all else as
// the provider wrote it: they could test guesses of other secrets.
func TestAProvidersTextLacksOnlyWhatItsCallerOrItselfKnows(t *testing.T) {
	r := newRig(t, answering(200, `{}`), func(r *rig) { r.Redactor = redact.New([]string{"another-secret"}, nil) })
	p := newProvider(t, answering(200, `{}`), func(c *provider.Config) {
		c.Endpoints[0].Credential = func() string { return "provider-credential" }
		c.Endpoints[0].Header = []provider.HeaderField{
			{Name: "Api-Token", Value: func() string { return "Token header-secret" }, Secret: func() string { return "header-secret" }}, {Name: "Beta", Value: func() string { return "some-feature" }},
		}
	})
	shown := shown(r.begin(t, hello).req, &target{endpoint: p.Endpoints[0]})
	got := shown("you sent " + secret + ", provider-credential, header-secret, some-feature and another-secret")
	if want := "you sent [redacted], [redacted], [redacted], some-feature and another-secret"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// A provider's error that repeats the prompt must not tell a right guess of its credential from a wrong one.
func TestAGuessInAProvidersErrorComesBackAsItWasSent(t *testing.T) {
	for _, guess := range []string{"provider-credential", "a-wrong-guess", `provider\u002dcredential`} {
		refuses := answering(400, `{"error":{"message":"bad: `+guess+`","type":"invalid_request_error"}}`)
		r := newRig(t, refuses)
		r.models.provider = newProvider(t, refuses, func(c *provider.Config) { c.Endpoints[0].Credential = func() string { return "provider-credential" } })
		_, refusal := r.serve(t, wire.Chat, strings.Replace(hello, "hello", guess, 1))
		plain := strings.Replace(guess, `\u002d`, "-", 1)
		wantRefusal(t, refusal, apierror.UpstreamRejected, "bad: "+plain)
		_, refusal = r.serve(t, wire.Chat, hello)
		if shown := strings.Contains(refusal.Message, plain); shown != (guess == "a-wrong-guess") {
			t.Errorf("%s: %s", guess, refusal.Message)
		}
	}
}

func TestAClientThatHasLeftIs499InTheRecord(t *testing.T) {
	r := newRig(t, answering(200, `{}`))
	c := r.begin(t, hello)
	c.req.Outcome.Fail(request.ClientGone(nil))
	c.req.Finish()
	if row := r.rows(t)[0]; row.Status != 499 || row.Code != string(apierror.ClientGone) {
		t.Errorf("status %d, code %s", row.Status, row.Code)
	}
}

// A record may wait long for a slow disk. If it held its call, it would hold the request, the answer
// and Caddy's context too.
func TestARecordThatWaitsDoesNotHoldItsCall(t *testing.T) {
	dir := t.TempDir()
	opened, err := store.Open(dir, store.Options{Schemas: []store.Schema{sqliteactivity.Schema, sqliteowners.Schema, sqlite.LedgerSchema, sqlite.RateSchema}, Logger: zap.NewNop()})
	if err != nil {
		t.Fatal(err)
	}
	defer opened.Close()
	r := newRig(t, answering(200, chatAnswerBody), func(r *rig) { r.Activity = sqliteactivity.New(opened) })
	other, err := sql.Open("sqlite", "file:"+filepath.Join(dir, store.FileName))
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	other.SetMaxOpenConns(1)
	if _, err := other.Exec("BEGIN IMMEDIATE"); err != nil {
		t.Fatal(err)
	}
	held := func() weak.Pointer[call] {
		c := r.begin(t, hello)
		c.asked.Model = "acme/m"
		if err := c.route(t.Context()); err != nil { // no wait: a stopped timer may be held for a while
			t.Fatal(err)
		}
		c.req.Outcome.Succeed(200)
		c.req.Finish()
		return weak.Make(c)
	}()
	for range 10 {
		if runtime.GC(); held.Value() == nil {
			break
		}
	}
	if held.Value() != nil {
		t.Error("the call is held by its record")
	}
	if _, err := other.Exec("ROLLBACK"); err != nil {
		t.Fatal(err)
	}
}

package apierror

import (
	"errors"
	"fmt"
	"io"
	"testing"
	"time"
)

func TestPermanentRefusalsAreNeverRetriedByAnSDK(t *testing.T) {
	for code, r := range table {
		if final := New(code, "no").Final(); r.status < 500 && r.status != 429 && !final || r.status == 408 {
			t.Errorf("%s: status %d is retried by the OpenAI SDKs or Claude Code", code, r.status)
		}
		if r.status >= 500 && code != Internal && r.retryAfter == 0 {
			t.Errorf("%s: a %d without Retry-After is retried without pace for an hour by the OpenRouter SDKs", code, r.status)
		}
		if r.openaiType == "" || r.openrouterType == "" {
			t.Errorf("%s: an API has no type for it", code)
		}
	}
}

func TestOtherErrorsShowTheClientNoDetail(t *testing.T) {
	e := From(fmt.Errorf("reading /etc/secret: %w", io.ErrUnexpectedEOF))
	if e.Code != Internal || e.HTTPStatus() != 500 {
		t.Fatalf("got %s, status %d", e.Code, e.HTTPStatus())
	}
	if e.Message != "the gateway failed to handle this request" {
		t.Fatalf("message shows the cause: %q", e.Message)
	}
	if !errors.Is(e, io.ErrUnexpectedEOF) {
		t.Fatal("the cause is lost for the log")
	}
}

func TestFromFindsAWrappedFault(t *testing.T) {
	want := New(ModelNotFound, "no model %q", "a/b").WithParam("model")
	got := From(fmt.Errorf("resolving: %w", want))
	if got != want || got.Param != "model" || got.Message != `no model "a/b"` {
		t.Fatalf("got %+v", got)
	}
}

func TestAProvidersOwnStatusIsKept(t *testing.T) {
	e := &Error{Code: UpstreamRejected, Status: 413}
	if e.HTTPStatus() != 413 || !e.Final() {
		t.Fatalf("status %d, final %v", e.HTTPStatus(), e.Final())
	}
}

func TestLongWaitsReportThatARetryCannotHelp(t *testing.T) {
	e := New(GatewayBusy, "busy")
	if e.Retry() != time.Second || e.Final() {
		t.Fatalf("default: retry %v final %v", e.Retry(), e.Final())
	}
	e.RetryAfter = 2 * time.Minute
	if !e.Final() {
		t.Fatal("a wait of two minutes must not be retried inside the call")
	}
	if !New(UpstreamAuth, "x").Final() {
		t.Fatal("a refused credential of ours is not cured by a retry")
	}
}

func TestAProvidersOwnVerdictSaysThatARetryCannotHelp(t *testing.T) {
	for _, status := range []int{400, 404, 409, 413, 422} {
		if !(&Error{Code: UpstreamRejected, Status: status}).Final() {
			t.Errorf("a provider's own %d is not final", status)
		}
	}
}

func TestUnknownCodeIsInternal(t *testing.T) {
	e := &Error{Code: "no_such_code"}
	if e.HTTPStatus() != 500 || e.Type() != serverError || e.OpenRouterType() != "server" {
		t.Fatalf("status %d type %s", e.HTTPStatus(), e.Type())
	}
}

func TestCallsOverABudgetAreNotRetried(t *testing.T) {
	for _, code := range []Code{BudgetExceeded, CannotBePriced} {
		if e := New(code, "no"); e.HTTPStatus() != 402 || e.Retry() != 0 || e.Type() != "insufficient_quota" || e.OpenRouterType() != "payment_required" {
			t.Errorf("%s: %d %v %s %s", code, e.HTTPStatus(), e.Retry(), e.Type(), e.OpenRouterType())
		}
	}
	e := New(RateLimitExceeded, "slow down")
	if e.RetryAfter = time.Second; e.Final() {
		t.Error("a wait of a second is final")
	}
	if e.NoRetry = true; !e.Final() {
		t.Error("what says that a retry cannot help is not final")
	}
}

func TestAWaitOfAMinuteIsStillWorthARetry(t *testing.T) {
	e := New(RateLimitExceeded, "slow down")
	if e.RetryAfter = time.Minute; e.Final() {
		t.Error("a wait of a minute is final")
	}
	if e.RetryAfter++; !e.Final() {
		t.Error("a longer wait is not final")
	}
}

func TestTheTextForTheLogHasTheCause(t *testing.T) {
	e := New(UpstreamError, "the provider %q failed", "acme")
	if got := e.Error(); got != `upstream_error: the provider "acme" failed` || e.Unwrap() != nil {
		t.Errorf("without a cause: %q", got)
	}
	if got := e.WithCause(io.ErrUnexpectedEOF).Error(); got != `upstream_error: the provider "acme" failed: unexpected EOF` || !errors.Is(e, io.ErrUnexpectedEOF) {
		t.Errorf("with a cause: %q", got)
	}
}

func TestRecordHas499IfTheClientDisconnected(t *testing.T) {
	if StatusClientGone != 499 {
		t.Errorf("status %d", StatusClientGone)
	}
}

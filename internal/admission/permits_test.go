package admission

import (
	"testing"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/activity"
	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/guardrail"
	"github.com/gatehouse-proxy/gatehouse/internal/limits"
	"github.com/gatehouse-proxy/gatehouse/internal/metrics"
	"github.com/gatehouse-proxy/gatehouse/internal/policy"
	"github.com/gatehouse-proxy/gatehouse/internal/request"
)

func TestARefusalNamesItsOption(t *testing.T) {
	perMinute := limits.Rate{Unit: limits.Requests, Limit: 10, Window: time.Minute}
	guard := GuardOf(&Deps{Deps: request.Deps{Metrics: metrics.New(metrics.Gauges{})}}, &request.Request{Outcome: request.Outcome{Record: new(activity.Record)}}, "provider")
	for want, err := range map[string]error{
		"key dev: rate 10/min":            rateRefusal(&limits.RateRefusal{Reading: limits.Reading{Subject: "key:dev", Rate: perMinute}}),
		"gateway: concurrency 200":        concurrencyRefusal(&limits.Busy{Subject: policy.GatewaySubject(), Limit: limits.Concurrency{Limit: 200}}),
		"guardrail secrets: github_token": guard.Blocked(&guardrail.Verdict{Guardrail: "secrets", Class: "github_token"}),
	} {
		if e := apierror.From(err); e.RefusedBy != want {
			t.Errorf("%q instead of %q (%v)", e.RefusedBy, want, e)
		}
	}
}

func TestARateRefusalSaysWhenToComeBack(t *testing.T) {
	minute := limits.Rate{Unit: limits.Requests, Limit: 5, Window: time.Minute}
	hour := limits.Rate{Unit: limits.Tokens, Limit: 5, Window: time.Hour}
	for _, c := range []struct {
		name    string
		refusal limits.RateRefusal
		after   time.Duration
		noRetry bool
	}{
		{"a minute", limits.RateRefusal{Reading: limits.Reading{Subject: "key:dev", Rate: minute}, RetryAfter: 7 * time.Second}, 7 * time.Second, false},
		{"an hour", limits.RateRefusal{Reading: limits.Reading{Subject: "key:dev", Rate: hour}, RetryAfter: 7 * time.Second}, 7 * time.Second, true},
		{"never", limits.RateRefusal{Reading: limits.Reading{Subject: "key:dev", Rate: minute}, Never: true}, time.Minute, true},
	} {
		e := rateRefusal(&c.refusal)
		if e.RetryAfter != c.after || e.NoRetry != c.noRetry || e.LimitSource != "key:dev" || e.Rate == nil || e.Rate.Tokens != (c.name == "an hour") {
			t.Errorf("%s: %+v", c.name, e)
		}
	}
}

func TestTheTighterRateIsShown(t *testing.T) {
	rate := limits.Rate{Unit: limits.Requests, Limit: 10, Window: time.Minute}
	some, few := limits.Reading{Rate: rate, Remaining: 5}, limits.Reading{Rate: rate, Remaining: 2}
	none := limits.Reading{}
	for _, c := range []struct{ a, b, want limits.Reading }{
		{none, none, none}, {none, some, some}, {some, none, some}, {some, few, few}, {few, some, few}, {some, some, some},
	} {
		if got := tighter(c.a, c.b); got != c.want {
			t.Errorf("of %d and %d remaining: %d", c.a.Remaining, c.b.Remaining, got.Remaining)
		}
	}
}

package modelcall

import (
	"cmp"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/failover"
	"github.com/gatehouse-proxy/gatehouse/internal/testkit/jsontest"
)

// outcome is what must come of a call.
type outcome struct {
	attempts []string // "<target>" or "<target> <code>" in their order
	took     time.Duration
	answer   int           // number of the target that answers; -1 for none
	code     apierror.Code // of the failure, "" for an answer
	status   int           // of the refusal; 0 for a stream that has begun
	retry    time.Duration // Retry-After of the refusal
	state    string        // of the first target afterwards; "" is healthy
	cools    time.Duration // for how long
}

// answered is the outcome of a call that a later target answers.
func answered(by int, took time.Duration, attempts ...string) outcome {
	return outcome{attempts: attempts, took: took, answer: by}
}

// broken is the outcome of a stream that ends with an error event.
func broken(took time.Duration, attempts ...string) outcome {
	return outcome{attempts: attempts, took: took, code: apierror.UpstreamError}
}

func refused(code apierror.Code, status int, attempts ...string) outcome {
	return outcome{attempts: attempts, answer: -1, code: code, status: status}
}

func (o outcome) cooled(state string, d time.Duration) outcome {
	o.state, o.cools = state, d
	return o
}

func (o outcome) after(d time.Duration) outcome {
	o.retry = d
	return o
}

func (o outcome) within(d time.Duration) outcome {
	o.took = d
	return o
}

const cooling = failover.StateCooling

// The scenarios of Failover Bench v0.1, a number each. S15 is a test of its own.
var scenarios = []struct {
	name       string
	behaviours []string // of the targets
	change     func(*rig)
	streamed   outcome
	whole      outcome // zero: the same
	anthropic  outcome // if the first target is Anthropic's; zero: the same
}{
	{
		name: "S01 first 429 with Retry-After", behaviours: []string{"first-1-after-2-err-429", "echo"},
		streamed: answered(1, 0, "first upstream_rate_limited", "second").cooled(cooling, 2*time.Second),
	}, {
		name: "S02 always 429 without Retry-After", behaviours: []string{"after-none-err-429", "echo"},
		streamed: answered(1, 0, "first upstream_rate_limited", "second").cooled(cooling, 5*time.Second),
	}, {
		name: "S03 500 once", behaviours: []string{"first-1-err-500", "echo"},
		streamed: answered(1, 0, "first upstream_error", "second"),
	}, {
		name: "S04 always 503", behaviours: []string{"after-none-err-503", "echo"},
		streamed:  answered(1, 0, "first upstream_error", "second"),
		anthropic: answered(1, 0, "first upstream_overloaded", "second"),
	}, {
		name: "S05 reset before the header", behaviours: []string{"first-1-reset", "echo"},
		streamed: answered(1, 0, "first upstream_error", "second"),
	}, {
		name: "S06 accepts and never answers", behaviours: []string{"hang", "echo"},
		streamed: answered(1, 30*time.Second, "first timeout_first_byte", "second"),
		whole:    answered(1, 75*time.Second, "first timeout_first_byte", "second"),
	}, {
		name: "S07 first token after 20 s", behaviours: []string{"delayed-headers-20000", "echo"},
		streamed: answered(0, 20*time.Second, "first"),
	}, {
		name: "S08 cut at token 40 of 60", behaviours: []string{"cut-40", "echo"},
		streamed: broken(0, "first upstream_error"),
		whole:    answered(1, 0, "first upstream_error", "second"),
	}, {
		name: "S08 cut with a clean end", behaviours: []string{"cut-40-clean", "echo"},
		streamed: broken(0, "first upstream_error"),
		whole:    answered(1, 0, "first upstream_error", "second"),
	}, {
		name: "S09 silent after 20 tokens", behaviours: []string{"silent-20", "echo"},
		change:   func(r *rig) { r.Timeouts.Idle = 30 * time.Second },
		streamed: outcome{attempts: []string{"first timeout_idle"}, took: 30 * time.Second, code: apierror.UpstreamTimeout},
		whole:    answered(1, 75*time.Second, "first timeout_first_byte", "second"),
	}, {
		name: "S10 one malformed event", behaviours: []string{"malformed", "echo"},
		streamed: broken(0, "first upstream_error"),
		whole:    answered(1, 0, "first upstream_error", "second"),
	}, {
		name: "S11 no [DONE]", behaviours: []string{"no-done", "echo"},
		streamed:  answered(0, 0, "first"),
		whole:     answered(0, 0, "first"),
		anthropic: broken(0, "first upstream_error"), // without message_stop it is cut
	}, {
		name: "S12 the prompt is too long", behaviours: []string{"too-long", "echo"},
		streamed: refused(apierror.ContextLengthExceeded, 400, "first context_length_exceeded"),
	}, {
		name: "S13 content policy", behaviours: []string{"err-400-content_policy_violation", "echo"},
		streamed:  refused(apierror.ProviderContentPolicy, 422, "first provider_content_policy"),
		anthropic: refused(apierror.UpstreamRejected, 400, "first upstream_rejected"), // it has no such code
	}, {
		name: "S13 Azure's content filter", behaviours: []string{"azure-filter", "echo"},
		streamed: refused(apierror.ProviderContentPolicy, 422, "first provider_content_policy"),
	}, {
		name: "S14 cut, and the fallback takes no prefill", behaviours: []string{"cut-40", "no-prefill"},
		streamed: broken(0, "first upstream_error"),
		whole:    answered(1, 0, "first upstream_error", "second"),
	}, {
		name: "S16 billing in a fallback", behaviours: []string{"err-500", "hang", "echo"},
		streamed: answered(2, 30*time.Second, "first upstream_error", "second timeout_first_byte", "third"),
		whole:    answered(2, 75*time.Second, "first upstream_error", "second timeout_first_byte", "third"),
	}, {
		name: "overloaded after the first event", behaviours: []string{"after-none-overloaded", "echo"},
		streamed:  answered(1, 0, "first upstream_error", "second"),
		anthropic: answered(1, 0, "first upstream_overloaded", "second"),
	}, {
		name: "all limit their rates", behaviours: []string{"after-9-err-429", "after-7-err-429", "after-8-err-429"},
		streamed: refused(apierror.UpstreamRateLimited, 429, "first upstream_rate_limited", "second upstream_rate_limited", "third upstream_rate_limited").
			after(7*time.Second).cooled(cooling, 9*time.Second),
	}, {
		name: "an operator must mend all", behaviours: []string{"err-401", "spend-cap"},
		streamed: refused(apierror.UpstreamAuth, 502, "first upstream_auth_error", "second upstream_quota_exhausted").
			after(time.Minute).cooled(cooling, 10*time.Minute),
	}, {
		name: "all fail", behaviours: []string{"after-none-err-503", "err-500"},
		streamed: refused(apierror.UpstreamError, 502, "first upstream_error", "second upstream_error", "second upstream_error").
			within(retryPause).after(10 * time.Second),
		anthropic: refused(apierror.UpstreamError, 502, "first upstream_overloaded", "second upstream_error", "second upstream_error").
			within(retryPause).after(10 * time.Second),
	},
}

func TestScenariosOfFailover(t *testing.T) {
	for _, s := range scenarios {
		t.Run(s.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newFleetRig(t)
				if s.change != nil {
					s.change(r)
				}
				for _, family := range families {
					for _, stream := range []bool{true, false} {
						time.Sleep(time.Second) // so that records are in their order
						want := s.streamed
						switch {
						case !stream && s.whole.attempts != nil:
							want = s.whole
						case family.anthropic && s.anthropic.attempts != nil:
							want = s.anthropic
						}
						f := r.fleet(t, family, s.behaviours)
						w, refusal := f.ask(t, stream)
						if f.want(t, want, stream, w, refusal); t.Failed() {
							t.Fatalf("%s, stream %v", family.name, stream)
						}
					}
				}
			})
		})
	}
}

// want checks what came of the only call of the fleet.
func (f *fleet) want(t *testing.T, want outcome, stream bool, w *httptest.ResponseRecorder, refusal *apierror.Error) {
	t.Helper()
	took := time.Since(f.began)
	if took < want.took || took > want.took+time.Second {
		t.Errorf("it took %v, want %v", took, want.took)
	}
	row := f.rows(t)[0]
	var attempts []string
	for _, a := range row.Attempted {
		name, _, _ := strings.Cut(a.Target, "/")
		attempts = append(attempts, strings.TrimSpace(name+" "+a.Code))
	}
	if !slices.Equal(attempts, want.attempts) || len(f.asked) != len(attempts) || row.Attempts != len(attempts) {
		t.Errorf("attempts %q of %d, asked %v; want %q", attempts, row.Attempts, f.asked, want.attempts)
	}
	switch body := w.Body.String(); {
	case want.status != 0 && refusal == nil:
		t.Errorf("no refusal:\n%s", body)
	case want.status != 0:
		wantRefusal(t, refusal, want.code, "")
		if refusal != nil && (refusal.HTTPStatus() != want.status || refusal.Retry() != want.retry) || body != "" {
			t.Errorf("status %d, Retry-After %v, want %d and %v; written: %s", refusal.HTTPStatus(), refusal.Retry(), want.status, want.retry, body)
		}
	case want.code != "":
		if refusal != nil || !f.family.looksBroken(body) {
			t.Errorf("%v: the stream does not look broken:\n%s", refusal, body)
		}
	case refusal != nil || !f.family.looksWhole(stream, body):
		t.Errorf("%v: no whole answer:\n%s", refusal, body)
	}
	if row.Code != string(want.code) {
		t.Errorf("the record has the code %q", row.Code)
	}
	f.wantCharged(t, want, w.Body.String())
	state := cmp.Or(want.state, failover.StateHealthy)
	if s := f.health(0); s.State != state || !s.Until.IsZero() && time.Until(s.Until) != want.cools {
		t.Errorf("the first target is %s for %v, want %s for %v", s.State, time.Until(s.Until), state, want.cools)
	}
	f.wantNothingHeld(t)
}

// wantCharged checks that the call names the target that answered and costs its price, once.
func (f *fleet) wantCharged(t *testing.T, want outcome, body string) {
	t.Helper()
	row := f.rows(t)[0]
	spent := f.balance(t).Spent - f.spent
	if want.answer < 0 {
		if spent != 0 || row.CostNano != 0 {
			t.Errorf("a call without an answer costs %d, %d in the record", spent, row.CostNano)
		}
		return
	}
	name := targetNames[want.answer]
	if row.Provider != name || !jsontest.Has(t, body, `{"model":"`+name+"/"+row.UpstreamModel+`"}`) {
		t.Errorf("the record names %s, want %s:\n%s", row.Provider, name, body)
	}
	tokens := row.PromptTokens + row.CompletionTokens
	if price := int64(want.answer+1) * 1000 * tokens; tokens == 0 || spent != price || row.CostNano != price {
		t.Errorf("%d tokens cost %d, %d in the record, want %d", tokens, spent, row.CostNano, price)
	}
	if want.code == "" && (row.UsageSource != "provider" || row.PromptTokens != 60 || row.CompletionTokens != 62) {
		t.Errorf("usage %d and %d, by %s", row.PromptTokens, row.CompletionTokens, row.UsageSource)
	}
}

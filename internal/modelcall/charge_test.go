package modelcall

import (
	"cmp"
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/activity"
	"github.com/gatehouse-proxy/gatehouse/internal/modelcall/wire"
	"github.com/gatehouse-proxy/gatehouse/internal/policy"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/limits"
	"github.com/gatehouse-proxy/gatehouse/internal/openai/params"
	"github.com/gatehouse-proxy/gatehouse/internal/provider"
)

func TestAFailingLedgerRefusesCallsByThePolicy(t *testing.T) {
	for _, c := range []struct {
		name    string
		budget  string
		policy  policy.FailurePolicy
		refused bool
	}{
		{"money", "1usd/day", policy.FailByBudget, true},
		{"tokens", "1M tokens/day", policy.FailByBudget, false},
		{"soft money", "1usd/day soft", policy.FailByBudget, false},
		{"money, open", "1usd/day", policy.FailOpen, false},
		{"tokens, closed", "1M tokens/day", policy.FailClosed, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := newRig(t, answering(200, `{}`), limited(budget(t, c.budget)), func(r *rig) { r.Limits.OnStoreFailure = c.policy })
			call := r.begin(t, hello)
			defer call.req.Finish()
			if err := r.store.Close(); err != nil {
				t.Fatal(err)
			}
			err := call.admit(t.Context())
			if !c.refused {
				if err != nil {
					t.Errorf("refused: %v", err)
				}
				return
			}
			wantRefusal(t, err, apierror.LedgerUnavailable, "cannot be recorded")
		})
	}
}

// invalid is a ledger that takes every reservation for an impossible one.
type invalid struct{ limits.Ledger }

func (invalid) Reserve(context.Context, limits.ReserveRequest) (*limits.Refusal, error) {
	return nil, fmt.Errorf("%w: a negative amount", limits.ErrInvalid)
}

// An impossible reservation is a bug of the gateway: nobody may call without being charged, whatever
// the policy for a failing ledger.
func TestACallWithoutAValidReservationDoesNotGoOn(t *testing.T) {
	for _, onFailure := range []policy.FailurePolicy{policy.FailByBudget, policy.FailOpen, policy.FailClosed} {
		r := newRig(t, answering(200, `{}`), limited(budget(t, "1usd/day soft")), func(r *rig) {
			r.Limits.OnStoreFailure, r.Ledger = onFailure, invalid{r.Ledger}
		})
		c := r.begin(t, hello)
		wantRefusal(t, c.admit(t.Context()), apierror.Internal, "")
		c.req.Finish()
	}
}

// A call that would never be charged is refused under any budget, unless the operator wants otherwise.
func TestACallThatWouldNeverBeChargedIsRefused(t *testing.T) {
	for onFailure, refused := range map[policy.FailurePolicy]bool{policy.FailByBudget: true, policy.FailClosed: true, policy.FailOpen: false} {
		r := newRig(t, answering(200, `{}`), limited(budget(t, "1usd/day soft")), func(r *rig) {
			r.Limits.OnStoreFailure, r.Ledger = onFailure, full{r.Ledger}
		})
		c := r.begin(t, hello)
		if err := c.admit(t.Context()); refused {
			wantRefusal(t, err, apierror.LedgerUnavailable, "cannot be recorded")
		} else if err != nil {
			t.Errorf("policy %d: %v", onFailure, err)
		}
		c.req.Finish()
	}
}

// full is a ledger of which the engine is away for long.
type full struct{ limits.Ledger }

func (full) Reserve(context.Context, limits.ReserveRequest) (*limits.Refusal, error) {
	return nil, fmt.Errorf("%w: %w: %w", limits.ErrUnavailable, limits.ErrAway, limits.ErrFull)
}

// hanging is a ledger on a disk that hangs: it takes the reservation and does not answer.
type hanging struct{ limits.Ledger }

func (h hanging) Reserve(ctx context.Context, r limits.ReserveRequest) (*limits.Refusal, error) {
	if refusal, err := h.Ledger.Reserve(ctx, r); refusal != nil || err != nil {
		return refusal, err
	}
	bounded, cancel := context.WithTimeout(ctx, cmp.Or(r.Timeout, time.Minute))
	defer cancel()
	<-bounded.Done()
	return nil, fmt.Errorf("%w: %w", limits.ErrUnavailable, bounded.Err())
}

// A call holds its concurrency slots while it waits for the disk, so the wait has an end.
func TestADiskThatHangsRefusesTheCallSoon(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, answering(200, `{}`), limited(budget(t, "1usd/day")), func(r *rig) { r.Ledger = hanging{r.Ledger} })
		c, begun := r.begin(t, hello), time.Now()
		defer c.req.Finish()
		wantRefusal(t, c.admit(t.Context()), apierror.LedgerUnavailable, "cannot be recorded")
		if waited := time.Since(begun); waited != 2*time.Second {
			t.Errorf("after %v", waited)
		}
		if b := r.balance(t); b.Reserved != 0 {
			t.Errorf("nobody will use what is still reserved: %+v", b)
		}
	})
}

// A window slides by the gateway's clock, and a day begins by it.
func TestRatesAndBudgetsFollowTheClock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		key := budget(t, "400 tokens/day")
		key.Subjects[0].Rates = []limits.Rate{{Unit: limits.Requests, Limit: 1, Window: time.Minute}}
		lateInTheDay := func() time.Time { return time.Now().Add(23*time.Hour + 55*time.Minute) } // the bubble begins at midnight
		answer := `{"id":"x","object":"chat.completion","choices":[{"index":0,"message":{"role":"assistant","content":"x"},"finish_reason":"stop"}],` +
			`"usage":{"prompt_tokens":200,"completion_tokens":50,"total_tokens":250}}`
		r := newRig(t, answering(200, answer), limited(key), func(r *rig) { r.Now = lateInTheDay })
		try := func() *apierror.Error {
			_, refusal := r.serve(t, wire.Chat, hello)
			return refusal
		}
		if refusal := try(); refusal != nil {
			t.Fatal(refusal)
		}
		refusal := try()
		wantRefusal(t, refusal, apierror.RateLimitExceeded, "key:dev")
		time.Sleep(refusal.RetryAfter - time.Millisecond)
		wantRefusal(t, try(), apierror.RateLimitExceeded, "1/min")
		time.Sleep(time.Millisecond)
		wantRefusal(t, try(), apierror.BudgetExceeded, "250 tokens spent")
		time.Sleep(5 * time.Minute)
		if refusal := try(); refusal != nil {
			t.Errorf("the next day: %v", refusal)
		}
	})
}

func TestCapsBoundARequest(t *testing.T) {
	for _, c := range []struct {
		name      string
		caps      policy.Caps
		asked     params.RequestedLimits
		tools     int
		field     string
		refused   string // in the refusal's text; "" for none
		output    int64
		setOutput bool
	}{
		{"none", policy.Caps{}, params.RequestedLimits{Output: 5, Param: "max_tokens"}, 9, "", "", 5, false},
		{"tools", policy.Caps{Tools: 2}, params.RequestedLimits{}, 3, "", "declares 3 tools; at most 2", 0, false},
		{"tools at the cap", policy.Caps{Tools: 2}, params.RequestedLimits{}, 2, "", "", 0, false},
		{"messages", policy.Caps{Messages: 2}, params.RequestedLimits{Messages: 3}, 0, "", `"messages" has 3 elements; at most 2`, 0, false},
		{"messages at the cap", policy.Caps{Messages: 2}, params.RequestedLimits{Messages: 2}, 0, "", "", 0, false},
		{"output", policy.Caps{Output: 10}, params.RequestedLimits{Output: 11, Param: "max_tokens"}, 0, "", `"max_tokens" is 11; at most 10`, 11, false},
		{"output at the cap", policy.Caps{Output: 10}, params.RequestedLimits{Output: 10, Param: "max_tokens"}, 0, "", "", 10, false},
		{"output by another name", policy.Caps{Output: 10, Clamp: true}, params.RequestedLimits{Output: 9, Param: "max_tokens", Other: "n_predict"}, 0, "", `"n_predict" is not possible where the output is limited; use "max_tokens"`, 9, false},
		{"another name without a cap", policy.Caps{}, params.RequestedLimits{Output: 9, Param: "max_tokens", Other: "n_predict"}, 0, "", "", 9, false},
		{"output clamped", policy.Caps{Output: 10, Clamp: true}, params.RequestedLimits{Output: 11, Param: "max_tokens"}, 0, "", "", 10, true},
		{"no output named", policy.Caps{Output: 10}, params.RequestedLimits{}, 0, "", "", 10, true},
		{"another field", policy.Caps{}, params.RequestedLimits{Output: 5, Param: "max_tokens"}, 0, "max_completion_tokens", "", 5, true},
		{"another field and nothing asked", policy.Caps{}, params.RequestedLimits{}, 0, "max_completion_tokens", "", 0, false},
	} {
		g := charge{key: new(policy.KeyLimits), record: new(activity.Record), requested: c.asked}
		at := &target{allowed: allowed{caps: c.caps}, op: wire.Chat, provider: &provider.Provider{MaxTokensField: c.field}}
		err := g.check(at, func() int { return c.tools }, "messages")
		if c.refused != "" {
			wantRefusal(t, err, apierror.InvalidValue, c.refused)
		} else if err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
		if c.refused == "" && (at.allowed.output != c.output || at.allowed.setOutput != c.setOutput) {
			t.Errorf("%s: output %d, set %v", c.name, at.allowed.output, at.allowed.setOutput)
		}
	}
}

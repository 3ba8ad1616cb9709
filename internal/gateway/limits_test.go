package gateway_test

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/activity"
	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/catalog"
	"github.com/gatehouse-proxy/gatehouse/internal/gateway"
	"github.com/gatehouse-proxy/gatehouse/internal/jsonscan"
	"github.com/gatehouse-proxy/gatehouse/internal/limits"
	"github.com/gatehouse-proxy/gatehouse/internal/openai"
	"github.com/gatehouse-proxy/gatehouse/internal/openai/request"
	"github.com/gatehouse-proxy/gatehouse/internal/provider"
)

// priced is a catalog of acme/m: 1,000 nano-USD a token.
func priced(t testing.TB) *catalog.Catalog {
	t.Helper()
	rate, err := catalog.ParseRate("0.000001")
	if err != nil {
		t.Fatal(err)
	}
	price := &catalog.Price{Rates: catalog.Rates{Prompt: catalog.Quoted(rate), Completion: catalog.Quoted(rate)}}
	return newCatalog(t, []catalog.Model{{Provider: "acme", Name: "m", Price: price}}, catalog.Source{Provider: "acme", Patterns: []string{"m"}})
}

func underBudget(text string, t testing.TB) *gateway.KeyLimits {
	t.Helper()
	b, err := limits.ParseBudget(text)
	if err != nil {
		t.Fatal(err)
	}
	return &gateway.KeyLimits{Subjects: []limits.Subject{{Name: "key:dev", Budgets: []limits.Budget{b}}}}
}

// reserve takes a call to where it would be sent.
func reserve(t testing.TB, call *gateway.Call, body string) error {
	t.Helper()
	req := httptest.NewRequest(http.MethodPost, "/", strings.NewReader(body))
	if err := call.AdmitCaller(httptest.NewRecorder(), req); err != nil {
		return err
	}
	read, err := call.ReadBody(httptest.NewRecorder(), req)
	if err != nil {
		t.Fatal(err)
	}
	var parsed jsonscan.Body
	if err := parsed.Parse(read); err != nil {
		t.Fatal(err)
	}
	if err := call.Admit(t.Context(), provider.Chat, "acme/m"); err != nil {
		t.Fatal(err)
	}
	call.NeedsDemand()
	asked, err := request.ChatLimits(&parsed)
	if err != nil {
		t.Fatal(err)
	}
	if err := call.AdmitDemand(t.Context(), asked, "messages"); err != nil {
		return err
	}
	if err := call.AdmitState(t.Context(), &parsed); err != nil {
		return err
	}
	return call.Reserve(t.Context(), &parsed)
}

const hello = `{"model":"acme/m","messages":[{"role":"user","content":"hello"}],"max_tokens":100}`

func TestWhatBecomesOfACallWhileTheLedgerFails(t *testing.T) {
	for _, c := range []struct {
		name    string
		budget  string
		policy  gateway.FailurePolicy
		refused bool
	}{
		{"money", "1usd/day", gateway.FailByBudget, true},
		{"tokens", "1M tokens/day", gateway.FailByBudget, false},
		{"soft money", "1usd/day soft", gateway.FailByBudget, false},
		{"money, open", "1usd/day", gateway.FailOpen, false},
		{"tokens, closed", "1M tokens/day", gateway.FailClosed, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := newRig(t, gateway.Config{Catalog: priced(t), Limits: gateway.Limits{
				Keys: map[string]*gateway.KeyLimits{"dev": underBudget(c.budget, t)}, OnStoreFailure: c.policy,
			}})
			if err := r.Start(t.Context(), activity.Retention{}); err != nil {
				t.Fatal(err)
			}
			call := r.begin(t)
			defer call.Finish()
			if err := r.state.Close(); err != nil {
				t.Fatal(err)
			}
			err := reserve(t, call, hello)
			if !c.refused {
				if err != nil {
					t.Errorf("refused: %v", err)
				}
				return
			}
			wantFault(t, err, apierror.LedgerUnavailable, "cannot be recorded")
		})
	}
}

// A silent provider is charged by the time it had.
func TestUsageThatNobodyReportedIsEstimated(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		transport := sending(func(r *http.Request) (*http.Response, error) {
			time.Sleep(100 * time.Millisecond) // of the bubble's clock
			return nil, errors.New("broken pipe")
		})
		r := newRig(t, gateway.Config{
			Catalog: priced(t), Providers: []*provider.Provider{newProvider(t, "acme", true, transport)},
			Limits: gateway.Limits{Keys: map[string]*gateway.KeyLimits{"dev": underBudget("1usd/day", t)}},
		}).start(t, t.Context())
		call := r.begin(t)
		if err := reserve(t, call, hello); err != nil {
			t.Fatal(err)
		}
		_, err := call.Send(t.Context(), provider.Chat, [][]byte{[]byte(hello)}, false)
		if err == nil {
			t.Fatal("no failure")
		}
		call.Fail(apierror.From(err))
		call.Finish()
		cost := (int64(len(hello)+2)/3 + 20) * 1000
		if row := r.records(t)[0]; row.UsageSource != "estimated" || row.CompletionTokens != 20 || row.CostNano != cost {
			t.Errorf("%s, %d tokens, %d nano-USD", row.UsageSource, row.CompletionTokens, row.CostNano)
		}
		balances, err := r.Balances(t.Context(), "dev")
		if err != nil || len(balances) != 1 || balances[0].Spent != cost || balances[0].Reserved != 0 {
			t.Errorf("%+v, %v", balances, err)
		}
	})
}

// A window slides by the gateway's clock, and a day begins anew by it.
func TestRatesAndBudgetsFollowTheClock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		key := underBudget("400 tokens/day", t)
		key.Subjects[0].Rates = []limits.Rate{{Unit: limits.Requests, Limit: 1, Window: time.Minute}}
		lateInTheDay := func() time.Time { return time.Now().Add(23*time.Hour + 55*time.Minute) } // the bubble begins at midnight
		r := newRig(t, gateway.Config{
			Catalog: priced(t), Now: lateInTheDay, Limits: gateway.Limits{Keys: map[string]*gateway.KeyLimits{"dev": key}},
		}).start(t, t.Context())
		serial := 0
		try := func() error {
			serial++
			call := r.beginNumbered(t, serial)
			defer call.Finish()
			if err := reserve(t, call, hello); err != nil {
				return err
			}
			resp, err := call.Send(t.Context(), provider.Chat, [][]byte{[]byte(hello)}, false)
			if err != nil {
				t.Fatal(err)
			}
			call.Summarise(openai.Summary{HasUsage: true, Usage: openai.Usage{Prompt: 200, Completion: 50}})
			call.Succeed(200)
			return resp.Body.Close()
		}
		if err := try(); err != nil {
			t.Fatal(err)
		}
		err := try()
		wantFault(t, err, apierror.RateLimitExceeded, "key:dev")
		time.Sleep(apierror.From(err).RetryAfter - time.Millisecond)
		wantFault(t, try(), apierror.RateLimitExceeded, "1/min")
		time.Sleep(time.Millisecond)
		wantFault(t, try(), apierror.BudgetExceeded, "250 tokens spent")
		time.Sleep(5 * time.Minute)
		if err := try(); err != nil {
			t.Errorf("the next day: %v", err)
		}
	})
}

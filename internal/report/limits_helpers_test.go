package report

import (
	"encoding/json"
	"net/url"
	"testing"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/admission"
	"github.com/gatehouse-proxy/gatehouse/internal/policy"
	"github.com/gatehouse-proxy/gatehouse/internal/request"

	"go.uber.org/zap"

	"github.com/gatehouse-proxy/gatehouse/internal/keys"
	"github.com/gatehouse-proxy/gatehouse/internal/limits"
	"github.com/gatehouse-proxy/gatehouse/internal/limits/sqlite"
	"github.com/gatehouse-proxy/gatehouse/internal/modelcall"
	"github.com/gatehouse-proxy/gatehouse/internal/store"
)

// subject parses limits: "10usd/day" is a budget, "60/min" a rate, "5" a limit of calls at once.
func subject(t testing.TB, name string, rates, budgets []string, concurrency string) limits.Subject {
	t.Helper()
	s := limits.Subject{Name: name}
	for _, text := range rates {
		r, err := limits.ParseRate(text)
		if err != nil {
			t.Fatal(err)
		}
		s.Rates = append(s.Rates, r)
	}
	for _, text := range budgets {
		b, err := limits.ParseBudget(text)
		if err != nil {
			t.Fatal(err)
		}
		s.Budgets = append(s.Budgets, b)
	}
	if concurrency != "" {
		c, err := limits.ParseConcurrency(concurrency)
		if err != nil {
			t.Fatal(err)
		}
		s.Concurrency = c
	}
	return s
}

// newLimits returns the limits of two tenants, acme with the keys dev and ci and lab with the key
// bot, of a model, and of the gateway. Nothing is used.
func newLimits(t testing.TB) *modelcall.Deps {
	t.Helper()
	everybody := subject(t, "gateway", nil, []string{"100usd/month"}, "200")
	acme := subject(t, "tenant:acme", nil, []string{"50usd/week"}, "")
	dev := subject(t, "key:dev", []string{"60/min", "1000 tokens/h"}, []string{"10usd/day", "5000 tokens/total soft"}, "10 queue 20 2s")
	bot := subject(t, "key:bot", nil, []string{"1usd/day"}, "")
	l := &policy.Limits{
		Keys: map[string]*policy.KeyLimits{
			"dev": {Tenant: "acme", Subjects: []limits.Subject{dev, acme, everybody}},
			"bot": {Tenant: "lab", Subjects: []limits.Subject{bot, everybody}},
		},
		Tenants: map[string]*policy.KeyLimits{"acme": {Tenant: "acme", Subjects: []limits.Subject{acme, everybody}}},
		Models:  []policy.ModelLimits{{Pattern: "openai/gpt-*", Subject: subject(t, "model:openai/gpt-*", []string{"500/min"}, nil, "")}},
	}
	return withLimits(t, l)
}

func withLimits(t testing.TB, l *policy.Limits) *modelcall.Deps {
	t.Helper()
	if err := l.Prepare(); err != nil {
		t.Fatal(err)
	}
	st, err := store.Open(t.TempDir(), store.Options{Schemas: []store.Schema{sqlite.LedgerSchema}, Logger: zap.NewNop()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = st.Close() })
	ledger, _, err := sqlite.OpenLedger(t.Context(), st)
	if err != nil {
		t.Fatal(err)
	}
	now := func() time.Time { return noon }
	rates, err := sqlite.NewRates(t.Context(), nil, now)
	if err != nil {
		t.Fatal(err)
	}
	return &modelcall.Deps{Deps: admission.Deps{Deps: request.Deps{Limits: l, Now: now}, Ledger: ledger, Rates: rates, Concurrency: limits.NewConcurrencyLimiter()}}
}

// caller returns a key of a tenant.
func caller(t testing.TB, spec keys.Spec) *keys.Key {
	t.Helper()
	spec.Secrets = []string{"gk-unit-0123456789"}
	if spec.Scopes == nil {
		spec.Scopes = []string{"limits:read"}
	}
	ring, err := keys.NewKeyring([]keys.Spec{spec})
	if err != nil {
		t.Fatal(err)
	}
	found, err := ring.Authenticate("gk-unit-0123456789", noon)
	if err != nil {
		t.Fatal(err)
	}
	return found.Key
}

// everyTenant returns a key that sees the limits of all tenants.
func everyTenant(t testing.TB) *keys.Key {
	t.Helper()
	return caller(t, keys.Spec{Name: "ops", AllTenants: true})
}

// seen returns "subject configured" of each row, and the cursor of the next page.
func seen(t testing.TB, d *modelcall.Deps, key *keys.Key, query string) (rows []string, next string) {
	t.Helper()
	q, err := url.ParseQuery(query)
	if err != nil {
		t.Fatal(err)
	}
	got, err := Limits(t.Context(), d, key, q)
	if err != nil {
		t.Fatal(err)
	}
	var page struct {
		Data []struct{ Subject, Configured string }
		Next string `json:"next_cursor"`
	}
	if err := json.Unmarshal(got, &page); err != nil {
		t.Fatal(err)
	}
	for _, row := range page.Data {
		rows = append(rows, row.Subject+" "+row.Configured)
	}
	return rows, page.Next
}

// use makes two calls of a key: one that has ended and spent so much, and one under way.
func use(t *testing.T, d *modelcall.Deps, key string, spent int64) {
	t.Helper()
	subjects := d.Limits.Keys[key].Subjects
	if _, refused, _ := d.Rates.Request(t.Context(), subjects); refused != nil {
		t.Fatal(refused)
	}
	if permit, busy := d.Concurrency.Acquire(subjects, nil); busy != nil || permit == nil {
		t.Fatal("no slot")
	}
	for call, spent := range map[string]int64{"settled": spent, "open": 0} {
		_, refused, err := limits.Reserve(t.Context(), d.Ledger, limits.ReserveRequest{
			Call: call, At: noon, Subjects: subjects, Most: limits.Amount{Nano: 3_000_000_001, Tokens: 40}, Likely: limits.Amount{Nano: 1, Tokens: 30},
		})
		if refused != nil || err != nil {
			t.Fatal(refused, err)
		}
		if spent > 0 {
			if err := d.Ledger.Settle(t.Context(), call, limits.Amount{Nano: spent, Tokens: 100}); err != nil {
				t.Fatal(err)
			}
		}
	}
}

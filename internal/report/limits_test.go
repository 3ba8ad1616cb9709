package report

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"testing"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/policy"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/keys"
	"github.com/gatehouse-proxy/gatehouse/internal/limits"
)

func TestLimitsShowWhatIsUsed(t *testing.T) {
	d := newLimits(t)
	use(t, d, "dev", 2_500_000_000)
	q := url.Values{"subject": {"key:dev"}}
	got, err := Limits(t.Context(), d, caller(t, keys.Spec{Name: "dev", Tenant: "acme"}), q)
	if err != nil {
		t.Fatal(err)
	}
	wantJSON(t, got, `{"data":[
		{"subject":"key:dev","tenant":"acme","type":"budget","configured":"10usd/day","unit":"usd","limit":10,"remaining":4.499999999,"used_ratio":0.55,
		 "exhausted":false,"resets_at":"2026-03-19T00:00:00.000Z","period":"day","soft":false,"spent":2.5,"reserved":3.000000001},
		{"subject":"key:dev","tenant":"acme","type":"budget","configured":"5000 tokens/total soft","unit":"tokens","limit":5000,"remaining":4870,
		 "used_ratio":0.026,"exhausted":false,"resets_at":null,"period":"total","soft":true,"spent":100,"reserved":30},
		{"subject":"key:dev","tenant":"acme","type":"rate","configured":"60/min","unit":"requests","limit":60,"remaining":59,"used_ratio":0.0167,
		 "exhausted":false,"resets_at":"2026-03-18T12:01:01.000Z","window_seconds":60,"used":1},
		{"subject":"key:dev","tenant":"acme","type":"rate","configured":"1000 tokens/h","unit":"tokens","limit":1000,"remaining":1000,"used_ratio":0,
		 "exhausted":false,"resets_at":null,"window_seconds":3600,"used":0},
		{"subject":"key:dev","tenant":"acme","type":"concurrency","configured":"10 queue 20 2s","unit":"calls","limit":10,"remaining":9,"used_ratio":0.1,
		 "exhausted":false,"resets_at":null,"in_use":1,"queued":0,"queue":20,"max_wait_ms":2000}
		],"next_cursor":null}`)
}

// What is used of the gateway's limits is also what others use of them.
func TestSharedLimitsAreShownWithoutWhatOthersUse(t *testing.T) {
	d := newLimits(t)
	use(t, d, "dev", 2_500_000_000)
	q := url.Values{"subject": {"gateway"}}
	own := caller(t, keys.Spec{Name: "bot", Tenant: "lab"})
	got, err := Limits(t.Context(), d, own, q)
	if err != nil {
		t.Fatal(err)
	}
	wantJSON(t, got, `{"data":[
		{"subject":"gateway","tenant":null,"type":"budget","configured":"100usd/month","unit":"usd","limit":100,"remaining":null,"used_ratio":null,
		 "exhausted":false,"resets_at":"2026-04-01T00:00:00.000Z","period":"month","soft":false,"spent":null,"reserved":null},
		{"subject":"gateway","tenant":null,"type":"concurrency","configured":"200","unit":"calls","limit":200,"remaining":null,"used_ratio":null,
		 "exhausted":false,"resets_at":null,"in_use":null,"queued":null,"queue":0,"max_wait_ms":0}
		],"next_cursor":null}`)
	// Nor can the filter be asked for it.
	if rows, _ := seen(t, d, own, "subject=gateway&min_used=0.001"); rows != nil {
		t.Errorf("saw %v", rows)
	}
	operator := caller(t, keys.Spec{Name: "ops", AllTenants: true})
	if rows, _ := seen(t, d, operator, "subject=gateway&min_used=0.05"); !slices.Equal(rows, []string{"gateway 100usd/month"}) {
		t.Errorf("an operator saw %v", rows)
	}
	if err := d.Ledger.Settle(t.Context(), "open", limits.Amount{Nano: 200_000_000_000}); err != nil {
		t.Fatal(err)
	}
	if rows, _ := seen(t, d, own, "min_used=1"); !slices.Equal(rows, []string{"gateway 100usd/month"}) {
		t.Errorf("of an exhausted one: %v", rows)
	}
}

func TestLimitsAreThoseThatTheCallerMaySee(t *testing.T) {
	d := newLimits(t)
	gateway, acme, bot, models := []string{"gateway 100usd/month", "gateway 200"}, []string{"tenant:acme 50usd/week"}, []string{"key:bot 1usd/day"}, []string{"model:openai/gpt-* 500/min"}
	dev := []string{"key:dev 10usd/day", "key:dev 5000 tokens/total soft", "key:dev 60/min", "key:dev 1000 tokens/h", "key:dev 10 queue 20 2s"}
	for _, c := range []struct {
		name  string
		key   keys.Spec
		query string
		want  []string
	}{
		{"the tenant's", keys.Spec{Name: "ci", Tenant: "acme"}, "", slices.Concat(gateway, dev, models, acme)},
		{"the tenant's by name", keys.Spec{Name: "ci", Tenant: "acme"}, "tenant=acme", slices.Concat(gateway, dev, models, acme)},
		{"another tenant's", keys.Spec{Name: "ci", Tenant: "acme"}, "tenant=lab", nil},
		{"another tenant's key", keys.Spec{Name: "ci", Tenant: "acme"}, "subject=key:bot", nil},
		{"of models that the key may not use", keys.Spec{Name: "bot", Tenant: "lab", Models: []string{"test/*"}}, "", slices.Concat(gateway, bot)},
		{"of models that it may use in part", keys.Spec{Name: "bot", Tenant: "lab", Models: []string{"openai/*-mini"}}, "", slices.Concat(gateway, bot, models)},
		{"its own without the scope", keys.Spec{Name: "dev", Tenant: "acme", Scopes: []string{"chat:write"}}, "", dev},
		{"nothing of its own", keys.Spec{Name: "ci", Tenant: "acme", Scopes: []string{"chat:write"}}, "", nil},
		{"its own in another tenant", keys.Spec{Name: "dev", Tenant: "acme", Scopes: []string{"chat:write"}}, "tenant=lab", nil},
		{"everyone's", keys.Spec{Name: "ops", AllTenants: true}, "", slices.Concat(gateway, bot, dev, models, acme)},
		{"one of everyone's", keys.Spec{Name: "ops", AllTenants: true}, "tenant=lab", slices.Concat(gateway, bot, models)},
		{"all tenants' need the scope", keys.Spec{Name: "ops", AllTenants: true, Scopes: []string{"chat:write"}}, "", nil},
		{"budgets", keys.Spec{Name: "ops", AllTenants: true}, "type=budget&tenant=acme", slices.Concat(gateway[:1], dev[:2], acme)},
		{"a subject", keys.Spec{Name: "ops", AllTenants: true}, "subject=tenant:acme", acme},
		{"an unknown subject", keys.Spec{Name: "ops", AllTenants: true}, "subject=key:none", nil},
	} {
		if rows, next := seen(t, d, caller(t, c.key), c.query); !slices.Equal(rows, c.want) || next != "" {
			t.Errorf("%s: %v and %q, want %v", c.name, rows, next, c.want)
		}
	}
}

func TestLimitsHavePages(t *testing.T) {
	d, ops := newLimits(t), everyTenant(t)
	all, _ := seen(t, d, ops, "")
	for limit := 1; limit <= len(all); limit++ {
		var got []string
		for cursor := ""; ; {
			rows, next := seen(t, d, ops, fmt.Sprintf("limit=%d%s", limit, cursor))
			if got = append(got, rows...); next == "" {
				break
			}
			if len(rows) != limit {
				t.Fatalf("a page of %d has %d rows", limit, len(rows))
			}
			cursor = "&cursor=" + next
		}
		if !slices.Equal(got, all) {
			t.Errorf("pages of %d: %v, want %v", limit, got, all)
		}
	}
	// A cursor gives no rights, and goes on behind a subject that is gone.
	cursor := limitsCursor{"key:cat", 3}.String()
	if rows, _ := seen(t, d, caller(t, keys.Spec{Name: "ci", Tenant: "acme"}), "limit=1&cursor="+cursor); !slices.Equal(rows, []string{"key:dev 10usd/day"}) {
		t.Errorf("%v", rows)
	}
	if rows, next := seen(t, d, ops, "subject=key:dev&limit=3"); len(rows) != 3 || next == "" {
		t.Errorf("%v and %q", rows, next)
	} else if rows, next := seen(t, d, ops, "subject=key:dev&limit=3&cursor="+next); len(rows) != 2 || next != "" {
		t.Errorf("then %v and %q", rows, next)
	}
}

func TestLimitsRefuseWhatTheyCannotRead(t *testing.T) {
	d := newLimits(t)
	for _, c := range []struct{ query, param, message string }{
		{"type=money", "type", "must be budget, rate or concurrency"},
		{"min_used=80", "min_used", "such as 0.8"}, {"min_used=NaN", "min_used", "such as 0.8"}, {"min_used=-0.1", "min_used", "such as 0.8"},
		{"limit=0", "limit", "from 1 to 1000"}, {"limit=1001", "limit", "from 1 to 1000"},
		{"cursor=%21", "cursor", "next_cursor"}, {"cursor=MA", "cursor", "next_cursor"}, {"cursor=LTEgYQ", "cursor", "next_cursor"},
		{"tenant=", "tenant", "must not be empty"}, {"tenant=a&tenant=b", "tenant", "given once"},
		{"subject=" + string(make([]byte, 1025)), "subject", "longer than 1024"},
	} {
		q, err := url.ParseQuery(c.query)
		if err != nil {
			t.Fatal(err)
		}
		_, err = Limits(t.Context(), d, everyTenant(t), q)
		wantRefusal(t, err, apierror.InvalidValue, c.param, c.message)
	}
}

func TestALedgerThatCannotAnswerIs503(t *testing.T) {
	d := newLimits(t)
	d.Ledger = failingLedger{d.Ledger}
	_, err := Limits(t.Context(), d, everyTenant(t), nil)
	wantRefusal(t, err, apierror.LedgerUnavailable, "", "what is spent of the budgets cannot be read now")
	if !errors.Is(err, limits.ErrUnavailable) {
		t.Error("the log gets no cause")
	}
}

type failingLedger struct{ limits.Ledger }

func (failingLedger) Status(context.Context, time.Time, []limits.Subject) ([]limits.Balance, error) {
	return nil, limits.ErrUnavailable
}

// One page of a gateway with a hundred thousand keys, each under a budget of its own.
func BenchmarkLimitsOfManyKeys(b *testing.B) {
	l := &policy.Limits{Keys: map[string]*policy.KeyLimits{}}
	for i := range 100_000 {
		name := fmt.Sprintf("key-%06d", i)
		l.Keys[name] = &policy.KeyLimits{Tenant: "acme", Subjects: []limits.Subject{subject(b, "key:"+name, nil, []string{"10usd/day"}, "")}}
	}
	d, ops := withLimits(b, l), everyTenant(b)
	d.Limits.Limited("", keys.EveryTenant(""))
	for name, q := range map[string]url.Values{
		"page": {"cursor": {limitsCursor{"key:key-050000", 0}.String()}}, "nearly used up": {"min_used": {"0.8"}}, "of a tenant without any": {"tenant": {"lab"}},
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := Limits(b.Context(), d, ops, q); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func TestTheLimitsOfAServerAreSeenByKeysThatReachIt(t *testing.T) {
	github := subject(t, "mcp:github", []string{"60/min"}, nil, "")
	d := withLimits(t, &policy.Limits{Servers: map[string]*limits.Subject{"github": &github}})
	for name, key := range map[string]keys.Spec{
		"a key of the server": {Name: "ci", Tools: []string{"github/read_*"}}, "a key of another": {Name: "ci", Tools: []string{"demo/*"}}, "a key of none": {Name: "ci"},
	} {
		if rows, _ := seen(t, d, caller(t, key), ""); (len(rows) == 1 && rows[0] == "mcp:github 60/min") != (name == "a key of the server") {
			t.Errorf("%s sees %v", name, rows)
		}
	}
}

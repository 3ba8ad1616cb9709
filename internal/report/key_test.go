package report

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/activity"
	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/keys"
	"github.com/gatehouse-proxy/gatehouse/internal/limits"
)

func newKey() *keys.Key { return &keys.Key{Name: "dev", Tenant: "acme"} }

// keyConstants are the members of an answer that are the same for all keys.
const keyConstants = `"byok_usage":0,"byok_usage_daily":0,"byok_usage_weekly":0,"byok_usage_monthly":0,"is_free_tier":false,
	"is_management_key":false,"is_provisioning_key":false,"include_byok_in_limit":false,"creator_user_id":null,"organization_id":null,"workspace_id":"011312ed-02e7-570f-8f5a-2ab44f4498f5",
	"allowed_data_regions":[],"free_model_daily_requests":{"limit":0,"remaining":0,"used":0},
	"rate_limit":{"requests":-1,"interval":"10s","note":"not used; limits are told by the answers of a call"}`

// Without a budget the activity says what was spent: of the key's own calls.
func TestAKeyWithoutBudgets(t *testing.T) {
	today, others, tenants := fullCall, fullCall, fullCall
	today.ID, today.CreatedAt = "gen-3", noon
	others.ID, others.Key = "gen-4", "ops"
	tenants.ID, tenants.Tenant = "gen-5", "other"
	log, _ := newLog(t, fullCall, today, others, tenants, refused)
	got, err := Key(t.Context(), log, newKey(), nil, nil, noon.In(time.FixedZone("", 13*3600))) // a day is one of UTC
	if err != nil {
		t.Fatal(err)
	}
	wantJSON(t, got, `{"data":{"label":"dev","limit":null,"limit_remaining":null,"limit_reset":null,
		"usage":0.003,"usage_daily":0.0015,"usage_weekly":0.003,"usage_monthly":0.003,"budgets":[],"exhausted":[],"expires_at":null,`+keyConstants+`}}`)
}

func TestAKeyWithBudgets(t *testing.T) {
	log, _ := newLog(t, fullCall)
	key := newKey()
	key.Expires = noon
	tomorrow := time.Date(2026, 3, 19, 0, 0, 0, 0, time.UTC)
	got, err := Key(t.Context(), log, key, nil, []limits.Balance{
		{Subject: "key:dev", Budget: limits.Budget{Unit: limits.Money, Limit: 5e9, Period: limits.Total}, Spent: 2e9, Reserved: 1e9},
		{Subject: "key:dev", Budget: limits.Budget{Unit: limits.Tokens, Limit: 100, Period: limits.Daily, Soft: true}, Spent: 90, Reserved: 5, ResetsAt: tomorrow},
	}, noon)
	if err != nil {
		t.Fatal(err)
	}
	wantJSON(t, got, `{"data":{"label":"dev","limit":5,"limit_remaining":2,"limit_reset":null,
		"usage":2,"usage_daily":0,"usage_weekly":0.0015,"usage_monthly":0.0015,"budgets":[
		{"unit":"usd","period":"total","soft":false,"limit":5,"spent":2,"reserved":1,"resets_at":null},
		{"unit":"tokens","period":"day","soft":true,"limit":100,"spent":90,"reserved":5,"resets_at":"2026-03-19T00:00:00.000Z"}],"exhausted":[],
		"expires_at":"2026-03-18T12:00:00.000Z",`+keyConstants+`}}`)
}

// OpenRouter's members show one budget: that for money with the least remaining. The ledger's
// figure replaces the sum of the activity for the period of each budget.
func TestTheTightestBudgetIsShown(t *testing.T) {
	log, _ := newLog(t, fullCall)
	money := func(limit int64, p limits.Period, spent int64) limits.Balance {
		return limits.Balance{Subject: "key:dev", Budget: limits.Budget{Unit: limits.Money, Limit: limit * 1e9, Period: p}, Spent: spent * 1e9}
	}
	for _, c := range []struct {
		balances []limits.Balance
		want     string
	}{
		{[]limits.Balance{money(10, limits.Daily, 4)}, `"limit":10,"limit_remaining":6,"limit_reset":"daily","usage":0.0015,"usage_daily":4,"usage_weekly":0.0015,"usage_monthly":0.0015`},
		{[]limits.Balance{money(10, limits.Weekly, 4)}, `"limit":10,"limit_remaining":6,"limit_reset":"weekly","usage":0.0015,"usage_daily":0,"usage_weekly":4,"usage_monthly":0.0015`},
		{[]limits.Balance{money(10, limits.Monthly, 4)}, `"limit":10,"limit_remaining":6,"limit_reset":"monthly","usage":0.0015,"usage_daily":0,"usage_weekly":0.0015,"usage_monthly":4`},
		{[]limits.Balance{money(10, limits.Daily, 4), money(9, limits.Weekly, 5), money(9, limits.Total, 4)},
			`"limit":9,"limit_remaining":4,"limit_reset":"weekly","usage":4,"usage_daily":4,"usage_weekly":5,"usage_monthly":0.0015`},
		{[]limits.Balance{money(9, limits.Weekly, 5), money(8, limits.Monthly, 4)}, // the first of equal ones
			`"limit":9,"limit_remaining":4,"limit_reset":"weekly",`},
		{[]limits.Balance{money(1, limits.Total, 3)}, `"limit":1,"limit_remaining":0,"limit_reset":null,"usage":3,`}, // exceeded
		{[]limits.Balance{{Subject: "key:dev", Budget: limits.Budget{Unit: limits.Tokens, Limit: 1, Period: limits.Daily}}}, `"limit":null,"limit_remaining":null,"limit_reset":null,"usage":0.0015,"usage_daily":0,`},
	} {
		got, err := Key(t.Context(), log, newKey(), nil, c.balances, noon)
		if err != nil || !strings.Contains(string(got), c.want) {
			t.Errorf("%+v: %s, %v, want %s", c.balances, got, err, c.want)
		}
	}
}

// What else keeps the calls of a key out is shown without its figures, which are mostly of other keys.
func TestAKeyIsToldWhichBudgetsAreUsedUp(t *testing.T) {
	log, _ := newLog(t)
	balance := func(subject string, spent, reserved int64, soft bool) limits.Balance {
		return limits.Balance{Subject: subject, Budget: limits.Budget{Unit: limits.Tokens, Limit: 100, Soft: soft}, Spent: spent, Reserved: reserved}
	}
	got, err := Key(t.Context(), log, newKey(), nil, []limits.Balance{
		balance("key:dev", 99, 0, false), balance("tenant:acme", 60, 40, false), balance("tenant:acme", 200, 0, false), balance("gateway", 100, 0, true),
	}, noon)
	if want := `"exhausted":["tenant:acme"]`; err != nil || !strings.Contains(string(got), want) || strings.Count(string(got), `"unit"`) != 1 {
		t.Errorf("%s, %v, want %s", got, err, want)
	}
}

func TestSpentSumsByCalendar(t *testing.T) {
	days := []activity.Day{
		{Date: "2026-03-18", Sums: activity.Sums{CostNano: 1}}, {Date: "2026-03-18", Sums: activity.Sums{CostNano: 2}}, // today
		{Date: "2026-03-16", Sums: activity.Sums{CostNano: 10}}, // Monday
		{Date: "2026-03-15", Sums: activity.Sums{CostNano: 100}},
		{Date: "2026-03-01", Sums: activity.Sums{CostNano: 1000}},
		{Date: "2026-02-28", Sums: activity.Sums{CostNano: 10000}},
	}
	all, day, week, month := spent(days, noon)
	if all != 11113 || day != 3 || week != 13 || month != 1113 {
		t.Errorf("all %d, day %d, week %d, month %d", all, day, week, month)
	}
	sunday := time.Date(2026, 3, 22, 23, 59, 0, 0, time.UTC)
	if _, day, week, _ = spent(days, sunday); day != 0 || week != 13 {
		t.Errorf("on Sunday: day %d, week %d", day, week)
	}
	first := time.Date(2026, 4, 1, 0, 0, 0, 0, time.UTC) // the week began in March
	days = append(days, activity.Day{Date: "2026-03-30", Sums: activity.Sums{CostNano: 5}})
	if _, _, week, month = spent(days, first); week != 5 || month != 0 {
		t.Errorf("on the first of April: week %d, month %d", week, month)
	}
}

// A client that leaves while its key is read is no failure of the ledger, for which an operator
// must act.
func TestAClientThatLeftIsNoFailureOfTheLedger(t *testing.T) {
	ctx, leave := context.WithCancel(t.Context())
	interrupted := errors.New("interrupted")
	if e := apierror.From(LedgerFailure(ctx, interrupted)); e.Code != apierror.LedgerUnavailable || !errors.Is(e.Cause, interrupted) {
		t.Errorf("%+v", e)
	}
	leave()
	if e := apierror.From(LedgerFailure(ctx, interrupted)); e.Code != apierror.ClientGone {
		t.Errorf("after the client left: %+v", e)
	}
}

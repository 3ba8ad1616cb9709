package report

import (
	"context"
	"errors"
	"testing"
	"time"

	"go.uber.org/zap"

	"github.com/gatehouse-proxy/gatehouse/internal/activity"
	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/keys"
	"github.com/gatehouse-proxy/gatehouse/internal/limits"
	"github.com/gatehouse-proxy/gatehouse/internal/store"
)

var noon = time.Date(2026, 3, 18, 12, 0, 0, 0, time.UTC) // a Wednesday

func TestSpentSumsByCalendar(t *testing.T) {
	days := []activity.Day{
		{Date: "2026-03-18", CostNano: 1}, {Date: "2026-03-18", CostNano: 2}, // today
		{Date: "2026-03-16", CostNano: 10}, // Monday
		{Date: "2026-03-15", CostNano: 100},
		{Date: "2026-03-01", CostNano: 1000},
		{Date: "2026-02-28", CostNano: 10000},
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
	days = append(days, activity.Day{Date: "2026-03-30", CostNano: 5})
	if _, _, week, month = spent(days, first); week != 5 || month != 0 {
		t.Errorf("on the first of April: week %d, month %d", week, month)
	}
}

// A client that leaves while its key is read is no failure of the ledger, which an operator must act on.
func TestOnlyTheLedgersFailureIsAFailureOfTheLedger(t *testing.T) {
	opened, err := store.Open(t.TempDir(), store.Options{Schemas: []store.Schema{activity.Schema}, Logger: zap.NewNop()})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = opened.Close() }()
	for code, leaves := range map[apierror.Code]bool{apierror.ClientGone: true, apierror.LedgerUnavailable: false} {
		ctx, leave := context.WithCancel(t.Context())
		defer leave()
		balances := func(ctx context.Context, _ string) ([]limits.Balance, error) {
			if leaves {
				leave()
				return nil, ctx.Err()
			}
			return nil, errors.New("disk full")
		}
		if _, err := Key(ctx, activity.New(opened), balances, &keys.Key{Name: "dev", Tenant: "default"}, noon); apierror.From(err).Code != code {
			t.Errorf("%v, want %s", err, code)
		}
	}
}

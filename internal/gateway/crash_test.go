package gateway

import (
	"reflect"
	"testing"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	"github.com/gatehouse-proxy/gatehouse/internal/activity"
	"github.com/gatehouse-proxy/gatehouse/internal/limits"
)

func TestACallOfTheLastProcessGetsARow(t *testing.T) {
	core, lines := observer.New(zap.WarnLevel)
	s := newStores(t.TempDir())
	log := s.mustOpen(t).Log
	defer s.mustClose(t)
	at := time.Now().UTC().Truncate(time.Second)
	RecordCrashes(log, zap.New(core), nil)
	if lines.Len() != 0 {
		t.Errorf("without a crash it logged %v", lines.All())
	}
	RecordCrashes(log, zap.New(core), []limits.Crash{
		{Call: "req_1/acme/dev", At: at, Amount: limits.Amount{Tokens: 7, Nano: 9}},
		{Call: "req_2/acme/dev", At: at.Add(-time.Second), Amount: limits.Amount{Tokens: 7}},
	})
	page, err := log.Query(t.Context(), activity.Filter{Tenant: "acme", Limit: 10})
	if err != nil || len(page.Records) != 2 {
		t.Fatalf("%d rows, %v", len(page.Records), err)
	}
	want := activity.Record{
		ID: "req_1", RequestID: "req_1", CreatedAt: at, Tenant: "acme", Key: "dev", Family: "unknown", Route: "unknown",
		Status: 500, Code: "internal", UsageSource: "crashed", PromptTokens: 7, CostNano: 9, Priced: true, Attempts: 1,
	}
	got := page.Records[0]
	if got.CreatedAt = got.CreatedAt.UTC(); !reflect.DeepEqual(got, want) {
		t.Errorf("row\n%+v, want\n%+v", got, want)
	}
	if page.Records[1].Priced {
		t.Error("a call without a price is priced")
	}
	if all := lines.All(); len(all) != 1 || all[0].ContextMap()["calls"] != int64(2) {
		t.Errorf("logged %v", all)
	}
}

func TestABudgetInUseThatIsNotConfiguredIsLogged(t *testing.T) {
	core, lines := observer.New(zap.WarnLevel)
	s := newStores(t.TempDir())
	ledger := s.mustOpen(t).Ledger
	defer s.mustClose(t)
	budget := limits.Budget{Unit: limits.Tokens, Limit: 1000, Period: limits.Daily}
	var subjects []limits.Subject
	for _, name := range []string{"key:old", "key:dev"} {
		subject := limits.Subject{Name: name, Budgets: []limits.Budget{budget}}
		subjects = append(subjects, subject)
		hold, refused, err := limits.Reserve(t.Context(), ledger, limits.ReserveRequest{
			Call: name, At: time.Now(), Most: limits.Amount{Tokens: 10}, Likely: limits.Amount{Tokens: 10}, Subjects: []limits.Subject{subject},
		})
		if err != nil || refused != nil {
			t.Fatal(err, refused)
		}
		if err := hold.Settle(t.Context(), limits.Amount{Tokens: 10}); err != nil {
			t.Fatal(err)
		}
	}
	if err := warnOfUnnamed(t.Context(), ledger, time.Now(), subjects, nil, zap.New(core)); err != nil || lines.Len() != 0 {
		t.Errorf("%v, logged %v", err, lines.All())
	}
	if err := warnOfUnnamed(t.Context(), ledger, time.Now(), subjects[1:], nil, zap.New(core)); err != nil {
		t.Error(err)
	}
	if all := lines.All(); len(all) != 1 || all[0].ContextMap()["subject"] != "key:old" {
		t.Errorf("logged %v", all)
	}
}

package postgres_test

import (
	"context"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/activity"
	"github.com/gatehouse-proxy/gatehouse/internal/testkit/activitytest"
	"github.com/gatehouse-proxy/gatehouse/internal/testkit/enginetest"
)

// flush waits until all rows of some nodes are in the database.
func flush(t testing.TB, nodes ...*node) {
	t.Helper()
	for _, n := range nodes {
		for deadline := time.Now().Add(20 * time.Second); ; {
			err := n.writer.Flush(context.Background())
			if err == nil {
				break
			}
			if time.Now().After(deadline) {
				t.Fatal(err)
			}
			<-time.After(20 * time.Millisecond)
		}
	}
}

// together appends n random records to each of some nodes at the same time.
func together(nodes []*node, n int) (records []*activity.Record) {
	var mu sync.Mutex
	var wg sync.WaitGroup
	for i, to := range nodes {
		wg.Go(func() {
			r := rand.New(rand.NewPCG(uint64(i), 3))
			for k := range n {
				record := activitytest.Random(r, i*n+k)
				mu.Lock()
				records = append(records, record)
				mu.Unlock()
				to.Append(record)
			}
		})
	}
	wg.Wait()
	return records
}

func TestSumsOfTwoNodesAreThoseOfTheirRows(t *testing.T) {
	dsn := enginetest.Postgres(t)
	nodes := []*node{newNode(t, dsn, "a"), newNode(t, dsn, "b")}
	records := together(nodes, 1000)
	flush(t, nodes...)
	for _, n := range nodes {
		activitytest.WantSums(t, n, records)
		if got := activitytest.All(t, n, activity.Filter{AllTenants: true}); len(got) != len(records) {
			t.Errorf("%d records, want %d", len(got), len(records))
		}
	}
	if rows, err := nodes[0].Rebuild(t.Context()); err != nil || rows != len(records) {
		t.Errorf("rebuilt from %d rows, %v", rows, err)
	}
	activitytest.WantSums(t, nodes[1], records)
}

// A process that was paused, and one that has taken its name meanwhile, write at the same time.
func TestSumsOfTwoProcessesOfOneNameAreThoseOfTheirRows(t *testing.T) {
	dsn := enginetest.Postgres(t)
	nodes := []*node{newNode(t, dsn, "a"), newNode(t, dsn, "a")}
	records := together(nodes, 2000)
	flush(t, nodes...)
	activitytest.WantSums(t, nodes[0], records)
	if got := activitytest.All(t, nodes[1], activity.Filter{AllTenants: true}); len(got) != len(records) {
		t.Errorf("%d records, want %d", len(got), len(records))
	}
}

// crashed is the row that another gateway writes for the n-th call.
func crashed(n int) *activity.Record {
	r := activitytest.Call(n)
	return &activity.Record{
		ID: r.RequestID, RequestID: r.RequestID, CreatedAt: r.CreatedAt.Add(-time.Millisecond), Tenant: r.Tenant, Key: r.Key, Family: "unknown", Route: "unknown",
		Status: 500, Code: "internal_error", UsageSource: activity.UsageCrashed, PromptTokens: 1000, CostNano: 7, Priced: true, Attempts: 1,
	}
}

func TestTheRowOfACrashedCallIsReplacedByTheRealOne(t *testing.T) {
	dsn := enginetest.Postgres(t)
	a, b := newNode(t, dsn, "a"), newNode(t, dsn, "b")
	b.Append(crashed(1)) // first the crash, then the call
	b.Append(crashed(4)) // never ends
	flush(t, b)
	if r, ok, err := a.Find(t.Context(), "default", "req-1"); err != nil || !ok || r.UsageSource != activity.UsageCrashed {
		t.Fatalf("found %+v, %v, %v", r, ok, err)
	}
	a.Append(activitytest.Call(1))
	a.Append(activitytest.Call(2)) // first the call, then the crash
	flush(t, a)
	b.Append(crashed(2))
	b.Append(crashed(3)) // together
	b.Append(activitytest.Call(3))
	b.Append(crashed(4)) // taken for crashed twice
	foreign := crashed(1)
	foreign.Tenant = "other"
	b.Append(foreign)
	flush(t, b)
	real4 := crashed(4)
	want := []*activity.Record{activitytest.Call(1), activitytest.Call(2), activitytest.Call(3), real4}
	got := activitytest.All(t, a, activity.Filter{Tenant: "default"})
	var kinds []string
	for _, r := range got {
		kinds = append(kinds, r.RequestID+" "+r.UsageSource)
	}
	if !slices.Equal(kinds, []string{"req-4 crashed", "req-3 provider", "req-2 provider", "req-1 provider"}) {
		t.Errorf("the rows are %q", kinds)
	}
	check := func(when string) {
		t.Helper()
		series := activitytest.Series(t, a, "tenant=default&by=code&step=hour")
		var sum activity.Sums
		for _, r := range want {
			s := activitytest.SumsOf(r)
			sum.Requests += s.Requests
			sum.PromptTokens += s.PromptTokens
			sum.CostNano += s.CostNano
			sum.Errors += s.Errors
		}
		total := series.All.Total
		if total.Requests != sum.Requests || total.CostNano != sum.CostNano || total.PromptTokens != sum.PromptTokens || total.Errors != sum.Errors || len(series.Series) != 2 {
			t.Errorf("%s the sums of %d series are %+v, want %+v", when, len(series.Series), total.Sums, sum)
		}
	}
	check("at first")
	if _, err := a.Rebuild(t.Context()); err != nil {
		t.Fatal(err)
	}
	check("after a rebuild")
	a.Append(activitytest.Call(4)) // after all
	flush(t, a)
	want[3] = activitytest.Call(4)
	series := activitytest.Series(t, a, "tenant=default&by=code&step=hour")
	if total := series.All.Total; total.Requests != 4 || total.Errors != 0 || len(series.Series) != 1 {
		t.Errorf("at last the sums of %d series are %+v", len(series.Series), total.Sums)
	}
	days, err := a.Daily(t.Context(), activity.Filter{Tenant: "default"})
	if err != nil || len(days) != 1 || days[0].Requests != 4 {
		t.Errorf("the days are %+v, %v", days, err)
	}
}

func TestSeriesThatReadManyCallsAreRefused(t *testing.T) {
	n := newNode(t, enginetest.Postgres(t), "a")
	for i := range 5 {
		n.Append(activitytest.Call(i))
	}
	n.Bounds.MinuteRows, n.Bounds.RecordRows = 4, 4
	activitytest.WantTooManyRecords(t, n)
}

package sqlite_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/activity"
	"github.com/gatehouse-proxy/gatehouse/internal/store"
	"github.com/gatehouse-proxy/gatehouse/internal/testkit/activitytest"
)

// faulty is an operation that the database rejects: all others are then applied once more.
type faulty struct{}

func (faulty) Droppable() bool       { return false }
func (faulty) Apply(*store.Tx) error { return errors.New("rejected") }

// A group that is applied again, because one of its operations was rejected, counts once.
func TestSumsOfAGroupThatIsAppliedAgainAreThoseOfItsRows(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	st, log := open(t, store.Options{CommitInterval: time.Hour})
	var records []*activity.Record
	for group := range 6 {
		for range 1 + r.IntN(60) {
			record := activitytest.Random(r, len(records))
			records = append(records, record)
			log.Append(record)
		}
		if group%2 == 0 {
			if err := st.Submit(faulty{}); err != nil {
				t.Fatal(err)
			}
		}
		if err := st.Flush(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	activitytest.WantSums(t, log, records)
}

func TestSeriesAddUpTheRest(t *testing.T) {
	_, log := open(t, store.Options{})
	for i, cost := range []int64{5, 1, 9, 2} {
		r := record(i)
		r.Key, r.CostNano = fmt.Sprint("k", i), cost
		log.Append(r)
	}
	got := activitytest.Series(t, log, "by=key&top=2&step=hour")
	var names []string
	for _, line := range got.Series {
		names = append(names, fmt.Sprint(line.Name, "=", line.Total.CostNano))
	}
	if !slices.Equal(names, []string{"k2=9", "k0=5"}) || got.Others != 2 || got.Other.Total.CostNano != 3 || got.All.Total.CostNano != 17 {
		t.Errorf("series %v, %d others %+v, all %+v", names, got.Others, got.Other, got.All)
	}
	if len(got.Series[0].Points) != 1 || !got.Series[0].Points[0].Start.Equal(noon.Truncate(time.Hour)) {
		t.Errorf("points %+v", got.Series[0].Points)
	}
}

func TestPercentilesAreWithinTheirError(t *testing.T) {
	_, log := open(t, store.Options{})
	r := rand.New(rand.NewPCG(3, 4))
	var all []time.Duration
	for i := range 1000 {
		d := time.Duration(r.ExpFloat64() * float64(2*time.Second)).Truncate(time.Microsecond)
		all = append(all, d)
		call := record(0)
		call.ID, call.Latency, call.FirstToken, call.CompletionTokens, call.Overhead = fmt.Sprint(i), d, d/2, 11, d/1000
		log.Append(call)
	}
	failed := record(0)
	failed.Code, failed.Latency = "upstream_error", 10*time.Hour
	log.Append(failed)
	slices.Sort(all)
	p := activitytest.Series(t, log, "").All.Total
	for _, c := range []struct {
		name      string
		got, want time.Duration
	}{
		{"p50", p.Duration.P50, all[499]}, {"p95", p.Duration.P95, all[949]}, {"p99", p.Duration.P99, all[989]},
		{"first token p50", p.FirstToken.P50, all[499] / 2}, {"per token p95", p.PerToken.P95, all[949] / 20}, {"overhead p99", p.Overhead.P99, all[989] / 1000},
	} {
		if off := float64(c.got-c.want) / float64(c.want); off > activity.PercentileError+0.001 || off < -activity.PercentileError-0.001 {
			t.Errorf("%s: %v, want %v", c.name, c.got, c.want)
		}
	}
	if p.Duration.Count != 1000 {
		t.Errorf("%d durations", p.Duration.Count)
	}
	if p := activitytest.Series(t, log, "by=code").Series; len(p) != 2 || p[1].Name != "upstream_error" && p[0].Name != "upstream_error" {
		t.Errorf("by code: %+v", p)
	}
}

func TestSeriesThatReadManyCallsAreRefused(t *testing.T) {
	_, log := open(t, store.Options{})
	for i := range 5 {
		log.Append(record(i))
	}
	log.Bounds.MinuteRows, log.Bounds.RecordRows = 4, 4
	activitytest.WantTooManyRecords(t, log)
}

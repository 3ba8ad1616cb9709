package runtimekeys

import (
	"context"
	"crypto/rand"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/keys"
	"github.com/gatehouse-proxy/gatehouse/internal/limits"
)

// tableOf keeps these keys.
type tableOf []Record

func (t tableOf) Load(_ context.Context, yield func(Record) error) error {
	for _, r := range t {
		if err := yield(r); err != nil {
			return err
		}
	}
	return nil
}

func (tableOf) Change(_ context.Context, judge Judge) error {
	_, _, err := judge()
	return err
}

func TestLimitsOfKeysAreSortedAndWithinTheBlock(t *testing.T) {
	limit := int64(2_000_000_000)
	record := func(first, second byte, s Settings) Record {
		return Record{ID: Sum{first, second}, Tenant: "acme", Settings: s}
	}
	s := New(time.Now, rand.Reader)
	if err := s.Open(t.Context(), tableOf{
		record(0x10, 2, Settings{Limit: &limit, Reset: "daily"}), record(0xff, 0, Settings{}), record(0x10, 1, Settings{Disabled: true}),
	}); err != nil {
		t.Fatal(err)
	}
	rate, err := limits.ParseRate("60/min")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		block *Block
		from  string
		want  []string
	}{
		{&Block{}, "", []string{"key:1002 acme [2usd/day] []"}}, // others have no limit: what they spend is only counted
		{&Block{Limits: limits.Subject{Rates: []limits.Rate{rate}}}, "",
			[]string{"key:1001 acme [] [60/min]", "key:1002 acme [2usd/day] [60/min]", "key:ff00 acme [] [60/min]"}},
		{&Block{Limits: limits.Subject{Rates: []limits.Rate{rate}}}, "key:1002", []string{"key:1002 acme [2usd/day] [60/min]", "key:ff00 acme [] [60/min]"}},
		{&Block{Limits: limits.Subject{Rates: []limits.Rate{rate}}}, "key:dev", []string{"key:ff00 acme [] [60/min]"}},
		{&Block{Limits: limits.Subject{Rates: []limits.Rate{rate}}}, "model:", nil},
	} {
		var got []string
		for l := range s.Limited(c.block, c.from, keys.EveryTenant("")) {
			got = append(got, fmt.Sprint(l.Name[:8], " ", l.Tenant, " ", l.Budgets, " ", l.Rates))
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("from %q: %q, want %q", c.from, got, c.want)
		}
	}
}

func TestTheLedgerKnowsKeysMadeAtRunTimeByName(t *testing.T) {
	subject := (&Record{ID: Sum{0x10, 1}}).Subject()
	for name, want := range map[string]bool{
		subject: true, subject[:len(subject)-2]: false, subject + "00": false, "key:dev": false, "": false,
		"kex" + subject[3:]: false, subject[:len(subject)-1] + "g": false,
	} {
		if IsSubject(name) != want {
			t.Errorf("%q is a key: %t", name, !want)
		}
	}
}

// A tenant's list must not take the longer the more keys others have.
func TestLimitsOfATenantDoNotPrepareThoseOfOthers(t *testing.T) {
	limit := int64(2_000_000_000)
	records := make(tableOf, 2000)
	for i := range records {
		records[i] = Record{Tenant: "acme", Seq: int64(i), Settings: Settings{Limit: &limit}}
		_, _ = rand.Read(records[i].ID[:])
	}
	records[7].Tenant = "lab"
	s := New(time.Now, rand.Reader)
	if err := s.Open(t.Context(), records); err != nil {
		t.Fatal(err)
	}
	var got []string
	allocations := testing.AllocsPerRun(3, func() {
		got = nil
		for l := range s.Limited(&Block{}, "", keys.EveryTenant("lab")) {
			got = append(got, l.Name)
		}
	})
	if !slices.Equal(got, []string{records[7].Subject()}) {
		t.Errorf("%q", got)
	}
	if allocations > 1000 { // two for each shard
		t.Errorf("%v allocations for one key among %d", allocations, len(records))
	}
}

// A page of the limits of many keys.
func BenchmarkLimitedOfManyKeys(b *testing.B) {
	limit := int64(2_000_000_000)
	records := make(tableOf, 100_000)
	for i := range records {
		records[i] = Record{Tenant: "acme", Seq: int64(i), Settings: Settings{Limit: &limit}}
		_, _ = rand.Read(records[i].ID[:])
	}
	s := New(time.Now, rand.Reader)
	if err := s.Open(b.Context(), records); err != nil {
		b.Fatal(err)
	}
	for name, c := range map[string]struct {
		most int
		of   keys.Tenants
	}{"page": {100, keys.EveryTenant("")}, "all": {len(records), keys.EveryTenant("")}, "of another tenant": {len(records), keys.EveryTenant("lab")}} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				n := 0
				for range s.Limited(&Block{}, "", c.of) {
					if n++; n == c.most {
						break
					}
				}
			}
		})
	}
}

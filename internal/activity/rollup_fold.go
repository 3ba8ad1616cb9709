package activity

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
)

// SumKey is which row of the roll-up a tally goes to.
type SumKey struct {
	Start                              int64
	Tenant, Key, Model, Provider, Code string
}

func (k SumKey) compare(other SumKey) int {
	return cmp.Or(cmp.Compare(k.Start, other.Start), cmp.Compare(k.Tenant, other.Tenant), cmp.Compare(k.Key, other.Key),
		cmp.Compare(k.Model, other.Model), cmp.Compare(k.Provider, other.Provider), cmp.Compare(k.Code, other.Code))
}

// owner is the part of a key by which rows are bounded.
func (k SumKey) owner() SumKey { return SumKey{Start: k.Start, Tenant: k.Tenant, Key: k.Key} }

// SumBatch are rows of one table of sums.
type SumBatch struct {
	*Level
	Keys []SumKey
	Data map[SumKey][]byte
}

// SumTables are the tables of sums of an engine, in a transaction.
type SumTables interface {
	// Read adds the data of those rows that exist.
	Read(rows ...SumBatch) error
	// Count sets how many rows each owner of rows has.
	Count(l *Level, owners map[SumKey]int) error
	// Write writes rows in place of those that exist.
	Write(rows ...SumBatch) error
}

// folding is what is added to one table of sums.
type folding struct {
	*Level
	all map[SumKey][]*tally
	old map[SumKey][]byte // the rows that exist
}

// Fold adds the tallies of some days to the sums; has is nil for all. Both tables are read, and then written, at once: in a
// cluster each is a round trip, and others wait for the rows of this transaction.
func (u *RollUp) Fold(tables SumTables, has func(day int64) bool) error {
	both := [...]folding{{Level: &Hours}, {Level: &Days}}
	var old, sums []SumBatch
	for i := range both {
		f := &both[i]
		f.all, f.old = map[SumKey][]*tally{}, map[SumKey][]byte{}
		for i := range u.tallies {
			t := &u.tallies[i]
			if has == nil || has(t.hour*Hours.Unit/Days.Unit) {
				k := SumKey{t.hour * Hours.Unit / f.Unit, t.tenant, t.key, t.model, t.provider, t.code}
				f.all[k] = append(f.all[k], t)
			}
		}
		old = append(old, SumBatch{f.Level, slices.Collect(maps.Keys(f.all)), f.old})
	}
	if len(both[0].all) == 0 {
		return nil
	}
	if err := tables.Read(old...); err != nil {
		return fmt.Errorf("reading the sums: %w", err)
	}
	for i := range both {
		f := &both[i]
		if err := f.bound(tables); err != nil {
			return fmt.Errorf("adding to %s: %w", f.Table, err)
		}
		rows := SumBatch{f.Level, slices.SortedFunc(maps.Keys(f.all), SumKey.compare), map[SumKey][]byte{}}
		for k, tallies := range f.all {
			data := f.old[k]
			for _, t := range tallies {
				data = u.appendSum(nil, data, t)
			}
			rows.Data[k] = data
		}
		sums = append(sums, rows)
	}
	if err := tables.Write(sums...); err != nil {
		return fmt.Errorf("writing the sums: %w", err)
	}
	return nil
}

// bound gives a key that has too many rows one of the model "" for all others.
func (f *folding) bound(tables SumTables) error {
	owners := map[SumKey]int{} // of rows that do not exist yet
	for k := range f.all {
		if _, ok := f.old[k]; !ok && k.Model != "" {
			owners[k.owner()] = 0
		}
	}
	if len(owners) == 0 {
		return nil
	}
	if err := tables.Count(f.Level, owners); err != nil {
		return err
	}
	var others []SumKey
	for _, k := range slices.SortedFunc(maps.Keys(f.all), SumKey.compare) {
		if _, ok := f.old[k]; ok || k.Model == "" {
			continue
		}
		if owners[k.owner()] < f.maxKey {
			owners[k.owner()]++
			continue
		}
		nameless := k
		nameless.Model = ""
		f.all[nameless] = append(f.all[nameless], f.all[k]...)
		delete(f.all, k)
		others = append(others, nameless)
	}
	if len(others) == 0 {
		return nil
	}
	slices.SortFunc(others, SumKey.compare)
	return tables.Read(SumBatch{f.Level, slices.Compact(others), f.old})
}

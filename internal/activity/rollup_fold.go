package activity

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
)

// sumKey is which row of the roll-up a tally goes to.
type sumKey struct {
	start                              int64
	tenant, key, model, provider, code string
}

func (k sumKey) compare(other sumKey) int {
	return cmp.Or(cmp.Compare(k.start, other.start), cmp.Compare(k.tenant, other.tenant), cmp.Compare(k.key, other.key),
		cmp.Compare(k.model, other.model), cmp.Compare(k.provider, other.provider), cmp.Compare(k.code, other.code))
}

// owner is the part of a key by which rows are bounded.
func (k sumKey) owner() sumKey { return sumKey{start: k.start, tenant: k.tenant, key: k.key} }

// sumRows are rows of one table of sums.
type sumRows struct {
	*level
	keys []sumKey
	data map[sumKey][]byte
}

// sumTables are the tables of sums of an engine, in a transaction.
type sumTables interface {
	// read adds the data of those rows that exist.
	read(rows ...sumRows) error
	// count sets how many rows each owner of rows has.
	count(l *level, owners map[sumKey]int) error
	// write writes rows in place of those that exist.
	write(rows ...sumRows) error
}

// folding is what is added to one table of sums.
type folding struct {
	*level
	all map[sumKey][]*tally
	old map[sumKey][]byte // the rows that exist
}

// fold adds the tallies of some days to the sums; has is nil for all. Both tables are read, and then written, at once: in a
// cluster each is a round trip, and others wait for the rows of this transaction.
func (u *rollupWriter) fold(tables sumTables, has func(day int64) bool) error {
	both := [...]folding{{level: &hours}, {level: &days}}
	var old, sums []sumRows
	for i := range both {
		f := &both[i]
		f.all, f.old = map[sumKey][]*tally{}, map[sumKey][]byte{}
		for i := range u.tallies {
			t := &u.tallies[i]
			if has == nil || has(t.hour*hours.unit/days.unit) {
				k := sumKey{t.hour * hours.unit / f.unit, t.tenant, t.key, t.model, t.provider, t.code}
				f.all[k] = append(f.all[k], t)
			}
		}
		old = append(old, sumRows{f.level, slices.Collect(maps.Keys(f.all)), f.old})
	}
	if len(both[0].all) == 0 {
		return nil
	}
	if err := tables.read(old...); err != nil {
		return fmt.Errorf("reading the sums: %w", err)
	}
	for i := range both {
		f := &both[i]
		if err := f.bound(tables); err != nil {
			return fmt.Errorf("adding to %s: %w", f.table, err)
		}
		rows := sumRows{f.level, slices.SortedFunc(maps.Keys(f.all), sumKey.compare), map[sumKey][]byte{}}
		for k, tallies := range f.all {
			data := f.old[k]
			for _, t := range tallies {
				data = u.appendSum(nil, data, t)
			}
			rows.data[k] = data
		}
		sums = append(sums, rows)
	}
	if err := tables.write(sums...); err != nil {
		return fmt.Errorf("writing the sums: %w", err)
	}
	return nil
}

// bound gives a key that has too many rows one of the model "" for all others.
func (f *folding) bound(tables sumTables) error {
	owners := map[sumKey]int{} // of rows that do not exist yet
	for k := range f.all {
		if _, ok := f.old[k]; !ok && k.model != "" {
			owners[k.owner()] = 0
		}
	}
	if len(owners) == 0 {
		return nil
	}
	if err := tables.count(f.level, owners); err != nil {
		return err
	}
	var others []sumKey
	for _, k := range slices.SortedFunc(maps.Keys(f.all), sumKey.compare) {
		if _, ok := f.old[k]; ok || k.model == "" {
			continue
		}
		if owners[k.owner()] < f.maxKey {
			owners[k.owner()]++
			continue
		}
		nameless := k
		nameless.model = ""
		f.all[nameless] = append(f.all[nameless], f.all[k]...)
		delete(f.all, k)
		others = append(others, nameless)
	}
	if len(others) == 0 {
		return nil
	}
	slices.SortFunc(others, sumKey.compare)
	return tables.read(sumRows{f.level, slices.Compact(others), f.old})
}

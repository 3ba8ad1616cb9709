package activity

import (
	"encoding/binary"
	"strings"
	"time"
)

// The roll-up sums the records of each UTC hour, and of each UTC day, by tenant, key, model,
// provider and code. It is written in the transaction of the rows, so that its sums are theirs, and
// it is kept longer. The time is the start of an hour or day, counted in hours or days since 1970.
//
// A record counts in the hour of its CreatedAt, which may be long ago: a session ends when it ends.

// maxTallies bounds the memory that is kept for the next batch, as a number of combinations.
const maxTallies = 4096

// maxSamples bounds the memory of a combination that is kept, as a number of calls.
const maxSamples = 1024

// Level is one of the tables of the roll-up.
type Level struct {
	Unit   int64 // nanoseconds
	Table  string
	maxKey int // rows of an hour or a day that one key can have
}

// Callers invent names of models, and a provider may take every name. So one key makes at most this
// many rows of an hour or a day. Further calls to other models count in rows of the model "".
const maxKeyHours, maxKeyDays = 200, 500

var (
	Hours = Level{int64(time.Hour), "activity_hours", maxKeyHours}
	Days  = Level{int64(24 * time.Hour), "activity_days", maxKeyDays}
)

// SumColumns are the columns that name a row of the roll-up, in their order.
const SumColumns = "start, tenant, key, model, provider, code"

// rollupWriter sums rows in memory before they are written: one row per hour and combination. It is
// used by the store's writer only.
type RollUp struct {
	index   map[string]int // by subject, of tallies
	tallies []tally
	subject []byte // is reused
	row     Record // is reused; its texts are parts of the row that is added
	total   accumulator
}

// tally is what the rows of one batch add to one row of the roll-up.
type tally struct {
	hour                               int64
	tenant, key, model, provider, code string
	sums                               Sums
	unnamed                            int64
	samples                            [numHists][]uint16 // buckets
}

// Reset forgets what an earlier batch has left, which may have failed.
func (u *RollUp) Reset() {
	if u.index == nil || len(u.index) > maxTallies {
		u.index, u.tallies = map[string]int{}, nil
	}
	clear(u.index)
	u.tallies = u.tallies[:0]
}

// Add adds a row: its tenant, its time in nanoseconds since 1970, its data.
func (u *RollUp) Add(tenant string, created int64, data []byte) error {
	r := &u.row
	if err := Borrow(data, r); err != nil {
		return err
	}
	t, sums := u.tally(tenant, created, r), SumsOf(r)
	t.sums.Add(&sums)
	if r.unnamed() {
		t.unnamed++
	}
	for i, d := range r.durations() {
		if d >= 0 {
			t.samples[i] = append(t.samples[i], bucketOf(d))
		}
	}
	return nil
}

// Remove takes off the row of a call that was taken for crashed. It was sent to no provider, as far
// as is known, so it is in no histogram.
func (u *RollUp) Remove(tenant string, created int64, data []byte) error {
	r := &u.row
	if err := Borrow(data, r); err != nil {
		return err
	}
	negative := SumsOf(r).negative()
	u.tally(tenant, created, r).sums.Add(&negative)
	return nil
}

// Sum returns the sums of what was added.
func (u *RollUp) Sum() (all Sums) {
	for i := range u.tallies {
		all.Add(&u.tallies[i].sums)
	}
	return all
}

// tally returns the tally of a row.
func (u *RollUp) tally(tenant string, created int64, r *Record) *tally {
	hour := created / Hours.Unit
	b := binary.BigEndian.AppendUint64(u.subject[:0], uint64(hour))
	for _, text := range [...]string{tenant, r.Key, r.summedModel(), r.Provider, r.Code} {
		b = appendText(b, text)
	}
	u.subject = b
	n, ok := u.index[string(b)]
	if !ok {
		n = len(u.tallies)
		u.index[string(b)] = n
		if n == cap(u.tallies) {
			u.tallies = append(u.tallies, tally{})
		}
		u.tallies = u.tallies[:n+1]
		u.tallies[n].begin(hour, tenant, r)
	}
	return &u.tallies[n]
}

// begin empties t, but keeps the memory of its samples.
func (t *tally) begin(hour int64, tenant string, r *Record) {
	samples := t.samples
	*t = tally{
		hour: hour, tenant: tenant, key: strings.Clone(r.Key), model: strings.Clone(r.summedModel()),
		provider: strings.Clone(r.Provider), code: strings.Clone(r.Code),
	}
	for i := range samples {
		if cap(samples[i]) <= maxSamples {
			t.samples[i] = samples[i][:0]
		}
	}
}

// appendSum appends the data of a row with a tally added: old is its data until now, nil for none.
// A damaged row begins again from zero, so that no record is lost for it; a rebuild mends it.
func (u *RollUp) appendSum(b, old []byte, t *tally) []byte {
	all, unnamed := &u.total, int64(0)
	all.reset()
	if len(old) > 0 {
		var err error
		if unnamed, err = all.read(old, t.code != ""); err != nil {
			*all, unnamed = accumulator{}, 0
		}
	}
	all.sums.Add(&t.sums)
	b = all.sums.appendSums(b, unnamed+t.unnamed)
	for i := range t.samples {
		for _, bucket := range t.samples[i] {
			all.hists[i].one(int(bucket))
		}
		b = all.hists[i].append(b)
	}
	return b
}

package activity

import (
	"encoding/binary"
	"fmt"
	"strings"
	"time"
)

// The roll-up sums the records of each UTC hour, and of each UTC day, by tenant, key, model, provider
// and code. It is written in the transaction of the rows, so that its sums are theirs, and it is kept
// longer. The time is the start of an hour or day, counted in hours or days since 1970.
//
// A record counts in the hour of its CreatedAt, which may be long ago: a session ends when it ends.

// maxTallies bounds the memory that is kept for the next batch, as a number of combinations.
const maxTallies = 4096

// maxSamples bounds the memory of a combination that is kept, as a number of calls.
const maxSamples = 1024

// level is one of the tables of the roll-up.
type level struct {
	unit            int64 // nanoseconds
	table           string
	get, put, count string
	prune, clear    string
	maxKey          int // rows of an hour or a day that one key can have
}

// Callers invent names of models, and a provider may take every name. So one key makes at most this
// many rows of an hour or a day. Further calls to other models count in rows of the model "".
const maxKeyHours, maxKeyDays = 200, 500

var (
	hours = makeLevel("activity_hours", time.Hour, maxKeyHours)
	days  = makeLevel("activity_days", 24*time.Hour, maxKeyDays)
)

func makeLevel(table string, unit time.Duration, maxKey int) level {
	const subject = "start, tenant, key, model, provider, code"
	first := func(cond string) string {
		return fmt.Sprintf("DELETE FROM %[1]s WHERE (%[2]s) IN (SELECT %[2]s FROM %[1]s WHERE start %[3]s ? ORDER BY %[2]s LIMIT ?)", table, subject, cond)
	}
	return level{
		unit: int64(unit), table: table, maxKey: maxKey,
		get:   "SELECT data FROM " + table + " WHERE start = ? AND tenant = ? AND key = ? AND model = ? AND provider = ? AND code = ?",
		put:   "INSERT OR REPLACE INTO " + table + " (" + subject + ", data) VALUES (?, ?, ?, ?, ?, ?, ?)",
		count: "SELECT count(*) FROM " + table + " WHERE start = ? AND tenant = ? AND key = ?",
		prune: first("<"), clear: first(">="),
	}
}

// rollupWriter sums rows in memory before they are written: one row per hour and combination. It is
// used by the store's writer only.
type rollupWriter struct {
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

// reset forgets what an earlier batch has left, which may have failed.
func (u *rollupWriter) reset() {
	if u.index == nil || len(u.index) > maxTallies {
		u.index, u.tallies = map[string]int{}, nil
	}
	clear(u.index)
	u.tallies = u.tallies[:0]
}

// add adds a row: its tenant, its time in nanoseconds since 1970, its data.
func (u *rollupWriter) add(tenant string, created int64, data []byte) error {
	r := &u.row
	if err := r.borrow(data); err != nil {
		return err
	}
	t, sums := u.tally(tenant, created, r), r.sums()
	t.sums.add(&sums)
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

// remove takes off the row of a call that was taken for crashed. It was sent to no provider, as far as
// is known, so it is in no histogram.
func (u *rollupWriter) remove(tenant string, created int64, data []byte) error {
	r := &u.row
	if err := r.borrow(data); err != nil {
		return err
	}
	negative := r.sums().negative()
	u.tally(tenant, created, r).sums.add(&negative)
	return nil
}

// tally returns the tally of a row.
func (u *rollupWriter) tally(tenant string, created int64, r *Record) *tally {
	hour := created / hours.unit
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

// appendSum appends the data of a row with a tally added: old is its data until now, nil for none. A
// damaged row begins again from zero, so that no record is lost for it; a rebuild mends it.
func (u *rollupWriter) appendSum(b, old []byte, t *tally) []byte {
	all, unnamed := &u.total, int64(0)
	all.reset()
	if len(old) > 0 {
		var err error
		if unnamed, err = all.read(old, t.code != ""); err != nil {
			*all, unnamed = accumulator{}, 0
		}
	}
	all.sums.add(&t.sums)
	b = all.sums.appendSums(b, unnamed+t.unnamed)
	for i := range t.samples {
		for _, bucket := range t.samples[i] {
			all.hists[i].one(int(bucket))
		}
		b = all.hists[i].append(b)
	}
	return b
}

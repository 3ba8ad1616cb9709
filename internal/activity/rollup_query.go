package activity

import (
	"context"
	"fmt"
	"time"
)

// sumReader answers queries for sums. It takes the hourly and daily sums of a log's records, which are
// kept longer than they are.
type sumReader struct {
	log     readLog
	maxDays int // the constant of this name; less in a test
	maxRows int // maxNamedRows; less in a test
	recent  *recentSeries

	maxSeries seriesRows
}

// readLog is the records that sums are made of.
type readLog interface {
	// walk calls visit with the records that match f, newest first, until visit returns false.
	walk(ctx context.Context, f Filter, visit func(seq int64, r *Record) bool) error
	// snapshot calls read with what is there after every record appended before.
	snapshot(ctx context.Context, read func(context.Context, snapshot) error) error
}

func newSumReader(log readLog) sumReader {
	return sumReader{log, maxDays, maxNamedRows, &recentSeries{}, seriesRows{maxMinuteRows, maxRecordRows}}
}

// snapshot is the roll-up and the records as of one commit.
type snapshot interface {
	// state says which records the roll-up has.
	state() rollupState
	// days returns the first day of the roll-up, and the one after its last.
	days(ctx context.Context) (start, end int64, err error)
	// sums calls visit with the rows of a part of the time, in its order. A row is valid until visit
	// returns. Its histograms are added to those that visit returns, unless they are nil.
	sums(ctx context.Context, q *rollupQuery, part span, visit func(*rollupSums) (*histograms, error)) error
	// rows calls visit with the records of the tenant and the time of f, newest first, until it returns
	// false. Of other filters it may use some. What it passes is valid until visit returns.
	rows(ctx context.Context, f *Filter, visit func(tenant []byte, created int64, data []byte) (bool, error)) error
	// walk calls visit with the records that match f, by time, newest first, until visit returns false.
	walk(ctx context.Context, f *Filter, visit func(seq int64, r *Record) bool) error
}

// span is a part of a time that one table of the roll-up has: from start to before end.
type span struct {
	*level
	start, end int64
}

// spans returns the tables that together have a time between whole hours: whole days, and the hours
// before and after them.
func spans(from, to time.Time) (all []span) {
	perDay := days.unit / hours.unit
	start, end := from.UnixNano()/hours.unit, to.UnixNano()/hours.unit
	firstDay, lastDay := (start+perDay-1)/perDay, end/perDay
	if firstDay >= lastDay {
		return []span{{&hours, start, end}}
	}
	for _, s := range []span{{&hours, start, firstDay * perDay}, {&days, firstDay, lastDay}, {&hours, lastDay * perDay, end}} {
		if s.start < s.end {
			all = append(all, s)
		}
	}
	return all
}

// rollupQuery selects rows of the roll-up. Empty fields do not restrict.
type rollupQuery struct {
	tenant                     string
	all                        bool // tenants
	model, provider, key, code string
	by                         []string // one or two columns, for rollupSums.names
}

// rollupSums is a row of the roll-up.
type rollupSums struct {
	start   int64
	names   [2][]byte
	sums    Sums
	unnamed int64
}

// cond is the condition of a query and its values: mark begins the name of a parameter, the first of
// which has the number after.
func (q *rollupQuery) cond(mark string, after int) (cond string, values []string) {
	tenant := q.tenant
	if q.all {
		tenant = ""
	}
	for _, f := range [...]struct{ column, value string }{
		{"tenant", tenant}, {"key", q.key}, {"model", q.model}, {"provider", q.provider}, {"code", q.code},
	} {
		if f.column == codeFilter && selectsCodes(f.value) {
			cond += " AND " + codeCondition(f.value)
		} else if f.value != "" {
			values = append(values, f.value)
			cond += fmt.Sprintf(" AND %s = %s%d", f.column, mark, after+len(values))
		}
	}
	return cond, values
}

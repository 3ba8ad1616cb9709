package activity

import (
	"context"
	"fmt"
	"time"
)

// Span is a part of a time that one table of the roll-up has: from start to before end.
type Span struct {
	*Level
	Start, End int64
}

// spans returns the tables that together have a time between whole hours: whole days, and the hours
// before and after them.
func spans(from, to time.Time) (all []Span) {
	perDay := Days.Unit / Hours.Unit
	start, end := from.UnixNano()/Hours.Unit, to.UnixNano()/Hours.Unit
	firstDay, lastDay := (start+perDay-1)/perDay, end/perDay
	if firstDay >= lastDay {
		return []Span{{&Hours, start, end}}
	}
	for _, s := range []Span{{&Hours, start, firstDay * perDay}, {&Days, firstDay, lastDay}, {&Hours, lastDay * perDay, end}} {
		if s.Start < s.End {
			all = append(all, s)
		}
	}
	return all
}

// SumQuery selects rows of the roll-up. Empty fields do not restrict.
type SumQuery struct {
	tenant                     string
	all                        bool // tenants
	model, provider, key, code string
	By                         []string // one or two columns, for SumRow.Names
}

// SumRow is a row of the roll-up as an engine has it.
type SumRow struct {
	Start  int64
	Names  [2][]byte // of the fields that the query is by
	Failed bool      // its calls have a code
	Data   []byte
}

// rollupSums is a row of the roll-up.
type rollupSums struct {
	*SumRow
	sums    Sums
	unnamed int64
}

// readSums calls visit with the sums of a part of the time, in its order, valid until visit
// returns. The histograms of a row are added to those that visit returns, unless they are nil.
func readSums(ctx context.Context, at Snapshot, q *SumQuery, part Span, visit func(*rollupSums) (*histograms, error)) error {
	var r rollupSums
	return at.Sums(ctx, q, part, func(row *SumRow) (rest []byte, err error) {
		r.SumRow = row
		if r.unnamed, rest, err = r.sums.Read(row.Data, row.Failed); err != nil {
			return nil, err
		}
		to, err := visit(&r)
		if err != nil {
			return nil, err
		}
		return to.add(rest)
	})
}

// Cond is the condition of a query and its values: mark begins the name of a parameter, the first
// of which has the number after.
func (q *SumQuery) Cond(mark string, after int) (cond string, values []string) {
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

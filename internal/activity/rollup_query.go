package activity

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"time"
)

// Rollup reads the hourly and daily sums of a log's records, which are kept longer than they are.
type Rollup struct{ log *Log }

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
	names   [2]sql.RawBytes
	sums    Sums
	unnamed int64
	hists   []byte // encoded
}

// read calls visit with the rows of a part of the time, in its order. They are valid until visit
// returns.
func (q *rollupQuery) read(ctx context.Context, tx *sql.Tx, part span, visit func(*rollupSums) error) error {
	query, args := q.source(part)
	rows, err := tx.QueryContext(ctx, query, args...)
	if err != nil {
		return err
	}
	var r rollupSums
	var data sql.RawBytes
	var failed bool
	dest := []any{&r.start, &failed, &data, &r.names[0], &r.names[1]}[:3+len(q.by)]
	for err == nil && rows.Next() {
		if err = rows.Scan(dest...); err != nil {
			break
		}
		if r.unnamed, r.hists, err = r.sums.readSums(data, failed); err == nil {
			err = visit(&r)
		}
	}
	return errors.Join(err, rows.Err(), rows.Close())
}

// source is the query of a part of the time. The tables begin with the time and the tenant: one
// tenant's rows are found by a search for each hour or day. Both queries read in the order of time:
// an ORDER BY would sort what the loop over times has in order already.
func (q *rollupQuery) source(part span) (string, []any) {
	query := "SELECT start, code <> '', data, " + strings.Join(q.by, ", ") + " FROM "
	args := []any{part.start, part.end}
	if q.all {
		query += part.table + " WHERE start >= ? AND start < ?"
	} else {
		query = "WITH RECURSIVE times(at) AS (SELECT ? UNION ALL SELECT at + 1 FROM times WHERE at + 1 < ?) " + query +
			"times CROSS JOIN " + part.table + " ON start = at AND tenant = ? WHERE true"
		args = append(args, q.tenant)
	}
	for _, f := range []struct{ column, value string }{{"key", q.key}, {"model", q.model}, {"provider", q.provider}, {"code", q.code}} {
		if f.value != "" {
			query += " AND " + f.column + " = ?"
			args = append(args, f.value)
		}
	}
	return query, args
}

// snapshot calls read with a transaction that sees the roll-up and the rows as of one commit, after
// every record appended before.
func (u *Rollup) snapshot(ctx context.Context, read func(context.Context, *sql.Tx, rollupState) error) error {
	ctx, cancel, err := u.log.ask(ctx)
	defer cancel()
	if err != nil {
		return err
	}
	tx, err := u.log.store.Reader().BeginTx(ctx, &sql.TxOptions{ReadOnly: true})
	if err != nil {
		return fmt.Errorf("reading the series: %w", err)
	}
	var state rollupState
	err = tx.QueryRowContext(ctx, getRollup).Scan(&state.next, &state.upto, &state.clearing, &state.pruned)
	if err == nil {
		err = read(ctx, tx, state)
	}
	if e := tx.Rollback(); err == nil {
		err = e
	}
	if err != nil && !errors.Is(err, ErrTooManyDays) {
		return fmt.Errorf("reading the series: %w", u.log.store.Explain(err))
	}
	return err
}

package activity

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
)

// sqliteSnapshot is a transaction that reads.
type sqliteSnapshot struct {
	log    *SQLiteLog
	tx     *sql.Tx
	rollup rollupState
}

func (s sqliteSnapshot) state() rollupState { return s.rollup }

func (s sqliteSnapshot) walk(ctx context.Context, f *Filter, visit func(seq int64, r *Record) bool) error {
	return s.log.walkRows(ctx, s.tx, f, visit)
}

func (s sqliteSnapshot) rows(ctx context.Context, f *Filter, visit func(tenant []byte, created int64, data []byte) (bool, error)) error {
	tenants, err := s.log.tenants(ctx, s.tx, f)
	if err != nil || len(tenants) == 0 {
		return err
	}
	query, args := f.source(tenants)
	var seq, created int64
	var data, tenant sql.RawBytes
	return s.log.readFrom(ctx, s.tx, func(rows *sql.Rows) (bool, error) {
		if err := rows.Scan(&seq, &created, &data, &tenant); err != nil {
			return false, err
		}
		return visit(tenant, created, data)
	}, query, args...)
}

func (s sqliteSnapshot) days(ctx context.Context) (start, end int64, err error) {
	err = s.tx.QueryRowContext(ctx, "SELECT ifnull((SELECT min(start) FROM activity_days), 0), ifnull((SELECT max(start) FROM activity_days), -1) + 1").
		Scan(&start, &end)
	return start, end, err
}

func (s sqliteSnapshot) sums(ctx context.Context, q *rollupQuery, part span, visit func(*rollupSums) (*histograms, error)) error {
	query, args := q.source(part)
	rows, err := s.tx.QueryContext(ctx, query, args...)
	if err != nil {
		return err
	}
	var r rollupSums
	var packed sql.RawBytes
	for err == nil && rows.Next() {
		if err = rows.Scan(&r.start, &packed); err != nil {
			break
		}
		for rest := []byte(packed); err == nil && len(rest) > 0; {
			if rest, err = r.unpack(rest, len(q.by)); err != nil {
				break
			}
			var to *histograms
			if to, err = visit(&r); err == nil {
				rest, err = to.add(rest)
			}
		}
	}
	return errors.Join(err, rows.Err(), rows.Close())
}

// source is the query of a part of the time. Its answer has one row for each hour or day that the
// table has, with all its rows packed, see packedRow: a row that the driver hands over costs several
// times as much as one that SQLite appends.
//
// The tables begin with the time and the tenant: one tenant's rows are found by a search for each
// hour or day. The loop over times has them in order already, which an ORDER BY would sort again.
func (q *rollupQuery) source(part span) (string, []any) {
	cond, values := q.cond("?", 2)
	args := []any{part.start, part.end}
	for _, v := range values {
		args = append(args, v)
	}
	next := "(SELECT min(start) FROM " + part.table + " WHERE start >= %s AND start < ?2)"
	return "WITH RECURSIVE times(at) AS (SELECT " + fmt.Sprintf(next, "?1") +
		" UNION ALL SELECT " + fmt.Sprintf(next, "at + 1") + " FROM times WHERE at IS NOT NULL) " +
		"SELECT at, (SELECT CAST(group_concat(" + packedRow(q.by) + ", '') AS BLOB) FROM " + part.table + " WHERE start = at" + cond + ") FROM times WHERE at IS NOT NULL", args
}

// packedRow is an expression of SQL for a row as unpack reads it: for each name the decimal digits of
// twice its length, plus packedBase, plus 1 if the calls failed, then the name; after all of them data.
func packedRow(by []string) string {
	var packed strings.Builder
	for _, name := range by {
		fmt.Fprintf(&packed, "(%[2]d + octet_length(%[1]s) * 2 + (code <> '')) || %[1]s || ", name, packedBase)
	}
	return packed.String() + "data"
}

// packedBase makes all lengths numbers of packedDigits digits: no name is longer than maxText.
const packedBase, packedDigits = 1000, 4

// unpack sets r to the first of packed rows, which have so many names, and returns what follows: its
// histograms, and the other rows.
func (r *rollupSums) unpack(packed []byte, names int) (rest []byte, err error) {
	failed := false
	for i := range names {
		if len(packed) < packedDigits {
			return nil, errDamaged
		}
		n := 0
		for _, digit := range packed[:packedDigits] {
			n = 10*n + int(digit-'0')
		}
		n -= packedBase
		end := packedDigits + n/2
		if n < 0 || end > len(packed) {
			return nil, errDamaged
		}
		failed, r.names[i], packed = n%2 == 1, packed[packedDigits:end], packed[end:]
	}
	r.unnamed, rest, err = r.sums.readSums(packed, failed)
	return rest, err
}

// snapshot calls read with a transaction.
func (l *SQLiteLog) snapshot(ctx context.Context, read func(context.Context, snapshot) error) error {
	ctx, cancel, err := l.begin(ctx)
	defer cancel()
	if err != nil {
		return err
	}
	tx, err := l.store.Reader().BeginTx(ctx, &sql.TxOptions{ReadOnly: true})
	if err != nil {
		return fmt.Errorf("reading the series: %w", err)
	}
	s := sqliteSnapshot{log: l, tx: tx}
	err = tx.QueryRowContext(ctx, getRollup).Scan(&s.rollup.next, &s.rollup.upto, &s.rollup.clearing, &s.rollup.pruned)
	if err == nil {
		err = read(ctx, s)
	}
	if e := tx.Rollback(); err == nil {
		err = e
	}
	var param *ParamError
	if err != nil && !errors.Is(err, ErrTooManyDays) && !errors.As(err, &param) {
		return fmt.Errorf("reading the series: %w", l.store.Explain(err))
	}
	return err
}

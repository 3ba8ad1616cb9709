package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"

	"github.com/gatehouse-proxy/gatehouse/internal/activity"
)

// snapshot is a transaction that reads.
type snapshot struct {
	log    *Log
	tx     *sql.Tx
	rollup rollupState
}

func (s snapshot) State() (complete bool, pruned int64) {
	return s.rollup.complete(), s.rollup.pruned
}

func (s snapshot) Walk(ctx context.Context, f *activity.Filter, visit func(seq int64, r *activity.Record) bool) error {
	return s.log.walkRows(ctx, s.tx, f, visit)
}

func (s snapshot) Rows(ctx context.Context, f *activity.Filter, visit func(tenant []byte, created int64, data []byte) (bool, error)) error {
	var seq, created int64
	var data, tenant sql.RawBytes
	return s.log.rows(ctx, s.tx, f, func(rows *sql.Rows) (bool, error) {
		if err := rows.Scan(&seq, &created, &data, &tenant); err != nil {
			return false, err
		}
		return visit(tenant, created, data)
	})
}

func (s snapshot) Days(ctx context.Context) (start, end int64, err error) {
	err = s.tx.QueryRowContext(ctx, "SELECT ifnull((SELECT min(start) FROM activity_days), 0), ifnull((SELECT max(start) FROM activity_days), -1) + 1").
		Scan(&start, &end)
	return start, end, err
}

func (s snapshot) Sums(ctx context.Context, q *activity.SumQuery, part activity.Span, visit func(*activity.SumRow) (rest []byte, err error)) error {
	query, args := sumsQuery(q, part)
	rows, err := s.tx.QueryContext(ctx, query, args...)
	if err != nil {
		return err
	}
	var r activity.SumRow
	var packed sql.RawBytes
	for err == nil && rows.Next() {
		if err = rows.Scan(&r.Start, &packed); err != nil {
			break
		}
		for rest := []byte(packed); err == nil && len(rest) > 0; {
			if err = unpack(&r, rest, len(q.By)); err == nil {
				rest, err = visit(&r)
			}
		}
	}
	return errors.Join(err, rows.Err(), rows.Close())
}

// sumsQuery is the query of a part of the time. Its answer has one row for each hour or day that
// the table has, with all its rows packed, see packedRow: a row that the driver hands over costs
// several times as much as one that SQLite appends.
//
// The tables begin with the time and the tenant: one tenant's rows are found by a search for each
// hour or day. The loop over times has them in order already, which an ORDER BY would sort again.
func sumsQuery(q *activity.SumQuery, part activity.Span) (string, []any) {
	cond, values := q.Cond("?", 2)
	args := []any{part.Start, part.End}
	for _, v := range values {
		args = append(args, v)
	}
	next := "(SELECT min(start) FROM " + part.Table + " WHERE start >= %s AND start < ?2)"
	return "WITH RECURSIVE times(at) AS (SELECT " + fmt.Sprintf(next, "?1") +
		" UNION ALL SELECT " + fmt.Sprintf(next, "at + 1") + " FROM times WHERE at IS NOT NULL) " +
		"SELECT at, (SELECT CAST(group_concat(" + packedRow(q.By) + ", '') AS BLOB) FROM " + part.Table + " WHERE start = at" + cond + ") FROM times WHERE at IS NOT NULL", args
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

// unpack sets r to the first of packed rows, which have so many names. The other rows follow its data.
func unpack(r *activity.SumRow, packed []byte, names int) error {
	for i := range names {
		if len(packed) < packedDigits {
			return activity.ErrDamaged
		}
		n := 0
		for _, digit := range packed[:packedDigits] {
			n = 10*n + int(digit-'0')
		}
		n -= packedBase
		end := packedDigits + n/2
		if n < 0 || end > len(packed) {
			return activity.ErrDamaged
		}
		r.Failed, r.Names[i], packed = n%2 == 1, packed[packedDigits:end], packed[end:]
	}
	r.Data = packed
	return nil
}

// Snapshot implements [activity.Engine] with a transaction.
func (s source) Snapshot(ctx context.Context, read func(context.Context, activity.Snapshot) error) error {
	ctx, cancel, err := s.log.begin(ctx)
	defer cancel()
	if err != nil {
		return err
	}
	tx, err := s.log.store.Reader().BeginTx(ctx, &sql.TxOptions{ReadOnly: true})
	if err != nil {
		return fmt.Errorf("reading the series: %w", err)
	}
	at := snapshot{log: s.log, tx: tx}
	err = tx.QueryRowContext(ctx, getRollup).Scan(&at.rollup.next, &at.rollup.upto, &at.rollup.clearing, &at.rollup.pruned)
	if err == nil {
		err = read(ctx, at)
	}
	if e := tx.Rollback(); err == nil {
		err = e
	}
	if err != nil && !activity.Refused(err) {
		return fmt.Errorf("reading the series: %w", s.log.store.Explain(err))
	}
	return err
}

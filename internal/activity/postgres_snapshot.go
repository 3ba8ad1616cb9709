package activity

import (
	"context"
	"strings"

	"github.com/jackc/pgx/v5"
)

// postgresSnapshot is a transaction that reads.
type postgresSnapshot struct {
	tx     pgx.Tx
	pruned int64
}

// snapshot calls read with a transaction.
func (l *PostgresLog) snapshot(ctx context.Context, read func(context.Context, snapshot) error) error {
	ctx, cancel := l.begin(ctx)
	defer cancel()
	options := pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly}
	return explain(pgx.BeginTxFunc(ctx, l.db.Pool(), options, func(tx pgx.Tx) error {
		s := postgresSnapshot{tx: tx}
		if err := tx.QueryRow(ctx, "SELECT greatest(first - 1, incomplete) FROM activity_partitions").Scan(&s.pruned); err != nil {
			return err
		}
		return read(ctx, s)
	}))
}

// state implements snapshot: the sums are written with the rows, also by a rebuild.
func (s postgresSnapshot) state() rollupState { return rollupState{next: 1, pruned: s.pruned} }

func (s postgresSnapshot) days(ctx context.Context) (start, end int64, err error) {
	err = s.tx.QueryRow(ctx, "SELECT coalesce(min(start), 0), coalesce(max(start), -1) + 1 FROM activity_days").Scan(&start, &end)
	return start, end, err
}

func (s postgresSnapshot) rows(ctx context.Context, f *Filter, visit func(tenant []byte, created int64, data []byte) (bool, error)) error {
	w := walker{from: s.tx, batch: maxBatch}
	return w.raw(ctx, f, func(_ int64, tenant []byte, created int64, data []byte) (bool, error) {
		return visit(tenant, created, data)
	})
}

func (s postgresSnapshot) walk(ctx context.Context, f *Filter, visit func(seq int64, r *Record) bool) error {
	w := walker{from: s.tx, batch: maxBatch}
	return w.walk(ctx, f, visit)
}

// sums implements snapshot. The sums of nodes are visited one after the other.
func (s postgresSnapshot) sums(ctx context.Context, q *rollupQuery, part span, visit func(*rollupSums) (*histograms, error)) error {
	query, args := q.postgresSource(part)
	rows, err := s.tx.Query(ctx, query, args...)
	if err != nil {
		return err
	}
	var r rollupSums
	var failed bool
	var data, hists []byte
	to := []any{&r.start, &failed, &data, &r.names[0], &r.names[1]}[:3+len(q.by)]
	for err == nil && rows.Next() {
		if err = rows.Scan(to...); err != nil {
			break
		}
		if r.unnamed, hists, err = r.sums.readSums(data, failed); err != nil {
			break
		}
		var sum *histograms
		if sum, err = visit(&r); err == nil && sum != nil {
			_, err = sum.add(hists)
		}
	}
	rows.Close()
	if err != nil {
		return err
	}
	return rows.Err()
}

// postgresSource is the query of a part of the time.
func (q *rollupQuery) postgresSource(part span) (string, []any) {
	cond, values := q.cond("$", 2)
	args := []any{part.start, part.end}
	for _, v := range values {
		args = append(args, []byte(v))
	}
	return "SELECT start, code <> '', data, " + strings.Join(q.by, ", ") + " FROM " + part.table + " WHERE start >= $1 AND start < $2" + cond + " ORDER BY start", args
}

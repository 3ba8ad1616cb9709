package postgres

import (
	"context"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/gatehouse-proxy/gatehouse/internal/activity"
)

// snapshot is a transaction that reads.
type snapshot struct {
	tx     pgx.Tx
	pruned int64
}

// Snapshot implements [activity.Engine] with a transaction.
func (s source) Snapshot(ctx context.Context, read func(context.Context, activity.Snapshot) error) error {
	ctx, cancel := s.log.begin(ctx)
	defer cancel()
	options := pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly}
	return explain(pgx.BeginTxFunc(ctx, s.log.db.Pool(), options, func(tx pgx.Tx) error {
		at := snapshot{tx: tx}
		if err := tx.QueryRow(ctx, "SELECT greatest(first - 1, incomplete) FROM activity_partitions").Scan(&at.pruned); err != nil {
			return err
		}
		return read(ctx, at)
	}))
}

// State implements [activity.Snapshot]: the sums are written with the rows, also by a rebuild.
func (s snapshot) State() (complete bool, pruned int64) { return true, s.pruned }

func (s snapshot) Days(ctx context.Context) (start, end int64, err error) {
	err = s.tx.QueryRow(ctx, "SELECT coalesce(min(start), 0), coalesce(max(start), -1) + 1 FROM activity_days").Scan(&start, &end)
	return start, end, err
}

func (s snapshot) Rows(ctx context.Context, f *activity.Filter, visit func(tenant []byte, created int64, data []byte) (bool, error)) error {
	w := walker{from: s.tx, batch: maxBatch}
	return w.raw(ctx, f, func(_ int64, tenant []byte, created int64, data []byte) (bool, error) {
		return visit(tenant, created, data)
	})
}

func (s snapshot) Walk(ctx context.Context, f *activity.Filter, visit func(seq int64, r *activity.Record) bool) error {
	w := walker{from: s.tx, batch: maxBatch}
	return w.walk(ctx, f, visit)
}

// Sums implements [activity.Snapshot]. The sums of nodes are visited one after the other.
func (s snapshot) Sums(ctx context.Context, q *activity.SumQuery, part activity.Span, visit func(*activity.SumRow) (rest []byte, err error)) error {
	query, args := sumsOf(q, part)
	rows, err := s.tx.Query(ctx, query, args...)
	if err != nil {
		return err
	}
	var r activity.SumRow
	to := []any{&r.Start, &r.Failed, &r.Data, &r.Names[0], &r.Names[1]}[:3+len(q.By)]
	for err == nil && rows.Next() {
		if err = rows.Scan(to...); err == nil {
			_, err = visit(&r)
		}
	}
	rows.Close()
	if err != nil {
		return err
	}
	return rows.Err()
}

// sumsOf is the query of a part of the time.
func sumsOf(q *activity.SumQuery, part activity.Span) (string, []any) {
	cond, values := q.Cond("$", 2)
	args := []any{part.Start, part.End}
	for _, v := range values {
		args = append(args, []byte(v))
	}
	return "SELECT start, code <> '', data, " + strings.Join(q.By, ", ") + " FROM " + part.Table + " WHERE start >= $1 AND start < $2" + cond + " ORDER BY start", args
}

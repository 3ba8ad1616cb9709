package postgres

import (
	"context"
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/gatehouse-proxy/gatehouse/internal/activity"
)

// postgresQuerier is the pool, or one transaction.
type querier interface {
	Query(ctx context.Context, query string, args ...any) (pgx.Rows, error)
}

const (
	// firstBatch is how many rows a query reads at first: a page of the default length. Each
	// further batch is batchGrowth times as long, up to maxBatch, so that a filter that few rows
	// pass costs few messages.
	firstBatch, maxBatch, batchGrowth = activity.DefaultLimit + 1, 10_000, 4
)

// walker reads rows in batches, each of which is a query of its own: what is not read is not sent.
type walker struct {
	from  querier
	batch int          // rows of the first query
	after func() error // called once when a batch is read; nil: nothing
}

// walk calls visit with the records that match f, newest first, until it returns false.
func (w *walker) walk(ctx context.Context, f *activity.Filter, visit func(seq int64, r *activity.Record) bool) error {
	r := activity.Record{Tenant: f.Tenant}
	return w.raw(ctx, f, func(seq int64, tenant []byte, created int64, data []byte) (bool, error) {
		if string(tenant) != r.Tenant {
			r.Tenant = string(tenant)
		}
		r.CreatedAt = time.Unix(0, created).UTC()
		if err := activity.Decode(data, &r); err != nil {
			return false, err
		}
		if !f.Matches(&r) || f.RequestID != "" && f.RequestID != r.RequestID {
			return true, nil
		}
		return visit(seq, &r), nil
	})
}

// raw is walk without decoding. SQL filters most of what f does not select.
func (w *walker) raw(ctx context.Context, f *activity.Filter, visit func(seq int64, tenant []byte, created int64, data []byte) (bool, error)) error {
	at := f.After()
	for batch := w.batch; ; batch = min(batch*batchGrowth, max(maxBatch, w.batch)) {
		query, args := rowsOf(f, at, batch)
		rows, err := w.from.Query(ctx, query, args...)
		if err != nil {
			return err
		}
		var tenant, data []byte
		n, more := 0, true
		for more && err == nil && rows.Next() {
			n++
			if err = rows.Scan(&tenant, &at.Created, &at.Seq, &data); err == nil {
				more, err = visit(at.Seq, tenant, at.Created, data)
			}
		}
		rows.Close()
		if err == nil {
			err = rows.Err()
		}
		if err == nil && w.after != nil {
			err, w.after = w.after(), nil
		}
		if err != nil || !more || n < batch {
			return err
		}
	}
}

// rowsOf is the query that SQL answers: the next rows of a time, newest first, without most of
// those that f does not select.
func rowsOf(f *activity.Filter, after activity.Cursor, limit int) (string, []any) {
	var args []any
	var cond strings.Builder
	// In a condition ? is its value, and % is the value of the condition before.
	and := func(c string, value any) {
		args = append(args, value)
		n := len(args)
		cond.WriteString(" AND " + strings.NewReplacer("?", fmt.Sprint("$", n), "%", fmt.Sprint("$", n-1)).Replace(c))
	}
	if !f.AllTenants {
		and("tenant = ?", []byte(f.Tenant))
	}
	from, to := f.Span()
	if from > 0 {
		and("created_at >= ?", from)
	}
	if to < math.MaxInt64 {
		and("created_at < ?", to)
	}
	if after != (activity.Cursor{}) {
		and("created_at <= ?", after.Created) // partitions are chosen by this alone
		and("(created_at, seq) < (%, ?)", after.Seq)
	}
	if f.RequestID != "" {
		and("request_h = ?", hashOf(f.RequestID))
	}
	if f.TraceID != "" {
		and("(trace_h = ? OR trace_h IS NULL)", hashOf(f.TraceID))
	}
	if f.Status != 0 {
		and("substr(data, 3, 2) = ?", f.StatusBytes())
	}
	for _, part := range f.Parts() {
		and("position(?::bytea in data) > 0", part)
	}
	args = append(args, limit)
	return fmt.Sprintf("SELECT tenant, created_at, seq, data FROM activity WHERE true%s ORDER BY created_at DESC, seq DESC LIMIT $%d", cond.String(), len(args)), args
}

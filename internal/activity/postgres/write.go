package postgres

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"

	"github.com/gatehouse-proxy/gatehouse/internal/activity"
	"github.com/gatehouse-proxy/gatehouse/internal/postgres"
)

// rowsTable is the name of the table for the Writer.
const rowsTable = "activity"

const (
	insertRows = `INSERT INTO activity (tenant, created_at, seq, request_h, upstream_h, trace_h, data)
		SELECT tenant, created_at, seq, nullif(request_h, 0), nullif(upstream_h, 0), trace_h, data
		FROM unnest($1::bytea[], $2::bigint[], $3::bigint[], $4::bigint[], $5::bigint[], $6::bigint[], $7::bytea[])
			AS r(tenant, created_at, seq, request_h, upstream_h, trace_h, data)
		ON CONFLICT DO NOTHING RETURNING tenant, created_at, seq`
	// lockDays waits for a rebuild of these days, which are sorted.
	lockDays = "SELECT count(pg_advisory_xact_lock_shared($1::int, day)) FROM unnest($2::int[]) AS day"
	// lockNode waits for a process that has the same name: one that was paused while another took it.
	lockNode = "SELECT pg_advisory_xact_lock($1::int, hashtext($2))"
	// lockCrashed waits for everybody who looks for crashed rows with FOR UPDATE, and lets nobody do so.
	lockCrashed = "LOCK TABLE activity_crashed IN EXCLUSIVE MODE"
	known       = "SELECT tenant, request_h FROM activity WHERE request_h = ANY($1)"
	noteCrashed = "INSERT INTO activity_crashed (tenant, request_h, created_at, seq) SELECT * FROM unnest($1::bytea[], $2::bigint[], $3::bigint[], $4::bigint[]) ON CONFLICT DO NOTHING"
	// takeCrashed finds the rows that real ones replace.
	takeCrashed = "SELECT tenant, request_h, created_at, seq FROM activity_crashed WHERE request_h = ANY($1) ORDER BY request_h, tenant FOR UPDATE"
	dropCrashed = "DELETE FROM activity_crashed WHERE request_h = $1 AND tenant = $2"
	dropRow     = "DELETE FROM activity WHERE tenant = $1 AND created_at = $2 AND seq = $3 RETURNING data"
)

// rowBatch writes rows of one transaction.
type rowBatch struct {
	tx   pgx.Tx
	node string
	rows []queuedRow
	sums activity.RollUp
}

// write is the function of the [postgres.Table].
func (l *Log) write(ctx context.Context, tx pgx.Tx, rows [][]byte) error {
	w := rowBatch{tx: tx, node: l.node, rows: make([]queuedRow, len(rows))}
	for i, row := range rows {
		if err := w.rows[i].read(row); err != nil {
			return err
		}
	}
	first, until, err := l.partitions.cover(ctx, tx, l.node)
	if err != nil {
		return err
	}
	for i := range w.rows {
		r := &w.rows[i]
		r.created = min(max(r.created, first*activity.Days.Unit), until*activity.Days.Unit-1)
	}
	replaced, err := w.lock(ctx)
	if err != nil {
		return err
	}
	w.sums.Reset()
	if err := w.leaveOutCrashed(ctx); err != nil {
		return err
	}
	if err := w.replaceCrashed(ctx, replaced); err != nil {
		return err
	}
	if err := w.insert(ctx); err != nil {
		return err
	}
	return w.sums.Fold(nodeSums{ctx, tx, l.node}, nil)
}

// lock waits for a rebuild of the days of the rows, and lets none begin. It returns the rows of
// crashed calls that have ended after all, in the same round trip: the real ones replace them.
func (w *rowBatch) lock(ctx context.Context) (replaced []queuedRow, err error) {
	var touched []int32
	var requests []int64
	ended, crashed := map[callKey]bool{}, false
	for i := range w.rows {
		r := &w.rows[i]
		crashed = crashed || r.crashed
		touched = append(touched, int32(r.created/activity.Days.Unit))
		if !r.crashed && r.request != 0 {
			requests = append(requests, r.request)
			ended[r.call()] = true
		}
	}
	slices.Sort(touched)
	var b pgx.Batch
	b.Queue(lockDays, locks, slices.Compact(touched))
	if crashed {
		b.Queue(lockCrashed)
	}
	if len(requests) > 0 {
		b.Queue(takeCrashed, requests).Query(func(found pgx.Rows) error {
			var r queuedRow
			_, err := pgx.ForEachRow(found, []any{&r.tenant, &r.request, &r.created, &r.seq}, func() error {
				if ended[r.call()] {
					r.tenant = bytes.Clone(r.tenant)
					replaced = append(replaced, r)
				}
				return nil
			})
			return err
		})
	}
	err = w.tx.SendBatch(ctx, &b).Close()
	return replaced, err
}

func run(ctx context.Context, tx pgx.Tx, query string, args ...any) error {
	_, err := tx.Exec(ctx, query, args...)
	return err
}

// callKey is what the rows of one call have in common.
type callKey struct {
	tenant  string
	request int64
}

func (r *queuedRow) call() callKey { return callKey{string(r.tenant), r.request} }

// leaveOutCrashed notes the rows of calls that were taken for crashed, behind lockCrashed. Those
// whose real row, or another such row, is there already are left out.
func (w *rowBatch) leaveOutCrashed(ctx context.Context) error {
	var requests []int64
	there := map[callKey]bool{}
	for i := range w.rows {
		if r := &w.rows[i]; r.crashed {
			requests = append(requests, r.request)
		} else if r.request != 0 {
			there[r.call()] = true
		}
	}
	if len(requests) == 0 {
		return nil
	}
	found, err := w.tx.Query(ctx, known, requests)
	if err != nil {
		return err
	}
	var tenant []byte
	var request int64
	if _, err := pgx.ForEachRow(found, []any{&tenant, &request}, func() error {
		there[callKey{string(tenant), request}] = true
		return nil
	}); err != nil {
		return err
	}
	var note columns4
	w.rows = slices.DeleteFunc(w.rows, func(r queuedRow) bool {
		if !r.crashed {
			return false
		}
		if r.request != 0 && there[r.call()] {
			return true
		}
		there[r.call()] = true
		note.add(&r)
		return false
	})
	return run(ctx, w.tx, noteCrashed, note.tenant, note.request, note.created, note.seq)
}

// columns4 are the columns that name rows.
type columns4 struct {
	tenant                [][]byte
	request, created, seq []int64
}

func (c *columns4) add(r *queuedRow) {
	c.tenant, c.request = append(c.tenant, r.tenant), append(c.request, r.request)
	c.created, c.seq = append(c.created, r.created), append(c.seq, r.seq)
}

// replaceCrashed deletes rows of calls that were taken for crashed and have ended after all.
func (w *rowBatch) replaceCrashed(ctx context.Context, replaced []queuedRow) error {
	for _, r := range replaced {
		if err := run(ctx, w.tx, lockDays, locks, []int32{int32(r.created / activity.Days.Unit)}); err != nil {
			return err
		}
		if err := run(ctx, w.tx, dropCrashed, r.request, r.tenant); err != nil {
			return err
		}
		var data []byte
		switch err := w.tx.QueryRow(ctx, dropRow, r.tenant, r.created, r.seq).Scan(&data); err {
		case nil:
			if err := w.sums.Remove(string(r.tenant), r.created, data); err != nil {
				return err
			}
		case pgx.ErrNoRows: // retention was faster
		default:
			return err
		}
	}
	return nil
}

// insert inserts the rows, and adds those that are new to the sums.
func (w *rowBatch) insert(ctx context.Context) error {
	slices.SortStableFunc(w.rows, func(a, b queuedRow) int {
		return cmp.Or(bytes.Compare(a.tenant, b.tenant), cmp.Compare(a.created, b.created), cmp.Compare(a.seq, b.seq))
	})
	w.rows = slices.CompactFunc(w.rows, func(a, b queuedRow) bool { return a.key() == b.key() })
	var c columns4
	var upstream, trace []int64
	var data [][]byte
	for i := range w.rows {
		row, of := &w.rows[i], activity.Record{}
		if err := activity.Decode(row.data, &of); err != nil {
			return err
		}
		c.add(row)
		upstream, trace, data = append(upstream, row.upstream), append(trace, hashOf(of.TraceID)), append(data, row.data)
	}
	inserted, err := w.tx.Query(ctx, insertRows, postgres.Binary(w.tx, c.tenant, c.created, c.seq, c.request, upstream, trace, data)...)
	if err != nil {
		return err
	}
	fresh := make(map[rowKey]bool, len(w.rows))
	var r queuedRow
	if _, err := pgx.ForEachRow(inserted, []any{&r.tenant, &r.created, &r.seq}, func() error {
		fresh[r.key()] = true
		return nil
	}); err != nil {
		return err
	}
	for i := range w.rows {
		if r := &w.rows[i]; fresh[r.key()] {
			if err := w.sums.Add(string(r.tenant), r.created, r.data); err != nil {
				return fmt.Errorf("adding a row to the sums: %w", err)
			}
		}
	}
	return nil
}

// rowKey is the primary key.
type rowKey struct {
	tenant       string
	created, seq int64
}

func (r *queuedRow) key() rowKey { return rowKey{string(r.tenant), r.created, r.seq} }

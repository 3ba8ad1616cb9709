// Package sqlite keeps the activity of one gateway in the store on its disk.
package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/activity"
	"github.com/gatehouse-proxy/gatehouse/internal/store"
)

// blockedTimeout is flushTimeout once commits have been blocked for that long.
const blockedTimeout = 100 * time.Millisecond

// Log appends records to a store and finds them again. A store has one.
type Log struct {
	activity.Reader

	store   *store.Store
	recent  recent          // used only by the store's writer
	rollup  activity.RollUp // used only by the store's writer
	pending pending
}

// source is what the Reader of a log reads.
type source struct{ log *Log }

// New returns the log kept in st, which was opened with Schema.
func New(st *store.Store) *Log {
	l := &Log{store: st}
	l.Reader = activity.NewReader(source{l})
	return l
}

// Rebuild implements [activity.Log]. Days of which rows were deleted stay as they are. Calls go on
// meanwhile, each step is one commit, and answers of the roll-up are incomplete until it is done.
// If ctx ends, the [Pruner] does the rest.
func (l *Log) Rebuild(ctx context.Context) (rows int, err error) {
	op := &rollupOp{begin: true, more: true}
	for op.more {
		if err := errors.Join(l.store.Submit(op), l.store.Flush(ctx)); err != nil {
			return rows, err
		}
		rows += op.rows
		op = &rollupOp{more: op.more}
	}
	return rows, nil
}

// Append queues r, encoded, and returns in about a microsecond. With a full queue it returns within
// 100 ms; r is then dropped, and the store counts it. Append shortens texts of r that are too long.
func (l *Log) Append(r *activity.Record) {
	activity.Bound(r)
	if l.pending.add(r) {
		return
	}
	g := l.pending.begin()
	g.log = l
	g.add(r)
	if l.store.Submit(g) == nil { // the store counts a lost record; the call does not fail for it
		l.pending.keep(g)
	}
}

// columns are in the order that scan reads.
const columns = "seq, created_at, data, tenant"

// scan sets all of a record. If tenant is its tenant, as it mostly is, no text is copied for that.
func scan(rows *sql.Rows, r *activity.Record, tenant string) (seq int64, err error) {
	var created int64
	var data, owner sql.RawBytes
	if err := rows.Scan(&seq, &created, &data, &owner); err != nil {
		return 0, err
	}
	if string(owner) != tenant {
		tenant = string(owner)
	}
	r.Tenant, r.CreatedAt = tenant, time.Unix(0, created).UTC()
	return seq, activity.Decode(data, r)
}

// BlockedSince implements [activity.Log].
func (l *Log) BlockedSince() time.Time {
	if s := l.store.Status(); s.Err != nil {
		return s.Oldest
	}
	return time.Time{}
}

// begin begins a query. It flushes, so that calls that ended before are visible, unless commits are
// blocked. The caller must call cancel.
func (l *Log) begin(ctx context.Context) (_ context.Context, cancel func(), err error) {
	ctx, cancel = context.WithTimeout(ctx, activity.QueryTimeout)
	limit := activity.FlushTimeout
	if since := l.BlockedSince(); !since.IsZero() {
		limit = max(activity.FlushTimeout-time.Since(since), blockedTimeout)
	}
	short, done := context.WithTimeout(ctx, limit)
	defer done()
	err = l.store.Flush(short)
	if errors.Is(err, context.DeadlineExceeded) && l.BlockedSince().IsZero() {
		err = l.store.Flush(ctx) // commits take their time, and go on
	}
	if err != nil && (ctx.Err() != nil || l.BlockedSince().IsZero()) {
		return ctx, cancel, fmt.Errorf("committing the records before a query: %w", err)
	}
	return ctx, cancel, nil
}

// querier is the pool of readers, or one transaction.
type querier interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
}

// read calls visit with each row until it returns false.
func (l *Log) read(ctx context.Context, from querier, visit func(*sql.Rows) (more bool, err error), query string, args ...any) error {
	rows, err := from.QueryContext(ctx, query, args...)
	if err != nil {
		return fmt.Errorf("querying the activity: %w", err)
	}
	more := true
	for more && err == nil && rows.Next() {
		more, err = visit(rows)
	}
	if err = errors.Join(err, rows.Err(), rows.Close()); err != nil {
		return fmt.Errorf("reading the activity: %w", l.store.Explain(err))
	}
	return nil
}

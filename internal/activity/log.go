package activity

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/store"
)

const (
	// queryTimeout bounds a query that reads very many rows; readers are few and shared.
	queryTimeout = 10 * time.Second
	// flushTimeout is how long a query waits for the rows of calls that have ended. If commits are
	// blocked it then answers with what there is; see [Log].BlockedSince.
	flushTimeout = 2 * time.Second
	// blockedTimeout is flushTimeout once commits have been blocked for that long.
	blockedTimeout = 100 * time.Millisecond
)

// Log keeps a record of each call and finds it again. [SQLiteLog] keeps them on this machine's disk.
// Package activitytest tests conformance.
type Log interface {
	// Append keeps r and returns at once. It never fails: a record that cannot be kept is counted by
	// what keeps it. Append shortens texts of r that are too long.
	Append(r *Record)
	// Query returns one page of records, newest first. Calls that ended before, on any gateway, are in it,
	// unless commits are blocked.
	Query(ctx context.Context, f Filter) (Page, error)
	// Find returns the newest record of a tenant with this id, of its own or of a client.
	Find(ctx context.Context, tenant, id string) (found Record, ok bool, err error)
	// FindAny does so for all tenants.
	FindAny(ctx context.Context, id string) (found Record, ok bool, err error)
	// Daily returns sums by day, model and key.
	Daily(ctx context.Context, f Filter) ([]Day, error)
	// Series returns sums over time, which are kept longer than records.
	Series(ctx context.Context, q SeriesQuery) (Series, error)
	// Costs returns what a key, or with "" a tenant, has cost by day.
	Costs(ctx context.Context, tenant, key string) ([]Day, error)
	// BlockedSince is when the first call ended that queries may lack because commits are blocked, zero if
	// they lack none.
	BlockedSince() time.Time
	// Rebuild makes the sums again from the records, and returns how many it read.
	Rebuild(ctx context.Context) (rows int, err error)
}

// SQLiteLog appends records to a store and finds them again. A store has one.
type SQLiteLog struct {
	sumReader

	store   *store.Store
	recent  recent       // used only by the store's writer
	rollup  rollupWriter // used only by the store's writer
	pending pending
	flush   time.Duration // flushTimeout
}

// New returns the log kept in st, which was opened with Schema.
func New(st *store.Store) *SQLiteLog {
	l := &SQLiteLog{store: st, flush: flushTimeout}
	l.sumReader = newSumReader(l)
	return l
}

// Rebuild implements Log. Days of which rows were deleted stay as they are. Calls go on meanwhile, each
// step is one commit, and answers of the roll-up are incomplete until it is done. If ctx ends, the
// [Pruner] does the rest.
func (l *SQLiteLog) Rebuild(ctx context.Context) (rows int, err error) {
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
func (l *SQLiteLog) Append(r *Record) {
	r.bound()
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
func scan(rows *sql.Rows, r *Record, tenant string) (seq int64, err error) {
	var created int64
	var data, owner sql.RawBytes
	if err := rows.Scan(&seq, &created, &data, &owner); err != nil {
		return 0, err
	}
	if string(owner) != tenant {
		tenant = string(owner)
	}
	r.Tenant, r.CreatedAt = tenant, time.Unix(0, created).UTC()
	return seq, r.decode(data)
}

// BlockedSince implements Log.
func (l *SQLiteLog) BlockedSince() time.Time {
	if s := l.store.Status(); s.Err != nil {
		return s.Oldest
	}
	return time.Time{}
}

// begin begins a query. It flushes, so that calls that ended before are visible, unless commits are
// blocked. The caller must call cancel.
func (l *SQLiteLog) begin(ctx context.Context) (_ context.Context, cancel func(), err error) {
	ctx, cancel = context.WithTimeout(ctx, queryTimeout)
	limit := l.flush
	if since := l.BlockedSince(); !since.IsZero() {
		limit = max(limit-time.Since(since), blockedTimeout)
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

// read calls visit with each row until it returns false.
func (l *SQLiteLog) read(ctx context.Context, visit func(*sql.Rows) (more bool, err error), query string, args ...any) error {
	return l.readFrom(ctx, l.store.Reader(), visit, query, args...)
}

// querier is the pool of readers, or one transaction.
type querier interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
}

// readFrom is read from a pool or a transaction.
func (l *SQLiteLog) readFrom(ctx context.Context, from querier, visit func(*sql.Rows) (more bool, err error), query string, args ...any) error {
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

package activity

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/store"
)

// queryTimeout bounds a question that has to look at very many rows; readers are few and shared.
const queryTimeout = 10 * time.Second

// Log appends records to a store and finds them again.
type Log struct {
	store   *store.Store
	maxDays int // of the constant's name; a test has fewer
}

// New returns the log kept in st, which was opened with Schema.
func New(st *store.Store) *Log { return &Log{store: st, maxDays: maxDays} }

// row is a Record as the store's operation: the conversion costs no allocation.
type row Record

// Append queues r and returns in about a microsecond; with a full queue within 100 ms, and r is then dropped and
// counted by the store. It is r's owner from now on. Its strings should not be cut out of a large body: the queue would
// hold that.
func (l *Log) Append(r *Record) {
	r.bound()
	_ = l.store.Submit((*row)(r)) // a lost record is counted there; a call does not fail for it
}

// Droppable is true: a record is evidence, not money.
func (r *row) Droppable() bool { return true }

func (r *row) Apply(tx *store.Tx) error {
	var upstream any
	if r.UpstreamID != "" {
		upstream = hash(r.Tenant, r.UpstreamID)
	}
	_, err := tx.Exec(insert,
		r.ID, r.RequestID, r.ClientRequestID, r.UpstreamID, r.CreatedAt.UnixNano(), r.Tenant, r.Key, r.KeyHash, r.Family, r.Route,
		r.Model, r.Provider, r.UpstreamModel, r.Status, r.Code, r.Stream, int64(r.Latency), int64(r.FirstToken), r.FinishReason, r.NativeFinishReason,
		r.PromptTokens, r.CompletionTokens, r.ReasoningTokens, r.CachedTokens, r.UsageSource, r.CostNano, r.Priced, r.Attempts,
		hash(r.Tenant, r.ID), hash(r.Tenant, r.RequestID), upstream)
	return err
}

func scan(rows *sql.Rows) (Record, error) {
	var r Record
	var created int64
	err := rows.Scan(
		&r.ID, &r.RequestID, &r.ClientRequestID, &r.UpstreamID, &created, &r.Tenant, &r.Key, &r.KeyHash, &r.Family, &r.Route,
		&r.Model, &r.Provider, &r.UpstreamModel, &r.Status, &r.Code, &r.Stream, &r.Latency, &r.FirstToken, &r.FinishReason, &r.NativeFinishReason,
		&r.PromptTokens, &r.CompletionTokens, &r.ReasoningTokens, &r.CachedTokens, &r.UsageSource, &r.CostNano, &r.Priced, &r.Attempts)
	r.CreatedAt = time.Unix(0, created).UTC()
	return r, err
}

// read flushes, so that a call whose end came before the question is seen, then hands every row to each.
func (l *Log) read(ctx context.Context, each func(*sql.Rows) error, query string, args ...any) error {
	ctx, cancel := context.WithTimeout(ctx, queryTimeout)
	defer cancel()
	if err := l.store.Flush(ctx); err != nil {
		return fmt.Errorf("committing the records before a query: %w", err)
	}
	rows, err := l.store.Reader().QueryContext(ctx, query, args...)
	if err != nil {
		return fmt.Errorf("querying the activity: %w", err)
	}
	for rows.Next() {
		if err := each(rows); err != nil {
			return errors.Join(fmt.Errorf("reading the activity: %w", err), rows.Close())
		}
	}
	if err := errors.Join(rows.Err(), rows.Close()); err != nil {
		return fmt.Errorf("reading the activity: %w", err)
	}
	return nil
}

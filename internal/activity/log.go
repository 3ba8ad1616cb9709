package activity

import (
	"context"
	"time"
)

const (
	// QueryTimeout bounds a query that reads very many rows; readers are few and shared.
	QueryTimeout = 10 * time.Second
	// FlushTimeout is how long a query waits for the rows of calls that have ended. If commits are
	// blocked it then answers with what there is; see [Log].BlockedSince.
	FlushTimeout = 2 * time.Second
)

// Log keeps a record of each call and finds it again. Package sqlite keeps them on this machine's
// disk, package postgres those of all gateways of a cluster. Package activitytest tests
// conformance.
type Log interface {
	// Append keeps r and returns at once. It never fails: a record that cannot be kept is counted
	// by what keeps it. Append shortens texts of r that are too long.
	Append(r *Record)
	// Query returns one page of records, newest first. Calls that ended before, on any gateway, are
	// in it, unless commits are blocked.
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
	// BlockedSince is when the first call ended that queries may lack because commits are blocked,
	// zero if they lack none.
	BlockedSince() time.Time
	// Rebuild makes the sums again from the records, and returns how many it read.
	Rebuild(ctx context.Context) (rows int, err error)
}

package postgres

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"go.uber.org/zap"
)

const (
	// feedInterval is the longest time until a change of another node is known here, if no event
	// tells of it.
	feedInterval = time.Second
	// feedAnswer bounds the question whether there are changes.
	feedAnswer = 5 * time.Second
	// feedTimeout bounds the reading of changes by all followers: it may be all keys.
	feedTimeout = 2 * time.Minute
	// publishTimeout bounds an event.
	publishTimeout = time.Second
)

// FeedSchema has the number of the last change.
var FeedSchema = Schema{Name: "feed", Steps: []string{`
	CREATE TABLE feed (seq bigint NOT NULL);
	INSERT INTO feed VALUES (0)`}}

// nextChange locks the row until the transaction ends, so that numbers become visible in their
// order; a sequence could show 8 before 7. A node that is paused in a transaction must not hold up
// all others: the server ends it after five seconds.
const nextChange = `UPDATE feed SET seq = seq + 1
	RETURNING seq, set_config('idle_in_transaction_session_timeout', '5000', true)`

// ErrUncertain is wrapped if the server did not say whether a change was made.
var ErrUncertain = errors.New("PostgreSQL did not say whether the change was made")

// FeedConfig is what a feed works with.
type FeedConfig struct {
	DB *DB
	// Publish tells the other nodes of a change, which call Wake. They poll, too, so it may fail.
	// It may be nil.
	Publish func(ctx context.Context) error
	Logger  *zap.Logger
}

// Follower is a part of the gateway that keeps a copy of rows which others may change.
type Follower struct {
	Name string // in errors: "keys"
	// After is the number of the last change that it knows.
	After int64
	// Read applies all rows with a higher number than after. It may see a row more than once, and must
	// not make a change. After an error it is called again. 0 is the first reading, or the database
	// was put back to an older state: then rows are gone that it has read before.
	Read func(ctx context.Context, after int64) error
}

// Feed numbers changes that all gateways must learn of: keys, workstations. It is safe for
// concurrent use.
//
//	feed.Follow(postgres.Follower{Name: "keys", Read: table.follow})
//	node.On("feed", func(string) { feed.Wake() })
//	feed.Start(ctx)
//	err := feed.Change(ctx, write) // the followers of this node have it when it returns
type Feed struct {
	config    FeedConfig
	turn      chan struct{} // capacity 1: held by who reads
	wake      chan struct{} // capacity 1
	changed   chan struct{} // capacity 1: an event has to be published
	ctx       context.Context
	stop      context.CancelFunc
	goroutine sync.WaitGroup

	mu        sync.Mutex  // guards the following
	followers []*Follower // After is guarded by turn
	status    FeedStatus
}

// NewFeed returns the feed of a database that has FeedSchema. It reads nothing before Start.
func NewFeed(c FeedConfig) *Feed {
	if c.Logger == nil {
		c.Logger = zap.NewNop()
	}
	f := &Feed{config: c, turn: make(chan struct{}, 1), wake: make(chan struct{}, 1), changed: make(chan struct{}, 1)}
	f.ctx, f.stop = context.WithCancel(context.Background())
	return f
}

// Change makes a change with the next number, which write puts into its rows. When Change returns,
// the followers of this node have read it, unless the server was lost meanwhile; those of other nodes
// read it within milliseconds, or a second. Besides the errors of write it returns ErrUnavailable
// (nothing has changed) and ErrUncertain.
func (f *Feed) Change(ctx context.Context, write func(ctx context.Context, tx pgx.Tx, seq int64) error) error {
	tx, err := f.config.DB.pool.Begin(ctx)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrUnavailable, err)
	}
	if err = inTransaction(ctx, tx, write); err != nil {
		refusal := new(pgconn.PgError)
		if tx.Conn().IsClosed() || errors.As(err, &refusal) {
			err = Explain(err)
		}
		_ = tx.Rollback(context.WithoutCancel(ctx)) // of a connection that is closed: nothing
		return err
	}
	if err = tx.Commit(ctx); err != nil {
		if answered(err) {
			return err
		}
		return fmt.Errorf("%w: %w", ErrUncertain, err)
	}
	select {
	case f.changed <- struct{}{}:
	default:
	}
	_ = f.CatchUp(ctx) // the change is made
	return nil
}

func inTransaction(ctx context.Context, tx pgx.Tx, write func(context.Context, pgx.Tx, int64) error) error {
	var seq int64
	var timeout string
	if err := tx.QueryRow(ctx, nextChange).Scan(&seq, &timeout); err != nil {
		return err
	}
	return write(ctx, tx, seq)
}

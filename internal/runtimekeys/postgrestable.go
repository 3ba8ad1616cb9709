package runtimekeys

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"go.uber.org/zap"

	"github.com/gatehouse-proxy/gatehouse/internal/postgres"
	"github.com/gatehouse-proxy/gatehouse/internal/store"
)

// PostgresSchema has the keys that several gateways share; see keyColumns.
var PostgresSchema = postgres.Schema{Name: "api_keys", Steps: []string{`
	CREATE TABLE api_key (
		id         bytea  NOT NULL PRIMARY KEY, -- the SHA-256 of its first secret
		made       bigint NOT NULL,             -- the feed's number of its making
		seq        bigint NOT NULL,             -- the feed's number of its last change
		tenant     text   NOT NULL,
		label      text   NOT NULL,
		created_at bigint NOT NULL,             -- nanoseconds since 1970
		updated_at bigint NOT NULL,             -- 0: never
		made_with  text   NOT NULL,             -- the hash of an Idempotency-Key; empty: none
		settings   text   NOT NULL,             -- JSON
		secrets    bytea  NOT NULL,
		deleted_at bigint NOT NULL              -- 0: it exists; else the row is only told to others
	);
	CREATE INDEX api_key_seq ON api_key (seq);
	CREATE INDEX api_key_deleted ON api_key (deleted_at) WHERE deleted_at > 0;
	CREATE TABLE api_key_pruned (seq bigint NOT NULL); -- of the newest deletion that is not told any more
	INSERT INTO api_key_pruned VALUES (0)`}}

const (
	upsertShared = "INSERT INTO api_key (" + keyColumns + `, deleted_at) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, 0)
		ON CONFLICT (id) DO UPDATE SET seq = excluded.seq, label = excluded.label, updated_at = excluded.updated_at,
		settings = excluded.settings, secrets = excluded.secrets`
	deleteShared = `UPDATE api_key SET seq = $2, deleted_at = $3, tenant = '', label = '', made_with = '', settings = '', secrets = ''
		WHERE id = $1`
	selectChanged = "SELECT " + keyColumns + ", deleted_at FROM api_key WHERE seq > $1 ORDER BY seq"
	selectShared  = "SELECT " + keyColumns + ", deleted_at FROM api_key WHERE deleted_at = 0 ORDER BY made"

	// pruneDeleted deletes some old rows of deleted keys.
	pruneDeleted = `WITH old AS (SELECT id FROM api_key WHERE deleted_at > 0 AND deleted_at < $1 LIMIT 100),
		gone AS (DELETE FROM api_key WHERE id IN (SELECT id FROM old) RETURNING seq)
		UPDATE api_key_pruned SET seq = greatest(seq, (SELECT max(seq) FROM gone))`
)

const (
	// answerTimeout bounds the first question at a start. Without an answer the snapshot is used.
	answerTimeout = 5 * time.Second
	// loadTimeout bounds the reading of all keys: a million take a minute on a busy machine.
	loadTimeout = 2 * time.Minute
)

// PostgresConfig is what a PostgresTable works with.
type PostgresConfig struct {
	DB     *postgres.DB   // with PostgresSchema
	Feed   *postgres.Feed // of DB
	Store  *store.Store   // with SnapshotSchema
	Now    func() time.Time
	Logger *zap.Logger
	// Changed is called after each change of a key, here or on another node. Before is nil for a new
	// key, after for a deleted one. It must not change keys. It may be nil.
	Changed func(before, after *Key)
}

// PostgresTable is the Table of several gateways. A change locks the feed's row, reads what others
// have changed since, and is judged by that: so what holds for all keys (max, Idempotency-Key) holds
// for those of all gateways, and no change overwrites another.
//
// A copy of all keys is kept in the store, for a start while PostgreSQL is away.
type PostgresTable struct {
	config   PostgresConfig
	snapshot *snapshot
	keys     *Keys // set by follow
	loaded   int64 // by Load: the number of the last change
	empty    bool  // Load has found neither the database nor a snapshot
	refused  refresher
	applying sync.Mutex // so that memory and snapshot take batches in the same order
}

// NewPostgresTable returns the table. It must be opened by one Keys, before the feed is started.
func NewPostgresTable(c PostgresConfig) *PostgresTable {
	t := &PostgresTable{config: c, snapshot: &snapshot{store: c.Store, now: c.Now, logger: c.Logger}}
	t.refused.read = c.Feed.CatchUp
	return t
}

// Load implements Table. Without an answer of PostgreSQL it yields the keys of the last snapshot. A
// node that has none yields no key; see loading.
func (t *PostgresTable) Load(ctx context.Context, yield func(Record) error) error {
	bounded, cancel := context.WithTimeout(ctx, loadTimeout)
	b, err := t.latest(bounded, 0)
	cancel()
	switch {
	case err == nil:
		if err := t.snapshot.replace(ctx, b); err != nil {
			return err
		}
	case errors.Is(err, postgres.ErrUnavailable):
		var from time.Time
		var failed error
		switch b, from, failed = t.snapshot.load(ctx); {
		case errors.Is(failed, errNoSnapshot):
			t.empty = true
			t.config.Logger.Error("PostgreSQL does not answer, and this node has no snapshot of the keys made at run time: they get 503 until it does", zap.Error(err))
			return nil
		case failed != nil:
			return errors.Join(err, failed)
		}
		t.config.Logger.Warn("PostgreSQL does not answer; the keys made at run time are those of the last snapshot",
			zap.Error(err), zap.Time("snapshot", from), zap.Duration("age", t.config.Now().Sub(from)), zap.Int("keys", len(b.versions)))
	default:
		return err
	}
	t.loaded = b.upTo
	for _, v := range b.versions {
		if err := yield(v.key.Record); err != nil {
			return err
		}
	}
	return nil
}

// follow begins to tell keys of the changes after Load, whose number it returns.
func (t *PostgresTable) follow(keys *Keys) (loaded int64) {
	t.keys = keys
	t.config.Feed.Follow(postgres.Follower{Name: "keys made at run time", After: t.loaded, Read: t.read})
	return t.loaded
}

// read is Follower.Read.
func (t *PostgresTable) read(ctx context.Context, after int64) error {
	if after > 0 {
		after = max(after, t.keys.knows())
	}
	b, err := t.latest(ctx, after)
	if err == nil {
		t.tell(t.apply(b))
	}
	return err
}

// latest reads what was changed after a number until now.
func (t *PostgresTable) latest(ctx context.Context, after int64) (batch, error) {
	var seq int64
	first, cancel := context.WithTimeout(ctx, answerTimeout)
	defer cancel()
	if err := t.config.DB.Pool().QueryRow(first, "SELECT seq FROM feed").Scan(&seq); err != nil {
		return batch{}, postgres.Explain(err)
	}
	return t.changes(ctx, t.config.DB.Pool(), after, seq)
}

// apply applies a batch in memory and in the snapshot.
func (t *PostgresTable) apply(b batch) []outcome {
	t.applying.Lock()
	defer t.applying.Unlock()
	outcomes := t.keys.apply(b)
	if len(outcomes) > 0 {
		t.snapshot.apply(outcomes, t.keys.knows())
	}
	return outcomes
}

func (t *PostgresTable) tell(outcomes []outcome) {
	if t.config.Changed == nil {
		return
	}
	for _, o := range outcomes {
		t.config.Changed(o.before, o.after)
	}
}

// refresh returns when the changes that other gateways have made until now are applied, or after a
// moment.
func (t *PostgresTable) refresh() {
	if t.config.Feed.Status().Err == nil {
		t.refused.wait()
	}
}

// loading reports whether no key is known yet, since neither the database nor a snapshot could be read.
func (t *PostgresTable) loading() bool { return t.empty && t.config.Feed.Status().At.IsZero() }

// querier is a connection or a transaction.
type querier interface {
	Query(ctx context.Context, query string, args ...any) (pgx.Rows, error)
	QueryRow(ctx context.Context, query string, args ...any) pgx.Row
}

// changes reads what was changed after a number, when upTo was the last one. It reads all keys if after
// is 0, if it is not reached yet (the database was put back to an older state), or if deletions after
// it are not told any more.
func (t *PostgresTable) changes(ctx context.Context, q querier, after, upTo int64) (b batch, err error) {
	b.upTo = upTo
	if upTo < after {
		after = 0
	}
	if t.keys != nil {
		b.back = after == 0 && upTo < t.keys.knows()
	}
	if after > 0 {
		if b.versions, err = scanVersions(ctx, q, selectChanged, after); err != nil {
			return b, err
		}
		var pruned int64 // read after the rows: none of those that were told is missing
		if err := q.QueryRow(ctx, "SELECT seq FROM api_key_pruned").Scan(&pruned); err != nil {
			return b, postgres.Explain(err)
		}
		if pruned <= after {
			return b, nil
		}
	}
	b.whole = true
	b.versions, err = scanVersions(ctx, q, selectShared)
	return b, err
}

func scanVersions(ctx context.Context, q querier, query string, args ...any) (versions []version, err error) {
	rows, err := q.Query(ctx, query, args...)
	if err != nil {
		return nil, postgres.Explain(err)
	}
	defer rows.Close()
	for rows.Next() {
		var deleted int64
		r, err := scanRecord(rows.Scan, &deleted)
		if err != nil {
			return nil, fmt.Errorf("reading a key: %w", err)
		}
		versions = append(versions, version{&Key{Record: r}, deleted != 0})
	}
	return versions, postgres.Explain(rows.Err())
}

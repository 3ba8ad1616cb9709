// Package postgres keeps the sign-ins of several gateways in PostgreSQL.
package postgres

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"go.uber.org/zap"

	"github.com/gatehouse-proxy/gatehouse/internal/authserver"
	"github.com/gatehouse-proxy/gatehouse/internal/postgres"
)

// Schema has the sign-ins that several gateways share.
var Schema = postgres.Schema{Name: "sign_ins", Steps: []string{`
	CREATE TABLE sign_in (
		id      bytea  NOT NULL PRIMARY KEY,
		kind    text   NOT NULL,
		ends_at bigint NOT NULL, -- nanoseconds since 1970
		body    text   NOT NULL, -- JSON
		version bigint NOT NULL,
		seq     bigint NOT NULL  -- the feed's number of its last change
	);
	CREATE INDEX sign_in_ends ON sign_in (ends_at);
	CREATE INDEX sign_in_seq ON sign_in (seq)`}}

const (
	columns       = "id, kind, ends_at, body, version"
	selectAll     = "SELECT " + columns + " FROM sign_in WHERE kind = ANY($1) AND ends_at > $2"
	selectChanged = "SELECT " + columns + " FROM sign_in WHERE seq > $1 ORDER BY seq"
	selectOne     = "SELECT " + columns + " FROM sign_in WHERE id = $1"
	upsert        = "INSERT INTO sign_in (" + columns + `, seq) VALUES ($1, $2, $3, $4, $5, $6)
		ON CONFLICT (id) DO UPDATE SET kind = excluded.kind, ends_at = excluded.ends_at, body = excluded.body,
		version = excluded.version, seq = excluded.seq`
	// prune deletes some of those that have ended. Each change does: none is left for long.
	prune = "DELETE FROM sign_in WHERE id IN (SELECT id FROM sign_in WHERE ends_at < $1 LIMIT 10)"

	// loadTimeout bounds the reading of all sign-ins: a hundred thousand take a second.
	loadTimeout = 30 * time.Second
)

// Config is what a Table works with.
type Config struct {
	DB     *postgres.DB // with Schema
	Feed   *postgres.Feed
	Now    func() time.Time
	Logger *zap.Logger
}

// Table implements [authserver.Store]. All gateways learn of a change by the feed.
type Table struct {
	Config
	empty bool // Load has read nothing
}

// New returns the table. Its state is opened before the feed is started.
func New(c Config) *Table { return &Table{Config: c} }

// Follow implements [authserver.Store].
func (t *Table) Follow(changed func(authserver.Record)) {
	t.Feed.Follow(postgres.Follower{Name: "sign-ins", Read: func(ctx context.Context, after int64) error {
		if after == 0 { // Load has not read it, or the database was put back to an older state
			return t.read(ctx, changed, selectAll, kinds, t.Now().UnixNano())
		}
		return t.read(ctx, changed, selectChanged, after)
	}})
}

// kinds are those that are followed.
var kinds = []string{"sign_in", "block"}

// Load implements [authserver.Store]. While the database is away there is nothing: the feed reads
// it later, see Loading.
func (t *Table) Load(ctx context.Context, of []authserver.Kind, yield func(authserver.Record)) error {
	ctx, cancel := context.WithTimeout(ctx, loadTimeout)
	defer cancel()
	err := t.read(ctx, yield, selectAll, texts(of), t.Now().UnixNano())
	if errors.Is(err, authserver.ErrUnavailable) {
		t.Logger.Error("PostgreSQL does not answer: people who have signed in get 503 until it does", zap.Error(err))
		t.empty = true
		return nil
	}
	return err
}

// Loading implements [authserver.Store].
func (t *Table) Loading() bool { return t.empty && t.Feed.Status().At.IsZero() }

func texts(of []authserver.Kind) (all []string) {
	for _, kind := range of {
		all = append(all, string(kind))
	}
	return all
}

func (t *Table) read(ctx context.Context, yield func(authserver.Record), query string, args ...any) error {
	rows, err := t.DB.Pool().Query(ctx, query, args...)
	if err != nil {
		return explain(err)
	}
	defer rows.Close()
	for rows.Next() {
		r, err := scan(rows.Scan)
		if err != nil {
			return err
		}
		yield(r)
	}
	return explain(rows.Err())
}

func scan(scan func(...any) error) (r authserver.Record, err error) {
	var id []byte
	var ends int64
	var body string
	if err := scan(&id, &r.Kind, &ends, &body, &r.Version); err != nil {
		return r, err
	}
	if len(id) != len(r.ID) {
		return r, fmt.Errorf("an id of %d bytes", len(id))
	}
	r.ID, r.Ends, r.Body = authserver.ID(id), time.Unix(0, ends), []byte(body)
	return r, nil
}

// Get implements [authserver.Store].
func (t *Table) Get(ctx context.Context, id authserver.ID) (authserver.Record, bool, error) {
	return find(ctx, t.DB.Pool(), id)
}

// querier is a connection or a transaction.
type querier interface {
	QueryRow(ctx context.Context, query string, args ...any) pgx.Row
}

func find(ctx context.Context, q querier, id authserver.ID) (authserver.Record, bool, error) {
	r, err := scan(q.QueryRow(ctx, selectOne, id[:]).Scan)
	if errors.Is(err, pgx.ErrNoRows) {
		return r, false, nil
	}
	return r, err == nil, explain(err)
}

// errEdit marks an error of edit: it says nothing of the database.
type errEdit struct{ error }

// Change implements [authserver.Store].
func (t *Table) Change(ctx context.Context, id authserver.ID, edit func(*authserver.Record) (authserver.Record, error)) error {
	err := t.Feed.Change(ctx, func(ctx context.Context, tx pgx.Tx, seq int64) error {
		found, ok, err := find(ctx, tx, id)
		if err != nil {
			return err
		}
		before := &found
		if !ok {
			before = nil
		}
		after, err := edit(before)
		if err != nil {
			return errEdit{err}
		}
		if _, err := tx.Exec(ctx, prune, t.Now().UnixNano()); err != nil {
			return err
		}
		_, err = tx.Exec(ctx, upsert, id[:], string(after.Kind), after.Ends.UnixNano(), string(after.Body), after.Version, seq)
		return err
	})
	var refused errEdit
	if errors.As(err, &refused) {
		return refused.error
	}
	return explain(err) // also of a COMMIT without an answer: the client asks again
}

func explain(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%w: %w", authserver.ErrUnavailable, postgres.Explain(err))
}

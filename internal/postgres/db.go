// Package postgres keeps what several gateways share and must not lose.
//
//	db, err := postgres.Open(dsn)
//	err = db.Migrate(ctx, activity.PostgresSchema, owners.PostgresSchema)
//	w := postgres.NewWriter(db, st, "gw-1", activity.PostgresTable)   // rows, in groups, each once
//	w.Append("activity", row)
//	feed := postgres.NewFeed(db)                                      // changes that all gateways follow
package postgres

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// ErrUnavailable is wrapped if the server cannot be reached, or did not answer in time.
var ErrUnavailable = errors.New("PostgreSQL does not answer")

// DB is a pool of connections. It is safe for concurrent use.
type DB struct{ pool *pgxpool.Pool }

// Open returns the database of an address (a URL or "host=… dbname=…"). It does not connect.
func Open(dsn string) (*DB, error) {
	config, err := pgxpool.ParseConfig(dsn)
	if err != nil {
		return nil, errors.New("the address of PostgreSQL is not valid") // err may show a password
	}
	pool, err := pgxpool.NewWithConfig(context.Background(), config)
	if err != nil {
		return nil, err
	}
	return &DB{pool}, nil
}

// Pool returns the connections, for queries.
func (db *DB) Pool() *pgxpool.Pool { return db.pool }

// Close ends all connections.
func (db *DB) Close() { db.pool.Close() }

// Schema is the tables of a package. Steps are run in their order, each once; a released step does
// not change.
type Schema struct {
	Name  string
	Steps []string
}

// migrationLock is the advisory lock of migrations: an arbitrary number that is only ours.
const migrationLock = 0x6761746568

// Migrate brings the tables up to date, one gateway at a time. A layout that is newer than this
// program is refused.
func (db *DB) Migrate(ctx context.Context, schemas ...Schema) error {
	return pgx.BeginFunc(ctx, db.pool, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, "SELECT pg_advisory_xact_lock($1)", migrationLock); err != nil {
			return err
		}
		if _, err := tx.Exec(ctx, "CREATE TABLE IF NOT EXISTS gatehouse_schema (name text PRIMARY KEY, version int NOT NULL)"); err != nil {
			return err
		}
		for _, s := range schemas {
			if err := s.migrate(ctx, tx); err != nil {
				return fmt.Errorf("the tables of %s: %w", s.Name, err)
			}
		}
		return nil
	})
}

func (s Schema) migrate(ctx context.Context, tx pgx.Tx) error {
	version := 0
	err := tx.QueryRow(ctx, "SELECT version FROM gatehouse_schema WHERE name = $1", s.Name).Scan(&version)
	if err != nil && !errors.Is(err, pgx.ErrNoRows) {
		return err
	}
	if version > len(s.Steps) {
		return fmt.Errorf("the database has layout %d, this program knows %d: it was used by a newer program", version, len(s.Steps))
	}
	for _, step := range s.Steps[version:] {
		if _, err := tx.Exec(ctx, step); err != nil {
			return err
		}
	}
	_, err = tx.Exec(ctx, "INSERT INTO gatehouse_schema VALUES ($1, $2) ON CONFLICT (name) DO UPDATE SET version = excluded.version", s.Name, len(s.Steps))
	return err
}

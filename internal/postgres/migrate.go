package postgres

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// Schema is the tables of a package. Steps are run in their order, each once; a released step does
// not change.
type Schema struct {
	Name  string
	Steps []string
}

// migrationLock is the advisory lock of migrations: an arbitrary number that is only ours.
const migrationLock = 0x6761746568

// migrationTimeout bounds a migration, with the wait for another gateway's.
const migrationTimeout = time.Minute

// Migrate brings the tables up to date, one gateway at a time. A layout that is newer than this
// program is refused. The error wraps ErrUnavailable if the server does not answer: the Writer can
// start nevertheless, and its rows wait until Migrate has succeeded.
func (db *DB) Migrate(ctx context.Context, schemas ...Schema) error {
	ctx, cancel := context.WithTimeout(ctx, migrationTimeout)
	defer cancel()
	err := pgx.BeginFunc(ctx, db.pool, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, "SELECT pg_advisory_xact_lock($1)", int64(migrationLock)); err != nil {
			return err
		}
		var there bool
		err := tx.QueryRow(ctx, "SELECT to_regclass('gatehouse_schema') IS NOT NULL").Scan(&there)
		if err == nil && !there { // IF NOT EXISTS asks for the right to make tables in any case
			_, err = tx.Exec(ctx, "CREATE TABLE gatehouse_schema (name text PRIMARY KEY, version int NOT NULL)")
		}
		if err != nil {
			return err
		}
		for _, s := range schemas {
			if err := s.migrate(ctx, tx); err != nil {
				return fmt.Errorf("the tables of %s: %w", s.Name, explainRights(err))
			}
		}
		return nil
	})
	return explainRights(err)
}

// explainRights is Explain, and says which right a user needs.
func explainRights(err error) error {
	var refused *pgconn.PgError
	if errors.As(err, &refused) && refused.Code == "42501" {
		return fmt.Errorf("%w: the user of the address must own the tables and may make more: GRANT CREATE ON SCHEMA public TO the user, or make it the owner of the database", Explain(err))
	}
	return Explain(err)
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
	if version == len(s.Steps) {
		return nil
	}
	for _, step := range s.Steps[version:] {
		if _, err := tx.Exec(ctx, step); err != nil {
			return err
		}
	}
	_, err = tx.Exec(ctx, "INSERT INTO gatehouse_schema VALUES ($1, $2) ON CONFLICT (name) DO UPDATE SET version = excluded.version", s.Name, len(s.Steps))
	return err
}

package runtimekeys

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"reflect"

	"github.com/jackc/pgx/v5"

	"github.com/gatehouse-proxy/gatehouse/internal/postgres"
)

// Change implements Table. The errors besides those of judge have postgres.ErrUnavailable or
// postgres.ErrUncertain.
func (t *PostgresTable) Change(ctx context.Context, judge Judge) error {
	var outcomes []outcome // of the changes before this one
	var before, after *Record
	var number int64
	err := t.config.Feed.Change(ctx, func(ctx context.Context, tx pgx.Tx, seq int64) (err error) {
		number = seq
		b, err := t.changes(ctx, tx, t.keys.knows(), seq-1)
		if err != nil {
			return err
		}
		outcomes = t.apply(b)
		if before, after, err = judge(); err != nil {
			return err
		}
		return t.write(ctx, tx, seq, before, after)
	})
	if errors.Is(err, postgres.ErrUncertain) {
		err = t.look(ctx, number, before, after, err)
	}
	if err == nil {
		own := &Key{Record: *cmp.Or(after, before)}
		own.Version = number
		made := batch{versions: []version{{own, after == nil}}, upTo: number}
		outcomes = append(outcomes, t.apply(made)...)
	}
	t.tell(outcomes)
	return err
}

// write puts a change into its transaction.
func (t *PostgresTable) write(ctx context.Context, tx pgx.Tx, seq int64, before, after *Record) error {
	now := t.config.Now()
	if after == nil {
		if _, err := tx.Exec(ctx, deleteShared, before.ID[:], seq, now.UnixNano()); err != nil {
			return err
		}
		_, err := tx.Exec(ctx, pruneDeleted, now.Add(-tombstoneLife).UnixNano())
		return err
	}
	after.Version = seq
	if before == nil {
		after.Seq = seq
	}
	values, err := after.values()
	if err != nil {
		return err
	}
	_, err = tx.Exec(ctx, upsertShared, values...)
	return err
}

// errLooked ends a transaction that only looks.
var errLooked = errors.New("only looked")

// look finds out whether a change was made whose COMMIT was not answered. It waits for the feed's row,
// so the transaction of that change has ended.
func (t *PostgresTable) look(ctx context.Context, number int64, before, after *Record, uncertain error) error {
	made := false
	err := t.config.Feed.Change(ctx, func(ctx context.Context, tx pgx.Tx, _ int64) error {
		var err error
		made, err = isMade(ctx, tx, number, before, after)
		if err != nil {
			return err
		}
		return errLooked
	})
	switch {
	case !errors.Is(err, errLooked):
		return errors.Join(uncertain, err)
	case made:
		return nil
	}
	return fmt.Errorf("%w: the change was taken back", postgres.ErrUnavailable)
}

// isMade reports whether a change is in the database. The number of one that was taken back is given
// to another.
func isMade(ctx context.Context, tx pgx.Tx, number int64, before, after *Record) (bool, error) {
	record := cmp.Or(after, before)
	var deletedAt int64
	found, err := scanRecord(tx.QueryRow(ctx, "SELECT "+keyColumns+", deleted_at FROM api_key WHERE id = $1", record.ID[:]).Scan, &deletedAt)
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		return after == nil, nil
	case err != nil:
		return false, err
	case after == nil:
		return deletedAt != 0, nil
	case found.Version > number: // changed again meanwhile, by one who saw this change or did not
		return false, postgres.ErrUncertain
	case found.Version < number:
		return false, nil
	}
	have, err := found.values()
	if err != nil {
		return false, err
	}
	want, err := after.values()
	return reflect.DeepEqual(have, want), err
}

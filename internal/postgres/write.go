package postgres

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"go.uber.org/zap"
)

const (
	// writeTimeout bounds one attempt to write a batch, with connecting.
	writeTimeout = 5 * time.Second
	// maxConflicts is how often a batch is tried at once again after a deadlock.
	maxConflicts = 3
)

// WriterSchema has the table that says which batches are written. A batch whose COMMIT got no answer
// is tried again: it is in the database if the row of its process has its number, or a higher one.
//
//	node  source               n     at
//	gw-1  LRQ3XJ4C2OXO5T6ZPK…  7312  2026-05-04 12:00:00.1
var WriterSchema = Schema{Name: "writer", Steps: []string{`
	CREATE TABLE node_batch (
		node   text        NOT NULL,
		source text        NOT NULL, -- a process of the node: its batches are numbered upwards
		n      bigint      NOT NULL, -- of the last batch that is written
		at     timestamptz NOT NULL,
		PRIMARY KEY (node, source)
	)`, `
	CREATE TABLE node_seen (
		node text        NOT NULL PRIMARY KEY,
		at   timestamptz NOT NULL
	)`}}

const (
	// claimBatch takes the number of a batch, unless it is taken. A node that is paused in a transaction
	// must not hold up the writers of all others: the server ends it after two seconds, before they
	// give up.
	claimBatch = `INSERT INTO node_batch (node, source, n, at) VALUES ($1, $2, $3, now())
		ON CONFLICT (node, source) DO UPDATE SET n = excluded.n, at = excluded.at WHERE node_batch.n < excluded.n
		RETURNING set_config('idle_in_transaction_session_timeout', '2000', true)`
	// forgetSources deletes rows of processes that are gone and have left nothing in the spool. It
	// spares young ones, of which a transaction may be under way.
	forgetSources = "DELETE FROM node_batch WHERE node = $1 AND source <> $2 AND at < now() - interval '1 day'"
)

// write writes a batch, once.
func (w *Writer) write(ctx context.Context, b *batch) error {
	ctx, cancel := context.WithTimeout(ctx, writeTimeout)
	defer cancel()
	err := w.transact(ctx, b, w.writeTables)
	if errors.Is(Explain(err), ErrUnavailable) && ctx.Err() == nil { // a connection was cut: perhaps only that
		err = w.transact(ctx, b, w.writeTables)
	}
	for range maxConflicts {
		var refused *pgconn.PgError
		if !errors.As(err, &refused) || refused.Code != "40P01" && refused.Code != "40001" {
			break
		}
		err = w.transact(ctx, b, w.writeTables)
	}
	var bad *badRow
	if errors.As(err, &bad) {
		err = w.transact(ctx, b, w.writeEach)
	}
	return Explain(err)
}

// transact runs write in a transaction unless one with this batch was committed.
func (w *Writer) transact(ctx context.Context, b *batch, write func(context.Context, pgx.Tx, [][][]byte) (refused int, err error)) error {
	rows := make([][][]byte, len(w.tables))
	for _, e := range b.rows {
		rows[e.table] = append(rows[e.table], e.row)
	}
	refused := 0
	err := pgx.BeginFunc(ctx, w.db.writing, func(tx pgx.Tx) error {
		tag, err := tx.Exec(ctx, claimBatch, w.node, b.source, int64(b.n))
		if err != nil || tag.RowsAffected() == 0 {
			return err
		}
		refused, err = write(ctx, tx, rows)
		return err
	})
	if err == nil && refused > 0 {
		w.state.refuse(refused)
	}
	return err
}

// badRow is an error for which a row is at fault.
type badRow struct {
	table string
	err   error
}

func (e *badRow) Error() string { return e.table + ": " + e.err.Error() }
func (e *badRow) Unwrap() error { return e.err }

// writeTable writes rows of a table. Its error is a badRow if not the server or the connection is to
// blame.
func writeTable(ctx context.Context, tx pgx.Tx, t *Table, rows [][]byte) error {
	err := t.Write(ctx, tx, rows)
	if err == nil {
		return nil
	}
	var refused *pgconn.PgError
	if errors.As(err, &refused) && ofRow(refused.Code) || refused == nil && ctx.Err() == nil && !tx.Conn().IsClosed() && !errors.Is(err, ErrUnavailable) {
		return &badRow{t.Name, err}
	}
	return err
}

func (w *Writer) writeTables(ctx context.Context, tx pgx.Tx, rows [][][]byte) (int, error) {
	for i := range w.tables {
		if len(rows[i]) > 0 {
			if err := writeTable(ctx, tx, &w.tables[i], rows[i]); err != nil {
				return 0, err
			}
		}
	}
	return 0, nil
}

// writeEach leaves out the rows that are at fault: it halves the rows until it has found them.
func (w *Writer) writeEach(ctx context.Context, tx pgx.Tx, rows [][][]byte) (refused int, err error) {
	for i := range w.tables {
		n, err := w.writeHalves(ctx, tx, &w.tables[i], rows[i])
		if refused += n; err != nil {
			return 0, err
		}
	}
	return refused, nil
}

func (w *Writer) writeHalves(ctx context.Context, tx pgx.Tx, t *Table, rows [][]byte) (refused int, err error) {
	if len(rows) == 0 {
		return 0, nil
	}
	err = pgx.BeginFunc(ctx, tx, func(savepoint pgx.Tx) error { return writeTable(ctx, savepoint, t, rows) })
	var bad *badRow
	if !errors.As(err, &bad) {
		return 0, err
	}
	if len(rows) == 1 {
		w.logger.Error("a row is dropped: PostgreSQL does not take it", zap.String("table", t.Name), zap.Error(Explain(bad.err)))
		return 1, nil
	}
	first, err := w.writeHalves(ctx, tx, t, rows[:len(rows)/2])
	if err != nil {
		return 0, err
	}
	second, err := w.writeHalves(ctx, tx, t, rows[len(rows)/2:])
	return first + second, err
}

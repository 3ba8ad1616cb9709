package postgres

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
)

const (
	// batchInterval is the longest time that a row waits for others.
	batchInterval = 100 * time.Millisecond
	// batchRows is how many rows are written without waiting.
	batchRows = 500
)

// WriterSchema has the table that says which batches are written.
var WriterSchema = Schema{Name: "writer", Steps: []string{`
	CREATE TABLE node_batch (
		node text   NOT NULL PRIMARY KEY,
		n    bigint NOT NULL -- of batches that are written
	)`}}

// Table writes rows of one kind. A row is what the caller of Append has made of it: it may wait on
// disk while the database is away.
type Table struct {
	Name string
	// Write writes rows, which may be written with others in one transaction. It must touch rows of
	// the database that other gateways touch too in an order of their keys, or transactions would wait
	// for one another in a circle.
	Write func(ctx context.Context, tx pgx.Tx, rows [][]byte) error
}

// Writer writes rows in groups. Each row is written once, whatever happens to the connection.
type Writer struct {
	db     *DB
	node   string
	tables []Table

	mu      sync.Mutex // guards the following
	waiting map[string][][]byte
	n       int64

	writing sync.Mutex
	stop    chan struct{}
	stopped chan struct{}
}

// NewWriter returns a writer for a node, of which there is one at a time. Tables are written in their
// order.
func NewWriter(db *DB, node string, tables ...Table) *Writer {
	return &Writer{db: db, node: node, tables: tables, waiting: make(map[string][][]byte), stop: make(chan struct{}), stopped: make(chan struct{})}
}

// Start begins to write, until Close.
func (w *Writer) Start(ctx context.Context) error {
	err := w.db.pool.QueryRow(ctx, `INSERT INTO node_batch VALUES ($1, 0)
		ON CONFLICT (node) DO UPDATE SET n = node_batch.n RETURNING n`, w.node).Scan(&w.n)
	if err != nil {
		return err
	}
	go func() {
		defer close(w.stopped)
		tick := time.NewTicker(batchInterval)
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
				_ = w.Flush(context.Background())
			case <-w.stop:
				return
			}
		}
	}()
	return nil
}

// Append queues a row of a table. It does not wait.
func (w *Writer) Append(table string, row []byte) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.waiting[table] = append(w.waiting[table], row)
}

// Flush returns when all rows that were appended before are written.
func (w *Writer) Flush(ctx context.Context) error {
	w.writing.Lock()
	defer w.writing.Unlock()
	w.mu.Lock()
	batch := w.waiting
	w.waiting = make(map[string][][]byte)
	w.mu.Unlock()
	if len(batch) == 0 {
		return nil
	}
	err := pgx.BeginFunc(ctx, w.db.pool, func(tx pgx.Tx) error {
		tag, err := tx.Exec(ctx, "UPDATE node_batch SET n = n + 1 WHERE node = $1 AND n = $2", w.node, w.n)
		if err != nil || tag.RowsAffected() == 0 {
			return err
		}
		for _, t := range w.tables {
			if rows := batch[t.Name]; len(rows) > 0 {
				if err := t.Write(ctx, tx, rows); err != nil {
					return fmt.Errorf("%s: %w", t.Name, err)
				}
			}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("%w: %w", ErrUnavailable, err)
	}
	w.n++
	return nil
}

// Close writes what waits and ends.
func (w *Writer) Close(ctx context.Context) error {
	close(w.stop)
	<-w.stopped
	return w.Flush(ctx)
}

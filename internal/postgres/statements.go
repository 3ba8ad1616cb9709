package postgres

import (
	"context"

	"github.com/jackc/pgx/v5"
)

// statementsAtOnce is how many statements one message has.
const statementsAtOnce = 1000

// Statements runs many statements of a transaction, in few messages.
type Statements struct {
	Tx    pgx.Tx
	batch pgx.Batch
}

// Add queues a statement. It sends those that wait if they are many, and returns the first error.
func (s *Statements) Add(ctx context.Context, query string, args ...any) error {
	s.batch.Queue(query, args...)
	if s.batch.Len() < statementsAtOnce {
		return nil
	}
	return s.Send(ctx)
}

// Send sends those that wait, and returns the first error.
func (s *Statements) Send(ctx context.Context) error {
	if s.batch.Len() == 0 {
		return nil
	}
	waiting := s.batch
	s.batch = pgx.Batch{}
	return s.Tx.SendBatch(ctx, &waiting).Close()
}

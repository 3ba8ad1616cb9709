package postgres

import (
	"context"

	"github.com/jackc/pgx/v5"
)

// statementsAtOnce is how many statements one message has.
const statementsAtOnce = 1000

// Binary returns arguments that are sent in binary, for a statement with thousands of values that runs
// in the transaction again and again. As text, which is what a statement without a description takes,
// each value is quoted. The first time on a connection costs a round trip for the description.
func Binary(tx pgx.Tx, args ...any) []any {
	if tx.Conn().Config().DefaultQueryExecMode != pgx.QueryExecModeExec {
		return args // the operator has chosen
	}
	return append([]any{pgx.QueryExecModeCacheDescribe}, args...)
}

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

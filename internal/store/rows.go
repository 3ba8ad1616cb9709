package store

import (
	"context"
	"database/sql"
	"iter"
)

// Rows yields each row of a query of committed rows, to be scanned. An error is yielded last.
func Rows(ctx context.Context, s *Store, query string, args ...any) iter.Seq2[*sql.Rows, error] {
	return func(yield func(*sql.Rows, error) bool) {
		rows, err := s.Reader().QueryContext(ctx, query, args...)
		if err != nil {
			yield(nil, err)
			return
		}
		defer rows.Close()
		for rows.Next() {
			if !yield(rows, nil) {
				return
			}
		}
		if err := rows.Err(); err != nil {
			yield(nil, err)
		}
	}
}

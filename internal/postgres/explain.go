package postgres

import (
	"errors"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"
)

// Explain returns err with ErrUnavailable, unless it has that or is the server's refusal of a
// statement.
func Explain(err error) error {
	if err == nil || errors.Is(err, ErrUnavailable) || answered(err) {
		return err
	}
	return fmt.Errorf("%w: %w", ErrUnavailable, err)
}

// answered reports whether an error is the server's answer to a statement, and not one of a server
// that ends, begins, has no connection left or has become a replica.
func answered(err error) bool {
	var refusal *pgconn.PgError
	if !errors.As(err, &refusal) {
		return false
	}
	for _, class := range []string{"08", "53", "57P", "25006"} {
		if strings.HasPrefix(refusal.Code, class) {
			return false
		}
	}
	return true
}

package postgres

import (
	"errors"

	"github.com/jackc/pgx/v5/pgconn"
)

// answered reports whether an error is the server's answer to a statement, and not one of a server
// that cannot work now.
func answered(err error) bool {
	var refusal *pgconn.PgError
	return errors.As(err, &refusal) && !away(refusal.Code)
}

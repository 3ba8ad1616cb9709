package owners

import (
	"context"
	"database/sql"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/gatehouse-proxy/gatehouse/internal/store"
)

// copyRows is how many rows of a copy are written by one statement.
const copyRows = 1000

// CopyTo writes the valid owners of one gateway into the table of PostgresSchema, and returns how many
// there are. An id that belongs to another tenant there stays with it.
func CopyTo(ctx context.Context, tx pgx.Tx, from *store.Store, now time.Time) (copied int64, err error) {
	rows, err := from.Reader().QueryContext(ctx, "SELECT provider, id, kind, tenant, expires_at FROM owners WHERE expires_at > ? ORDER BY provider, id", now.UnixNano())
	if err != nil {
		return 0, err
	}
	defer rows.Close()
	for {
		n, err := copySome(ctx, tx, rows, now)
		copied += int64(n)
		if err != nil || n < copyRows {
			return copied, err
		}
	}
}

// copySome copies the next rows.
func copySome(ctx context.Context, tx pgx.Tx, rows *sql.Rows, now time.Time) (n int, err error) {
	var providers, ids [][]byte
	var kinds, tenants []string
	var expires []int64
	for n < copyRows && rows.Next() {
		var r row
		var provider, id string
		if err := rows.Scan(&provider, &id, &r.Kind, &r.Tenant, &r.Expires); err != nil {
			return n, err
		}
		providers, ids = append(providers, []byte(provider)), append(ids, []byte(id))
		kinds, tenants, expires = append(kinds, r.Kind), append(tenants, r.Tenant), append(expires, r.Expires)
		n++
	}
	if err := rows.Err(); err != nil || n == 0 {
		return n, err
	}
	written, err := tx.Query(ctx, upsertShared, providers, ids, kinds, tenants, expires, now.UnixNano())
	if err != nil {
		return n, err
	}
	written.Close()
	return n, written.Err()
}

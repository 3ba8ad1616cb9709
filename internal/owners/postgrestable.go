package owners

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"
	"go.uber.org/zap"

	"github.com/gatehouse-proxy/gatehouse/internal/postgres"
)

// PostgresSchema has the owners that several gateways share. IDs are those of providers and clients,
// which need not be text.
var PostgresSchema = postgres.Schema{Name: "owners", Steps: []string{`
	CREATE TABLE owner (
		provider   bytea  NOT NULL,
		id         bytea  NOT NULL,
		kind       text   NOT NULL,
		tenant     text   NOT NULL,
		expires_at bigint NOT NULL, -- nanoseconds since 1970
		PRIMARY KEY (provider, id)
	);
	CREATE INDEX owner_expiry ON owner (expires_at)`}}

// tableName is that of the rows in the writer.
const tableName = "owners"

const (
	// upsertShared does not change a valid row of another tenant. It returns the rows that it wrote.
	upsertShared = `INSERT INTO owner (provider, id, kind, tenant, expires_at)
		SELECT * FROM unnest($1::bytea[], $2::bytea[], $3::text[], $4::text[], $5::bigint[])
		ON CONFLICT (provider, id) DO UPDATE SET kind = excluded.kind, tenant = excluded.tenant, expires_at = excluded.expires_at
		WHERE owner.tenant = excluded.tenant OR owner.expires_at <= $6
		RETURNING provider, id`
	selectShared = "SELECT id, tenant, expires_at FROM owner WHERE provider = $1 AND id = ANY($2::bytea[]) AND expires_at > $3"
	// pruneShared deletes twice the rows that were written, at most: so old rows leave with new ones.
	// Rows that another gateway deletes at the same time are left to it.
	pruneShared = `DELETE FROM owner WHERE (provider, id) IN
		(SELECT provider, id FROM owner WHERE expires_at <= $1 ORDER BY expires_at LIMIT $2 FOR UPDATE SKIP LOCKED)`
)

// row is an owner on its way to PostgreSQL.
type row struct {
	Provider []byte `json:"p"`
	ID       []byte `json:"id"`
	Kind     string `json:"k"`
	Tenant   string `json:"t"`
	At       int64  `json:"at"`  // nanoseconds since 1970
	Expires  int64  `json:"end"` // the same
}

func encode(r row) []byte {
	text, _ := json.Marshal(r) // texts and numbers
	return text
}

// write writes rows that the writer has kept, in the order of their keys.
func (o *PostgresOwners) write(ctx context.Context, tx pgx.Tx, encoded [][]byte) error {
	rows, err := o.decode(encoded)
	if err != nil || len(rows) == 0 {
		return err
	}
	var providers, ids [][]byte
	var kinds, tenants []string
	var expires []int64
	oldest := rows[0].At
	for _, r := range rows {
		providers, ids = append(providers, r.Provider), append(ids, r.ID)
		kinds, tenants, expires = append(kinds, r.Kind), append(tenants, r.Tenant), append(expires, r.Expires)
		oldest = min(oldest, r.At)
	}
	written, err := tx.Query(ctx, upsertShared, providers, ids, kinds, tenants, expires, oldest)
	if err != nil {
		return err
	}
	mine := make(map[key]bool, len(rows))
	var provider, id []byte
	if _, err := pgx.ForEachRow(written, []any{&provider, &id}, func() error {
		mine[key{string(provider), string(id)}] = true
		return nil
	}); err != nil {
		return err
	}
	for _, r := range rows {
		if k := (key{string(r.Provider), string(r.ID)}); !mine[k] {
			if err := o.correct(ctx, tx, k, oldest); err != nil {
				return err
			}
		}
	}
	_, err = tx.Exec(ctx, pruneShared, o.config.Now().UnixNano(), 2*len(rows))
	return err
}

// decode returns the rows in the order of their keys. Of several with the same key it keeps the first
// tenant's last. A row that is not valid is left out: it would stop all others.
func (o *PostgresOwners) decode(encoded [][]byte) ([]row, error) {
	rows := make([]row, 0, len(encoded))
	for _, text := range encoded {
		var r row
		if err := json.Unmarshal(text, &r); err != nil {
			o.config.Logger.Error("an owner is not valid, and lost", zap.Error(err))
			continue
		}
		rows = append(rows, r)
	}
	slices.SortStableFunc(rows, compare)
	kept := rows[:0]
	for _, r := range rows {
		switch last := len(kept) - 1; {
		case last < 0 || compare(kept[last], r) != 0:
			kept = append(kept, r)
		case kept[last].Tenant == r.Tenant:
			kept[last].Expires = max(kept[last].Expires, r.Expires)
		}
	}
	return kept, nil
}

func compare(a, b row) int {
	return cmp.Or(bytes.Compare(a.Provider, b.Provider), bytes.Compare(a.ID, b.ID))
}

// correct tells memory and the engine of an earlier owner that both had forgotten.
func (o *PostgresOwners) correct(ctx context.Context, tx pgx.Tx, k key, now int64) error {
	var id []byte
	var first entry
	var expires int64
	err := tx.QueryRow(ctx, selectShared, []byte(k.provider), [][]byte{[]byte(k.id)}, now).Scan(&id, &first.tenant, &expires)
	if err != nil {
		return fmt.Errorf("reading the first owner of an id: %w", err)
	}
	first.expires = time.Unix(0, expires)
	o.memory.set(k, first)
	ctx, cancel := context.WithTimeout(ctx, engineTimeout)
	defer cancel()
	// The copy ends within the hour in any case.
	_, _ = o.config.Engine.Do(ctx, "SET", o.engineKey(k), first.tenant, "XX", "KEEPTTL")
	return nil
}

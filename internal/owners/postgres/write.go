package postgres

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"
	"go.uber.org/zap"

	"github.com/gatehouse-proxy/gatehouse/internal/owners"
	"github.com/gatehouse-proxy/gatehouse/internal/postgres"
)

// Schema has the owners that several gateways share. Providers and clients choose IDs, which need not
// be text.
var Schema = postgres.Schema{Name: "owners", Steps: []string{`
	CREATE TABLE owner (
		provider   bytea  NOT NULL,
		id         bytea  NOT NULL,
		kind       text   NOT NULL,
		tenant     text   NOT NULL,
		expires_at bigint NOT NULL, -- nanoseconds since 1970
		PRIMARY KEY (provider, id)
	);
	CREATE INDEX owner_expiry ON owner (expires_at)`}}

// tableName names the rows in the writer.
const tableName = "owners"

const (
	// upsertOwners does not change a valid row of another tenant. It returns the rows that it wrote.
	upsertOwners = `INSERT INTO owner (provider, id, kind, tenant, expires_at)
		SELECT * FROM unnest($1::bytea[], $2::bytea[], $3::text[], $4::text[], $5::bigint[])
		ON CONFLICT (provider, id) DO UPDATE SET kind = excluded.kind, tenant = excluded.tenant, expires_at = excluded.expires_at
		WHERE owner.tenant = excluded.tenant OR owner.expires_at <= $6
		RETURNING provider, id`
	selectValid = "SELECT id, kind, tenant, expires_at FROM owner WHERE provider = $1 AND id = ANY($2::bytea[]) AND expires_at > $3"
	// pruneExpired deletes twice the rows that were written, at most: so old rows leave with new ones.
	// Rows that another gateway deletes at the same time are left to it.
	pruneExpired = `DELETE FROM owner WHERE (provider, id) IN
		(SELECT provider, id FROM owner WHERE expires_at <= $1 ORDER BY expires_at LIMIT $2 FOR UPDATE SKIP LOCKED)`
)

// waiting is a row on its way to PostgreSQL.
type waiting struct {
	Provider []byte `json:"p"`
	ID       []byte `json:"id"`
	Kind     string `json:"k"`
	Tenant   string `json:"t"`
	At       int64  `json:"at"`  // nanoseconds since 1970
	Expires  int64  `json:"end"` // the same
}

func encode(r owners.Row) []byte {
	w := waiting{[]byte(r.Provider), []byte(r.ID), r.Kind, r.Tenant, r.At.UnixNano(), r.Expires.UnixNano()}
	text, _ := json.Marshal(w) // texts and numbers
	return text
}

// write writes rows that the writer has kept, in the order of their keys.
func (t *Table) write(ctx context.Context, tx pgx.Tx, encoded [][]byte) error {
	rows := t.decode(encoded)
	if len(rows) == 0 {
		return nil
	}
	oldest := slices.MinFunc(rows, func(a, b owners.Row) int { return a.At.Compare(b.At) }).At
	written, err := upsert(ctx, tx, rows, oldest)
	if err != nil {
		return err
	}
	for _, r := range rows {
		if !written[key{r.Provider, r.ID}] {
			if err := t.tell(ctx, tx, r, oldest); err != nil {
				return err
			}
		}
	}
	_, err = tx.Exec(ctx, pruneExpired, t.config.Now().UnixNano(), 2*len(rows))
	return err
}

type key struct{ provider, id string }

// upsert writes rows of different keys. It returns the keys that no other tenant has.
func upsert(ctx context.Context, tx pgx.Tx, rows []owners.Row, now time.Time) (written map[key]bool, err error) {
	var providers, ids [][]byte
	var kinds, tenants []string
	var expires []int64
	for _, r := range rows {
		providers, ids = append(providers, []byte(r.Provider)), append(ids, []byte(r.ID))
		kinds, tenants = append(kinds, r.Kind), append(tenants, r.Tenant)
		expires = append(expires, r.Expires.UnixNano())
	}
	answer, err := tx.Query(ctx, upsertOwners, providers, ids, kinds, tenants, expires, now.UnixNano())
	if err != nil {
		return nil, err
	}
	written = make(map[key]bool, len(rows))
	var provider, id []byte
	_, err = pgx.ForEachRow(answer, []any{&provider, &id}, func() error {
		written[key{string(provider), string(id)}] = true
		return nil
	})
	return written, err
}

// decode returns the rows in the order of their keys. Of several with the same key it keeps the first
// tenant's last. A row that is not valid is left out: it would stop all others.
func (t *Table) decode(encoded [][]byte) []owners.Row {
	rows := make([]owners.Row, 0, len(encoded))
	for _, text := range encoded {
		var w waiting
		if err := json.Unmarshal(text, &w); err != nil {
			t.config.Logger.Error("an owner is not valid, and lost", zap.Error(err))
			continue
		}
		rows = append(rows, owners.Row{
			Provider: string(w.Provider), ID: string(w.ID), Kind: w.Kind, Tenant: w.Tenant,
			At: time.Unix(0, w.At), Expires: time.Unix(0, w.Expires),
		})
	}
	slices.SortStableFunc(rows, compare)
	kept := rows[:0]
	for _, r := range rows {
		switch last := len(kept) - 1; {
		case last < 0 || compare(kept[last], r) != 0:
			kept = append(kept, r)
		case kept[last].Tenant == r.Tenant || !kept[last].Expires.After(r.At): // it goes on, ends, or has ended
			kept[last] = r
		}
	}
	return kept
}

func compare(a, b owners.Row) int {
	return cmp.Or(cmp.Compare(a.Provider, b.Provider), cmp.Compare(a.ID, b.ID))
}

// tell tells the follower and the engine of an earlier owner of r's ID that both had forgotten.
func (t *Table) tell(ctx context.Context, tx pgx.Tx, r owners.Row, now time.Time) error {
	first, err := read(ctx, tx, r.Provider, []string{r.ID}, now)
	if err != nil || len(first) == 0 {
		return fmt.Errorf("reading the first owner of an id: %w", cmp.Or(err, pgx.ErrNoRows))
	}
	t.correct(first[0])
	ctx, cancel := context.WithTimeout(ctx, engineTimeout)
	defer cancel()
	// The copy ends within the hour in any case.
	_, _ = t.config.Engine.Do(ctx, "SET", t.engineKey(r.Provider, r.ID), first[0].Tenant, "XX", "KEEPTTL")
	return nil
}

// copyRows is how many rows of a copy are written by one statement.
const copyRows = 1000

// Copy writes rows of different keys, and returns how many there are. An id that belongs to another
// tenant at that time stays with it.
func Copy(ctx context.Context, tx pgx.Tx, rows iter.Seq2[owners.Row, error], now time.Time) (copied int64, err error) {
	var some []owners.Row
	for r, err := range rows {
		if err != nil {
			return copied, err
		}
		if some = append(some, r); len(some) == copyRows {
			if _, err := upsert(ctx, tx, some, now); err != nil {
				return copied, err
			}
			copied, some = copied+copyRows, some[:0]
		}
	}
	_, err = upsert(ctx, tx, some, now)
	return copied + int64(len(some)), err
}

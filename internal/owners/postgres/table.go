// Package postgres keeps the owners of several gateways: in PostgreSQL, and those of the last hour in
// Valkey or Redis, since a row may be written late.
package postgres

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5"
	"go.uber.org/zap"

	"github.com/gatehouse-proxy/gatehouse/internal/owners"
	"github.com/gatehouse-proxy/gatehouse/internal/postgres"
	"github.com/gatehouse-proxy/gatehouse/internal/valkey"
)

const (
	// engineTTL is how long the engine knows an owner, in milliseconds: the rows of all gateways are in
	// PostgreSQL long before.
	engineTTL = time.Hour
	// engineTimeout bounds a message to the engine: a client waits for it.
	engineTimeout = 500 * time.Millisecond
	// writeTimeout bounds the writing of a row while the engine is away.
	writeTimeout = 500 * time.Millisecond
	// readTimeout bounds a look-up in PostgreSQL.
	readTimeout = 2 * time.Second
)

// Config is what a Table works with.
type Config struct {
	DB     *postgres.DB     // with Schema
	Writer *postgres.Writer // gets the rows; it has not started
	Engine *valkey.Client
	// Key returns the name of a key in the engine, with the tag of the cluster.
	Key    func(name string) string
	Now    func() time.Time
	Logger *zap.Logger
}

// Table implements [owners.Table]. The engine has
//
//	T o:HASH  string  the tenant; HASH is the SHA-256 of provider, NUL and id in base64url; 1 hour
type Table struct {
	config  Config
	correct func(owners.Row) // set by Follow
}

// New returns the table in PostgreSQL, and adds it to the writer.
func New(c Config) *Table {
	t := &Table{config: c}
	c.Writer.Add(postgres.Table{Name: tableName, Write: t.write, Kept: true})
	return t
}

// Follow implements [owners.Table].
func (t *Table) Follow(f func(owners.Row)) { t.correct = f }

// Put implements [owners.Table]. The other gateways know the owner when it returns: by one message to
// the engine; without its answer, the row is written at once. If both are away the error wraps
// postgres.ErrUnavailable: the others will know the owner when the row is written.
func (t *Table) Put(r owners.Row) (owners.Row, error) {
	if !r.Expires.After(r.At) {
		return r, t.end(r)
	}
	first, away := t.claimInEngine(r)
	if first != "" && first != r.Tenant {
		r.Tenant, r.Expires = first, r.At.Add(engineTTL)
		return r, nil
	}
	t.config.Writer.Append(tableName, encode(r))
	if away == nil {
		return r, nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), writeTimeout)
	defer cancel()
	err := t.config.Writer.Flush(ctx)
	var rows []owners.Row
	if err == nil {
		rows, err = read(ctx, t.config.DB.Pool(), r.Provider, []string{r.ID}, t.config.Now())
	}
	switch {
	case err != nil:
		return r, fmt.Errorf("the owner of %q at %q is only known to this gateway yet: %w", r.ID, r.Provider, errors.Join(away, postgres.Explain(err)))
	case len(rows) > 0:
		return rows[0], nil
	}
	return r, nil
}

// end writes a row that has expired before the engine forgets the owner: else the earlier row would be
// read again.
func (t *Table) end(r owners.Row) error {
	t.config.Writer.Append(tableName, encode(r))
	ctx, cancel := context.WithTimeout(context.Background(), writeTimeout)
	defer cancel()
	err := t.config.Writer.Flush(ctx)
	if err == nil {
		_, err = t.config.Engine.Do(ctx, "DEL", t.engineKey(r.Provider, r.ID))
	}
	return postgres.Explain(err)
}

// claimInEngine returns the tenant that owns r's ID, which is r's if nobody did.
func (t *Table) claimInEngine(r owners.Row) (first string, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), engineTimeout)
	defer cancel()
	life := strconv.FormatInt(engineTTL.Milliseconds(), 10)
	reply, err := t.config.Engine.Do(ctx, "SET", t.engineKey(r.Provider, r.ID), r.Tenant, "NX", "GET", "PX", life)
	switch {
	case err != nil:
		return "", err
	case reply.IsNil():
		return r.Tenant, nil
	}
	return reply.ToString()
}

func (t *Table) engineKey(provider, id string) string {
	sum := sha256.Sum256([]byte(provider + "\x00" + id))
	return t.config.Key("o:" + base64.RawURLEncoding.EncodeToString(sum[:]))
}

// Get implements [owners.Table]. While the engine is away, an owner that another gateway has recorded
// in the last moment may be missing.
func (t *Table) Get(ctx context.Context, provider string, ids []string) ([]owners.Row, error) {
	found, unknown, away := t.findInEngine(ctx, provider, ids)
	if len(unknown) == 0 {
		return found, nil
	}
	ctx, cancel := context.WithTimeout(ctx, readTimeout)
	defer cancel()
	if away != nil { // own rows may wait of which the engine does not know
		if err := t.config.Writer.Flush(ctx); err != nil {
			return nil, postgres.Explain(err)
		}
	}
	rows, err := read(ctx, t.config.DB.Pool(), provider, unknown, t.config.Now())
	return append(found, rows...), postgres.Explain(err)
}

// findInEngine returns the rows that the engine knows, without their kinds, and the other ids.
func (t *Table) findInEngine(ctx context.Context, provider string, ids []string) (found []owners.Row, unknown []string, err error) {
	ctx, cancel := context.WithTimeout(ctx, engineTimeout)
	defer cancel()
	keys := make([]string, len(ids))
	for i, id := range ids {
		keys[i] = t.engineKey(provider, id)
	}
	reply, err := t.config.Engine.Do(ctx, "MGET", keys[0], keys[1:]...)
	if err != nil {
		return nil, ids, err
	}
	values, err := reply.ToArray()
	if err != nil || len(values) != len(ids) {
		return nil, ids, errors.Join(err, valkey.ErrUnavailable)
	}
	expires := t.config.Now().Add(engineTTL) // the row says when it really does
	for i, id := range ids {
		tenant, err := values[i].ToString()
		if err != nil { // nil: it is not known
			unknown = append(unknown, id)
			continue
		}
		found = append(found, owners.Row{Provider: provider, ID: id, Tenant: tenant, Expires: expires})
	}
	return found, unknown, nil
}

// querier is a connection or a transaction.
type querier interface {
	Query(ctx context.Context, query string, args ...any) (pgx.Rows, error)
}

// read returns the rows of PostgreSQL that are valid.
func read(ctx context.Context, q querier, provider string, ids []string, now time.Time) ([]owners.Row, error) {
	wanted := make([][]byte, len(ids))
	for i, id := range ids {
		wanted[i] = []byte(id)
	}
	rows, err := q.Query(ctx, selectValid, []byte(provider), wanted, now.UnixNano())
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, func(row pgx.CollectableRow) (owners.Row, error) {
		var id []byte
		var expires int64
		r := owners.Row{Provider: provider}
		err := row.Scan(&id, &r.Kind, &r.Tenant, &expires)
		r.ID, r.Expires = string(id), time.Unix(0, expires)
		return r, err
	})
}

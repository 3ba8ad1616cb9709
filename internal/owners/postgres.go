package owners

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

// PostgresConfig is what PostgresOwners work with.
type PostgresConfig struct {
	DB     *postgres.DB     // with PostgresSchema
	Writer *postgres.Writer // gets a table of PostgresOwners
	Engine *valkey.Client
	// Key returns the name of a key in the engine, with the tag of the cluster.
	Key    func(name string) string
	Now    func() time.Time
	Logger *zap.Logger
}

// PostgresOwners are the Owners of several gateways. It is safe for concurrent use. The book is in
// PostgreSQL. A row may be written late, so the engine knows the owners of the last hour:
//
//	T o:HASH  string  the tenant; HASH is the SHA-256 of provider, NUL and id in base64url; 1 hour
type PostgresOwners struct {
	config PostgresConfig
	memory memory
}

// NewPostgresOwners returns the owners in PostgreSQL, and adds their table to the writer, which has
// not started.
func NewPostgresOwners(c PostgresConfig) *PostgresOwners {
	o := &PostgresOwners{config: c}
	c.Writer.Add(postgres.Table{Name: tableName, Write: o.write, Kept: true})
	return o
}

// Record implements Owners. The other gateways know the owner when it returns: by one message to the
// engine; without an answer of that, the row is written at once. If both are away the error wraps
// postgres.ErrUnavailable: this gateway knows the owner, and the others will when the row is written.
func (o *PostgresOwners) Record(kind, provider, id, tenant string) error {
	now := o.config.Now()
	k, e := key{provider, id}, entry{tenant, now.Add(TTL)}
	if err := o.memory.claim(k, e, now); err != nil {
		return err
	}
	first, away := o.claimInEngine(k, tenant)
	if first != "" && first != tenant {
		o.memory.set(k, entry{first, now.Add(engineTTL)})
		return fmt.Errorf("%q at %q: %w", id, provider, ErrOwned)
	}
	o.config.Writer.Append(tableName, encode(row{Provider: []byte(provider), ID: []byte(id), Kind: kind, Tenant: tenant, At: now.UnixNano(), Expires: e.expires.UnixNano()}))
	if away == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), writeTimeout)
	defer cancel()
	err := o.config.Writer.Flush(ctx) // it corrects memory
	if err != nil {
		return fmt.Errorf("the owner of %q at %q is only known to this gateway yet: %w", id, provider, errors.Join(away, postgres.Explain(err)))
	}
	if known, _ := o.memory.get(k); known.tenant != tenant {
		return fmt.Errorf("%q at %q: %w", id, provider, ErrOwned)
	}
	return nil
}

// claimInEngine returns the tenant that owns k, which is this one if nobody did.
func (o *PostgresOwners) claimInEngine(k key, tenant string) (first string, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), engineTimeout)
	defer cancel()
	reply, err := o.config.Engine.Do(ctx, "SET", o.engineKey(k), tenant, "NX", "GET", "PX", strconv.FormatInt(engineTTL.Milliseconds(), 10))
	switch {
	case err != nil:
		return "", err
	case reply.IsNil():
		return tenant, nil
	}
	return reply.ToString()
}

func (o *PostgresOwners) engineKey(k key) string {
	sum := sha256.Sum256([]byte(k.provider + "\x00" + k.id))
	return o.config.Key("o:" + base64.RawURLEncoding.EncodeToString(sum[:]))
}

// Owner implements Owners. While the engine is away, an owner that another gateway has recorded in the
// last moment may be missing.
func (o *PostgresOwners) Owner(ctx context.Context, provider, id string) (tenant string, ok bool, err error) {
	found, err := o.Find(ctx, provider, []string{id})
	tenant, ok = found[id]
	return tenant, ok, err
}

// Find implements Owners.
func (o *PostgresOwners) Find(ctx context.Context, provider string, ids []string) (map[string]string, error) {
	found := make(map[string]string, len(ids))
	var unknown []string
	now := o.config.Now()
	for _, id := range ids {
		if id == "" || len(id) > MaxID {
			continue
		}
		if e, ok := o.memory.get(key{provider, id}); ok && e.expires.After(now) {
			found[id] = e.tenant
		} else {
			unknown = append(unknown, id)
		}
	}
	if len(unknown) == 0 {
		return found, nil
	}
	unknown, away := o.findInEngine(ctx, provider, unknown, found)
	if len(unknown) == 0 {
		return found, nil
	}
	if err := o.findInTable(ctx, provider, unknown, found, away != nil); err != nil {
		return nil, fmt.Errorf("looking up owners at %q: %w", provider, err)
	}
	return found, nil
}

// findInEngine adds the owners that the engine knows, and returns the other ids.
func (o *PostgresOwners) findInEngine(ctx context.Context, provider string, ids []string, found map[string]string) (unknown []string, err error) {
	ctx, cancel := context.WithTimeout(ctx, engineTimeout)
	defer cancel()
	keys := make([]string, len(ids))
	for i, id := range ids {
		keys[i] = o.engineKey(key{provider, id})
	}
	reply, err := o.config.Engine.Do(ctx, "MGET", keys[0], keys[1:]...)
	if err != nil {
		return ids, err
	}
	values, err := reply.ToArray()
	if err != nil || len(values) != len(ids) {
		return ids, errors.Join(err, valkey.ErrUnavailable)
	}
	expires := o.config.Now().Add(engineTTL) // the row says when it really does
	for i, id := range ids {
		tenant, err := values[i].ToString()
		if err != nil { // nil: it is not known
			unknown = append(unknown, id)
			continue
		}
		found[id] = o.memory.renew(key{provider, id}, entry{tenant, expires}, o.config.Now()).tenant
	}
	return unknown, nil
}

// findInTable adds the owners that PostgreSQL knows. Own rows that wait are written first if the engine
// does not know them.
func (o *PostgresOwners) findInTable(ctx context.Context, provider string, ids []string, found map[string]string, flush bool) error {
	ctx, cancel := context.WithTimeout(ctx, readTimeout)
	defer cancel()
	if flush {
		if err := o.config.Writer.Flush(ctx); err != nil {
			return postgres.Explain(err)
		}
	}
	wanted := make([][]byte, len(ids))
	for i, id := range ids {
		wanted[i] = []byte(id)
	}
	now := o.config.Now()
	rows, err := o.config.DB.Pool().Query(ctx, selectShared, []byte(provider), wanted, now.UnixNano())
	if err != nil {
		return postgres.Explain(err)
	}
	defer rows.Close()
	var id []byte
	var tenant string
	var expires int64
	_, err = pgx.ForEachRow(rows, []any{&id, &tenant, &expires}, func() error {
		found[string(id)] = o.memory.renew(key{provider, string(id)}, entry{tenant, time.Unix(0, expires)}, now).tenant
		return nil
	})
	return postgres.Explain(err)
}

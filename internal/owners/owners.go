// Package owners knows which tenant owns an ID at a provider account shared by several tenants: a
// stored response, a conversation, a file.
//
//	o := owners.New(st, time.Now)
//	err := o.Record("response", "openai", "resp_123", tenant)      // before the ID reaches the client
//	tenant, ok, err := o.Owner(ctx, "openai", "resp_123")
//
// The first tenant that is given an ID keeps it until it expires. A record is valid at once, and on
// disk with the store's next commit. Memory holds the newest. Older ones, and all after a restart,
// are read from the database when needed.
package owners

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/store"
)

const (
	// TTL is how long an owner is kept: as long as OpenAI keeps a stored response.
	TTL = 30 * 24 * time.Hour
	// MaxID bounds an ID, in bytes. A provider (Record) or a client (Owner) has sized it.
	MaxID = 512
)

var (
	// ErrTooLong is returned by Record for an ID longer than MaxID bytes: it has no owner.
	ErrTooLong = errors.New("id too long to record its owner")
	// ErrOwned is returned by Record for an ID that belongs to another tenant.
	ErrOwned = errors.New("id is owned by another tenant")
)

// Schema has the table of this package, for store.Options.
var Schema = store.Schema{
	Name: "owners",
	Steps: []string{`
		CREATE TABLE owners (
			provider   TEXT    NOT NULL,
			id         TEXT    NOT NULL,
			kind       TEXT    NOT NULL,
			tenant     TEXT    NOT NULL,
			expires_at INTEGER NOT NULL, -- nanoseconds since 1970
			PRIMARY KEY (provider, id)
		) WITHOUT ROWID;
		CREATE INDEX owners_expiry ON owners (expires_at);`,
		// The index was nearly half of what an owner cost. Pruning does without it.
		`DROP INDEX owners_expiry;`,
	},
}

type key struct{ provider, id string }

type entry struct {
	tenant  string
	expires time.Time
}

// Owners says which tenant owns an ID. It is safe for concurrent use. [SQLiteOwners] keeps them on this
// machine's disk, [PostgresOwners] where several gateways know them.
type Owners interface {
	// Record makes tenant the owner of id at provider for TTL from now. kind ("response", "file") is
	// kept for the operator. Owner knows it when Record returns. Besides ErrOwned and ErrTooLong it
	// returns the errors of what keeps owners. It takes at most a second.
	Record(kind, provider, id, tenant string) error
	// Owner returns the tenant that owns id at provider. ok is false for an ID that was never recorded
	// or has expired. An error means that the owner is not known.
	Owner(ctx context.Context, provider, id string) (tenant string, ok bool, err error)
	// Find returns the owners of those ids at provider that have one. An error means that they are not
	// known.
	Find(ctx context.Context, provider string, ids []string) (map[string]string, error)
}

// SQLiteOwners is safe for concurrent use.
type SQLiteOwners struct {
	store  *store.Store
	now    func() time.Time
	memory memory
}

// New returns the owners kept in st, which was opened with Schema.
func New(st *store.Store, now func() time.Time) *SQLiteOwners {
	return &SQLiteOwners{store: st, now: now}
}

// Record implements Owners. A kill -9 within the store's commit interval may lose the owner. After an
// error of the store it is known until the restart.
func (o *SQLiteOwners) Record(kind, provider, id, tenant string) error {
	k, e, now := key{provider, id}, entry{tenant, o.now().Add(TTL)}, o.now()
	if err := o.memory.claim(k, e, now); err != nil {
		return err
	}
	if err := o.store.Submit(&claim{owners: o, kind: kind, key: k, entry: e, at: now}); err != nil {
		return fmt.Errorf("keeping the owner of %q: %w", id, err)
	}
	return nil
}

// Owner implements Owners.
func (o *SQLiteOwners) Owner(ctx context.Context, provider, id string) (tenant string, ok bool, err error) {
	if id == "" || len(id) > MaxID {
		return "", false, nil
	}
	k := key{provider, id}
	e, known := o.memory.get(k)
	if !known {
		if e, known, err = o.load(ctx, k); err != nil {
			return "", false, fmt.Errorf("looking up the owner of an id at %q: %w", provider, err)
		}
	}
	if !known || !e.expires.After(o.now()) {
		return "", false, nil
	}
	return e.tenant, true, nil
}

// Find implements Owners.
func (o *SQLiteOwners) Find(ctx context.Context, provider string, ids []string) (map[string]string, error) {
	found := make(map[string]string, len(ids))
	now, flushed := o.now(), false
	for _, id := range ids {
		k := key{provider, id}
		e, known := o.memory.get(k)
		if !known {
			var err error
			if !flushed {
				err = o.store.Flush(ctx)
				flushed = true
			}
			if err == nil {
				e, known, err = o.read(ctx, k)
			}
			if err != nil {
				return nil, fmt.Errorf("looking up owners at %q: %w", provider, err)
			}
		}
		if known && e.expires.After(now) {
			found[id] = e.tenant
		}
	}
	return found, nil
}

// load reads the database, after a flush: a burst may remove an entry from memory before it is
// committed.
func (o *SQLiteOwners) load(ctx context.Context, k key) (entry, bool, error) {
	if err := o.store.Flush(ctx); err != nil {
		return entry{}, false, err
	}
	return o.read(ctx, k)
}

// read reads the database.
func (o *SQLiteOwners) read(ctx context.Context, k key) (entry, bool, error) {
	var e entry
	var expires int64
	err := o.store.Reader().QueryRowContext(ctx, selectOwner, k.provider, k.id).Scan(&e.tenant, &expires)
	if errors.Is(err, sql.ErrNoRows) {
		return entry{}, false, nil
	}
	if err != nil {
		return entry{}, false, err
	}
	e.expires = time.Unix(0, expires)
	return o.memory.add(k, e), true, nil
}

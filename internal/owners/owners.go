// Package owners knows which tenant owns an ID at a provider account shared by several tenants: a
// stored response, a conversation, a file.
//
//	o := owners.New(table, time.Now)                               // of owners/sqlite or owners/postgres
//	err := o.Record("response", "openai", "resp_123", tenant)      // before the ID reaches the client
//	tenant, ok, err := o.Owner(ctx, "response", "openai", "resp_123")
//
// The first tenant that is given an ID keeps it until it expires. A record is valid at once; the table
// says when it is durable. Memory holds the newest. Older ones, and all after a restart, are read from
// the table when needed.
package owners

import (
	"context"
	"errors"
	"fmt"
	"time"
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

// Row is the owner of one ID.
type Row struct {
	Provider, ID string
	Kind         string // "" if the table does not know it yet
	Tenant       string
	At           time.Time // when it was recorded
	Expires      time.Time
}

// Table keeps rows on disk. A valid row keeps its tenant until it expires. It is safe for concurrent
// use.
type Table interface {
	// Put writes a row, perhaps after it has returned. It returns the valid row as far as that is
	// known: an earlier one of another tenant, or r. It takes at most a second. A row that has expired
	// at once ends an earlier one of the tenant.
	Put(r Row) (valid Row, err error)
	// Get returns the rows of those ids at provider that have one, perhaps some that have expired. An
	// error means that they are not known.
	Get(ctx context.Context, provider string, ids []string) ([]Row, error)
	// Follow calls f when writing a row has found an earlier one of another tenant, after Put. It is
	// called once, before Put.
	Follow(f func(valid Row))
}

// Owners says which tenant owns an ID. It is safe for concurrent use.
type Owners struct {
	table  Table
	now    func() time.Time
	memory memory
}

// New returns the owners in a table.
func New(table Table, now func() time.Time) *Owners {
	o := &Owners{table: table, now: now}
	table.Follow(o.memory.set)
	return o
}

// Record makes tenant the owner of id at provider for TTL from now, as of a kind ("response", "file").
// Owner knows it when Record returns. Besides ErrOwned and ErrTooLong it returns the
// errors of the table; then this gateway knows the owner until its restart.
func (o *Owners) Record(kind, provider, id, tenant string) error {
	return o.put(kind, provider, id, tenant, TTL)
}

// Keep is Record for a time that [Owners.Hold] prolongs.
func (o *Owners) Keep(kind, provider, id, tenant string, ttl time.Duration) error {
	return o.put(kind, provider, id, tenant, ttl)
}

// Hold reports whether tenant owns id at provider. If so it does for ttl from now, or for a tenth less:
// not every use is written. An error means that the owner is not known.
func (o *Owners) Hold(ctx context.Context, kind, provider, id, tenant string, ttl time.Duration) (bool, error) {
	found, err := o.find(ctx, kind, provider, []string{id})
	e, ok := found[id]
	if err != nil || !ok || e.tenant != tenant {
		return false, err
	}
	if e.expires.Sub(o.now()) < ttl-ttl/10 {
		_ = o.put(kind, provider, id, tenant, ttl) // without it the tenant still owns the id now
	}
	return true, nil
}

// Forget ends what Record began, with the same errors: the provider has deleted what had the id. In a
// cluster other gateways may know the owner for some time.
func (o *Owners) Forget(kind, provider, id, tenant string) error {
	return o.put(kind, provider, id, tenant, 0)
}

func (o *Owners) put(kind, provider, id, tenant string, ttl time.Duration) error {
	now := o.now()
	r := Row{Provider: provider, ID: id, Kind: kind, Tenant: tenant, At: now, Expires: now.Add(ttl)}
	if err := o.memory.claim(r); err != nil {
		return err
	}
	valid, err := o.table.Put(r)
	if err != nil {
		return err
	}
	if valid.Tenant != tenant {
		o.memory.set(valid)
		return fmt.Errorf("%q at %q: %w", id, provider, ErrOwned)
	}
	return nil
}

// Owner returns the tenant that owns id at provider. ok is false for an ID that was never recorded, was
// recorded as of another kind, or has expired. An error means that the owner is not known.
func (o *Owners) Owner(ctx context.Context, kind, provider, id string) (tenant string, ok bool, err error) {
	found, err := o.Find(ctx, kind, provider, []string{id})
	tenant, ok = found[id]
	return tenant, ok, err
}

// Find returns the owners of those ids of a kind at provider that have one. An error means that they are not
// known.
func (o *Owners) Find(ctx context.Context, kind, provider string, ids []string) (map[string]string, error) {
	entries, err := o.find(ctx, kind, provider, ids)
	if err != nil {
		return nil, err
	}
	found := make(map[string]string, len(entries))
	for id, e := range entries {
		found[id] = e.tenant
	}
	return found, nil
}

// Where returns the one of providers at which tenant owns id, of that kind, "" if it owns it at none. If there are
// several, which are servers that count their ids, it is the one where the id is newest. Memory is
// looked at first: most ids are asked for soon.
func (o *Owners) Where(ctx context.Context, kind, id, tenant string, providers []string) (provider string, err error) {
	newest := o.now()
	consider := func(at string, e entry) {
		if e.is(kind) && e.tenant == tenant && e.expires.After(newest) {
			provider, newest = at, e.expires
		}
	}
	for _, at := range providers {
		e, _ := o.memory.get(key{at, id})
		consider(at, e)
	}
	if provider != "" {
		return provider, nil
	}
	for _, at := range providers {
		found, err := o.find(ctx, kind, at, []string{id})
		if err != nil {
			return "", err
		}
		consider(at, found[id])
	}
	return provider, nil
}

func (o *Owners) find(ctx context.Context, kind, provider string, ids []string) (map[string]entry, error) {
	found := make(map[string]entry, len(ids))
	var unknown []string
	now := o.now()
	for _, id := range ids {
		if id == "" || len(id) > MaxID {
			continue
		}
		if e, ok := o.memory.get(key{provider, id}); ok && e.expires.After(now) {
			if e.is(kind) {
				found[id] = e
			}
		} else {
			unknown = append(unknown, id)
		}
	}
	if len(unknown) == 0 {
		return found, nil
	}
	rows, err := o.table.Get(ctx, provider, unknown)
	if err != nil {
		return nil, fmt.Errorf("looking up owners at %q: %w", provider, err)
	}
	for _, r := range rows {
		if r.Expires.After(now) {
			if e := o.memory.add(r, now); e.is(kind) {
				found[r.ID] = e
			}
		}
	}
	return found, nil
}

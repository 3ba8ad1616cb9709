package runtimekeys

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"slices"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/keys"
	"github.com/gatehouse-proxy/gatehouse/internal/postgres"
)

const (
	// changeTimeout bounds how long a change waits for the one before it, and for the table.
	changeTimeout = 5 * time.Second
	// repeatedWithin is how long an Idempotency-Key is remembered, as long as its key exists.
	repeatedWithin = 24 * time.Hour
	// maxSecrets bounds the secrets of a key that are good at the same time.
	maxSecrets = 8
	// MaxGrace bounds how long a replaced secret stays good.
	MaxGrace = 30 * 24 * time.Hour
)

// Create makes a key for a tenant. It returns the secret, which is kept nowhere. Idempotency is the
// request's Idempotency-Key, "" without. Errors: 400, 403 (too many keys), 503 (nothing was made).
func (s *Keys) Create(ctx context.Context, b *Block, tenant string, e *Edit, idempotency string) (key *Key, secret string, err error) {
	err = s.change(ctx, func() (before, after *Key, err error) {
		now := s.now().UTC().Truncate(time.Millisecond)
		r := Record{Tenant: tenant, Created: now, MadeWith: requestSum(tenant, idempotency)}
		r.Owner = e.Owner
		if err := e.apply(b, &r.Settings); err != nil {
			return nil, nil, err
		}
		if r.Name == "" {
			return nil, nil, apierror.New(apierror.MissingParameter, "name: the key needs a name").WithParam("name")
		}
		if int(s.count.Load()) >= b.Max {
			return nil, nil, apierror.New(apierror.KeysExceeded, "the gateway has %d keys made at run time, which is its limit; delete one first", b.Max)
		}
		if first := s.madeWith(r.MadeWith, now); first != nil {
			return nil, nil, invalid(IdempotencyHeader, "this Idempotency-Key has made the key with the hash %s already; its secret is shown only once", first.Hash())
		}
		sum, err := s.newSecret(&r, &secret)
		if err != nil {
			return nil, nil, err
		}
		s.mu.Lock()
		r.ID, r.Seq, r.Tenant = sum, s.next, s.tenant(tenant)
		s.next++
		s.mu.Unlock()
		key = &Key{Record: r}
		return nil, key, nil
	})
	if err != nil {
		return nil, "", err
	}
	return key, secret, nil
}

// IdempotencyHeader names a create, so that a repeat of it makes no second key.
const IdempotencyHeader = "Idempotency-Key"

// requestSum is what is kept of an Idempotency-Key. Tenants choose theirs independently.
func requestSum(tenant, idempotency string) string {
	if idempotency == "" {
		return ""
	}
	sum := sha256.Sum256([]byte(tenant + "\x00" + idempotency))
	return hex.EncodeToString(sum[:])
}

// madeWith returns the key that a request has made, nil if there is none. Keys are in the order of
// their making, so it looks only at the new ones.
func (s *Keys) madeWith(request string, now time.Time) *Key {
	if request == "" {
		return nil
	}
	s.mu.RLock()
	defer s.mu.RUnlock()
	for _, key := range slices.Backward(s.ordered) {
		if now.Sub(key.Created) > repeatedWithin {
			return nil
		}
		if key.MadeWith == request {
			return key
		}
	}
	return nil
}

// newSecret adds a new secret to a record.
func (s *Keys) newSecret(r *Record, secret *string) (Sum, error) {
	text, err := keys.NewSecret(s.random)
	if err != nil {
		return Sum{}, err
	}
	*secret = text
	sum, _ := keys.Sum(text)
	r.Label = text[:6] + "..." + text[len(text)-3:]
	r.Secrets = append([]Secret{{Sum: sum}}, r.Secrets...)
	return sum, nil
}

// Update changes settings of a key. Errors: 400, 404, 503 (nothing was changed).
func (s *Keys) Update(ctx context.Context, b *Block, of keys.Tenants, hash string, e *Edit) (*Key, error) {
	if len(e.changes) == 0 {
		return s.Get(of, hash)
	}
	return s.edit(ctx, of, hash, func(r *Record) error { return e.apply(b, &r.Settings) })
}

// Rotate gives a key another secret and returns it. The ones before it stay good for grace, or as
// long as they were. The key is by's then, who gets the secret; nil changes nothing of that.
// Errors: 400, 404, 503 (nothing was changed).
func (s *Keys) Rotate(ctx context.Context, of keys.Tenants, hash string, by *Owner, grace time.Duration) (key *Key, secret string, err error) {
	key, err = s.edit(ctx, of, hash, func(r *Record) error {
		now := s.now()
		var kept []Secret
		for _, old := range r.Secrets {
			if end := now.Add(grace); old.Until.IsZero() || end.Before(old.Until) {
				old.Until = end
			}
			if now.Before(old.Until) {
				kept = append(kept, old)
			}
		}
		if len(kept) >= maxSecrets {
			return invalid("grace", "the key has %d replaced secrets that are still good; rotate it with a grace of 0, or later", len(kept))
		}
		r.Secrets, r.Owner = kept, cmp.Or(by, r.Owner)
		_, err := s.newSecret(r, &secret)
		return err
	})
	return key, secret, err
}

// edit makes another version of a key.
func (s *Keys) edit(ctx context.Context, of keys.Tenants, hash string, edit func(*Record) error) (key *Key, err error) {
	err = s.change(ctx, func() (before, after *Key, err error) {
		if before, err = s.Get(of, hash); err != nil {
			return nil, nil, err
		}
		key = &Key{Record: before.Record}
		key.Updated = s.now().UTC().Truncate(time.Millisecond)
		return before, key, edit(&key.Record)
	})
	return key, err
}

// Delete deletes a key. What it has spent stays in the ledger and in the activity. Errors: 404, 503
// (nothing was changed).
func (s *Keys) Delete(ctx context.Context, of keys.Tenants, hash string) (deleted *Key, err error) {
	err = s.change(ctx, func() (before, after *Key, err error) {
		deleted, err = s.Get(of, hash)
		return deleted, nil, err
	})
	return deleted, err
}

// change makes a version the valid one, first in the table, when no other change is made. A client
// that leaves does not interrupt it.
func (s *Keys) change(ctx context.Context, judge func() (before, after *Key, err error)) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), changeTimeout)
	defer cancel()
	select {
	case s.turn <- struct{}{}:
	case <-ctx.Done():
		return unavailable(ctx.Err())
	}
	defer func() { <-s.turn }()
	var before, after *Key
	var refused error
	err := s.table.Change(ctx, func() (*Record, *Record, error) {
		before, after, refused = judge()
		return record(before), record(after), refused
	})
	switch {
	case refused != nil:
		return refused
	case err != nil:
		return unavailable(err)
	}
	if _, shared := s.table.(*PostgresTable); !shared { // that one has applied it
		s.mu.Lock()
		defer s.mu.Unlock()
		s.replace(before, after)
	}
	return nil
}

func record(k *Key) *Record {
	if k == nil {
		return nil
	}
	return &k.Record
}

func unavailable(cause error) error {
	if errors.Is(cause, postgres.ErrUncertain) {
		return apierror.New(apierror.StorageUnavailable, "the database did not say whether the change was made; look at the keys before you repeat it").WithCause(cause)
	}
	return apierror.New(apierror.StorageUnavailable, "the keys cannot be changed now; nothing was changed").WithCause(cause)
}

func invalid(param, format string, args ...any) error {
	return apierror.New(apierror.InvalidValue, param+": "+format, args...).WithParam(param)
}

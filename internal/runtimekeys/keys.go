package runtimekeys

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/keys"
)

// Keys are all keys of a gateway that were made at run time.
type Keys struct {
	now    func() time.Time
	random io.Reader

	bySecret, byID index
	count          atomic.Int64

	turn  chan struct{} // capacity 1: one change at a time, from its check to its end
	table Table         // set by Open

	mu      sync.RWMutex // guards the following
	ordered []*Key       // by Seq
	tenants map[string]string
	next    int64 // the next Seq
}

// Table keeps keys. There is one for a database on this machine; the interface also fits one that
// several gateways share.
type Table interface {
	// Load yields every key, in the order of Seq.
	Load(ctx context.Context, yield func(Record) error) error
	// Change replaces one record by another and returns when that survives a kill of the process.
	// Before is nil for a new key, after is nil for one that is deleted. After an error nothing has
	// changed, or will have changed as soon as the table can be written.
	Change(ctx context.Context, before, after *Record) error
}

// New returns no keys. Random is crypto/rand.Reader outside tests.
func New(now func() time.Time, random io.Reader) *Keys {
	return &Keys{now: now, random: random, turn: make(chan struct{}, 1), tenants: map[string]string{}, next: 1}
}

// Open reads the keys of a table. It is called once, before other goroutines use the keys.
func (s *Keys) Open(ctx context.Context, table Table) error {
	var secrets, ids []indexEntry
	s.ordered = nil // of an Open that failed
	err := table.Load(ctx, func(r Record) error {
		r.Tenant = s.tenant(r.Tenant)
		key := &Key{Record: r}
		for _, secret := range r.Secrets {
			secrets = append(secrets, indexEntry{secret.Sum, key})
		}
		ids = append(ids, indexEntry{r.ID, key})
		s.ordered = append(s.ordered, key)
		s.next = max(s.next, r.Seq+1)
		return nil
	})
	if err != nil {
		return fmt.Errorf("reading the keys made at run time: %w", err)
	}
	s.bySecret.fill(secrets)
	s.byID.fill(ids)
	s.count.Store(int64(len(s.ordered)))
	s.table = table
	return nil
}

// tenant returns the one copy of a tenant's name. It must be called with mu held, or by Open.
func (s *Keys) tenant(name string) string {
	if kept, ok := s.tenants[name]; ok {
		return kept
	}
	s.tenants[name] = name
	return name
}

// find returns the key with this hash, nil if there is none.
func (s *Keys) find(hash string) *Key {
	id, ok := keys.ParseSum(hash)
	if !ok {
		return nil
	}
	return s.byID.get(id)
}

// Get returns the key with this hash, if it belongs to one of the tenants. The error is a 404.
func (s *Keys) Get(of keys.Tenants, hash string) (*Key, error) {
	if key := s.find(hash); key != nil && of.Has(key.Tenant) {
		return key, nil
	}
	return nil, apierror.New(apierror.NotFound, "there is no key with this hash that was made at run time")
}

// MinPrefix is the shortest beginning of a hash that Match takes, in hex digits.
const MinPrefix = 4

// Match returns the hash of the one key of the tenants whose hash begins with a text. The error is a 404
// without such a key, a 400 with several.
func (s *Keys) Match(of keys.Tenants, beginning string) (hash string, err error) {
	if len(beginning) < MinPrefix {
		return "", invalid("hash", "want at least %d hex digits", MinPrefix)
	}
	s.mu.RLock()
	defer s.mu.RUnlock()
	for _, key := range s.ordered {
		if !of.Has(key.Tenant) || !strings.HasPrefix(key.Hash(), beginning) {
			continue
		}
		if hash != "" {
			return "", invalid("hash", "several keys begin with %q; give more of it", beginning)
		}
		hash = key.Hash()
	}
	if hash == "" {
		_, err = s.Get(of, beginning)
	}
	return hash, err
}

// Query selects keys of a list.
type Query struct {
	Disabled bool // disabled ones, too
	Offset   int
}

// PageSize is the most keys of one answer, as at OpenRouter.
const PageSize = 100

// List returns one page of the keys of some tenants, newest first.
func (s *Keys) List(of keys.Tenants, q Query) []*Key {
	s.mu.RLock()
	defer s.mu.RUnlock()
	var page []*Key
	skip := q.Offset
	for _, key := range slices.Backward(s.ordered) {
		switch {
		case !of.Has(key.Tenant) || key.Disabled && !q.Disabled:
		case skip > 0:
			skip--
		case len(page) == PageSize:
			return page
		default:
			page = append(page, key)
		}
	}
	return page
}

// replace makes a version the valid one, after the table has it. Either is nil: the key is new, or
// deleted. It must be called in turn.
func (s *Keys) replace(before, after *Key) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if before != nil && after != nil {
		s.ordered[s.position(before.Seq)] = after
	}
	if before != nil {
		for _, secret := range before.Secrets {
			if after == nil || !after.has(secret.Sum) {
				s.bySecret.remove(secret.Sum)
			}
		}
	}
	if after == nil {
		at := s.position(before.Seq)
		s.ordered = slices.Delete(s.ordered, at, at+1)
		s.byID.remove(before.ID)
		s.count.Add(-1)
		return
	}
	if before == nil {
		s.ordered = append(s.ordered, after)
		s.count.Add(1)
	}
	for _, secret := range after.Secrets {
		s.bySecret.put(secret.Sum, after)
	}
	s.byID.put(after.ID, after)
}

func (s *Keys) position(seq int64) int {
	at, _ := slices.BinarySearchFunc(s.ordered, seq, func(k *Key, seq int64) int { return cmp.Compare(k.Seq, seq) })
	return at
}

func (r *Record) has(sum Sum) bool {
	return slices.ContainsFunc(r.Secrets, func(s Secret) bool { return s.Sum == sum })
}

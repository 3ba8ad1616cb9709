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
	known   int64 // of a shared table: all changes up to this number are applied
}

// Table keeps keys. [SQLiteTable] is that of one gateway, [PostgresTable] one that several share.
type Table interface {
	// Load yields every key, in the order of Seq.
	Load(ctx context.Context, yield func(Record) error) error
	// Change asks judge which record replaces which, and returns when that survives a kill of the
	// process. Before is nil for a new key, after is nil for one that is deleted. Until Change returns
	// nobody else changes a key, and judge sees the changes of all. After an error nothing has changed;
	// with postgres.ErrUncertain, that is not known.
	Change(ctx context.Context, judge Judge) error
}

// Judge decides a change. Its error is that of Table.Change, and nothing is changed.
type Judge func() (before, after *Record, err error)

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
	if shared, ok := table.(*PostgresTable); ok {
		s.known = shared.follow(s)
	}
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
	// Search is a part of the name, in any case, or the beginning of the hash; "" is all.
	Search string
}

// finds reports whether the search is for a key.
func (q *Query) finds(key *Key) bool {
	return q.Search == "" || strings.HasPrefix(key.Hash(), strings.ToLower(q.Search)) ||
		strings.Contains(strings.ToLower(key.Name), strings.ToLower(q.Search))
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
		case !of.Has(key.Tenant) || key.Disabled && !q.Disabled || !q.finds(key):
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

// Owned returns the keys that people have made.
func Owned(s *Keys) (all []*Key) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	for _, key := range s.ordered {
		if key.Owner != nil {
			all = append(all, key)
		}
	}
	return all
}

// replace makes a version the valid one, after the table has it. Either is nil: the key is new, or
// deleted. It must be called with mu held.
func (s *Keys) replace(before, after *Key) {
	if before != nil {
		for _, secret := range before.Secrets {
			if after == nil || !after.has(secret.Sum) {
				s.bySecret.remove(secret.Sum)
			}
		}
	}
	switch at := s.position(cmp.Or(before, after).Seq); {
	case after == nil:
		s.ordered = slices.Delete(s.ordered, at, at+1)
		s.byID.remove(before.ID)
		s.count.Add(-1)
		return
	case before == nil:
		s.ordered = slices.Insert(s.ordered, at, after)
		s.count.Add(1)
	default:
		s.ordered[at] = after
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

// apply makes the versions of a shared table the valid ones. It may be called at the same time with
// batches that overlap: what an earlier one has told is skipped, so an older version never replaces a
// newer one, and a deleted key does not come back.
func (s *Keys) apply(b batch) (outcomes []outcome) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if b.upTo < s.known && !b.back {
		return nil
	}
	told := make(map[Sum]bool)
	for _, v := range b.versions {
		before, after := s.byID.get(v.key.ID), v.key
		if b.whole {
			told[after.ID] = true
		}
		switch {
		case !b.back && after.Version <= s.known:
			continue
		case v.deleted && before == nil, !v.deleted && before != nil && before.Version == after.Version && !b.back:
			continue
		case v.deleted:
			after = nil
		default:
			after.Tenant = s.tenant(after.Tenant)
		}
		s.replace(before, after)
		outcomes = append(outcomes, outcome{before, after})
	}
	if b.whole {
		outcomes = append(outcomes, s.keep(told, b)...)
	}
	s.known = b.upTo
	return outcomes
}

// keep removes the keys that a whole batch does not have. It must be called with mu held.
func (s *Keys) keep(told map[Sum]bool, b batch) (outcomes []outcome) {
	for _, key := range s.ordered {
		if !told[key.ID] && (b.back || key.Version <= b.upTo) {
			outcomes = append(outcomes, outcome{before: key})
		}
	}
	for _, o := range outcomes {
		s.replace(o.before, nil)
	}
	return outcomes
}

// knows returns the number of the last change that is applied.
func (s *Keys) knows() int64 {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.known
}

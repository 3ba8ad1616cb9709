package desktop

import (
	"math"
	"sync"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
)

// recordTable has the registrations and release marks of workstations, as this gateway knows them.
type recordTable struct {
	now  func() time.Time
	over func(id ID) // called, without a lock, when a registration ends that ends sessions

	mu         sync.Mutex // guards the following, and every entry
	byID       map[ID]*entry
	registered map[string]int // records of run-time workstations by tenant
	pruneAt    time.Time      // the next search for old records
}

// entry is the record of a workstation as State knows it. It is in recordTable.byID while
// there is one, or one is being made.
type entry struct {
	id              ID
	known           bool        // there is a record
	record          record      // registration or release mark
	unsaved         bool        // storage does not have this record, or may not
	reserved        bool        // a registration is being made
	counted         bool        // in recordTable.registered
	changes         int         // of record
	end             *time.Timer // when the registration ends sessions; nil: never
	seq, generation int64       // of the record, where gateways share it: see StoredRecord
}

// released reports whether the workstation is released.
func (p *entry) released() bool { return p != nil && p.known && !p.record.ReleasedAt.IsZero() }

// expired reports whether the registration has ended, and whether that ends sessions.
func (p *entry) expired(now time.Time) (expired, ends bool) {
	if p == nil || !p.known {
		return false, false
	}
	return p.record.expired(now)
}

// registered reports whether the workstation was registered at run time.
func (p *entry) registered() bool { return p != nil && p.known && p.record.Address != "" }

// has reports whether nothing has to be stored for a registration of the workstation in service. One
// that ends has a later end each time.
func (p *entry) has(r *Registration) bool {
	return !p.unsaved && r.ExpiresIn == 0 && p.record.ExpiresAt.IsZero() && p.record.same(r)
}

// entry returns the entry of id, which it makes if there is none; mu is held.
func (t *recordTable) entry(id ID) *entry {
	p := t.byID[id]
	if p == nil {
		p = &entry{id: id}
		t.byID[id] = p
	}
	return p
}

// tidy forgets an entry without record; mu is held.
func (t *recordTable) tidy(p *entry) {
	if !p.known && !p.reserved {
		delete(t.byID, p.id)
	}
}

// set makes a record the entry's own; mu is held.
func (t *recordTable) set(p *entry, r record, unsaved bool) {
	p.known, p.record, p.unsaved, p.reserved = true, r, unsaved, false
	p.changes++
	t.count(p)
	t.watch(p)
}

// watch has over called when the registration ends sessions; mu is held.
func (t *recordTable) watch(p *entry) {
	if p.end != nil {
		p.end.Stop()
		p.end = nil
	}
	if !p.known || p.record.OnExpiry != OnExpiryEnd || !p.record.ReleasedAt.IsZero() {
		return
	}
	p.end = time.AfterFunc(p.record.ExpiresAt.Sub(t.now()), func() {
		t.mu.Lock()
		_, ends := p.expired(t.now())
		if !ends {
			t.watch(p) // the clock was set back, or the registration was renewed just now
		}
		t.mu.Unlock()
		if ends {
			t.over(p.id)
		}
	})
}

// drop forgets a record; mu is held.
func (t *recordTable) drop(p *entry) {
	p.known, p.record, p.unsaved, p.reserved = false, record{}, false, false
	p.changes++
	t.count(p)
	t.watch(p)
	t.tidy(p)
}

// count counts the registration of an entry that has changed; mu is held.
func (t *recordTable) count(p *entry) {
	n, counts := t.registered[p.id.Tenant], p.registered() || p.reserved
	switch {
	case counts && !p.counted:
		n++
	case !counts && p.counted:
		n--
	}
	if t.registered[p.id.Tenant], p.counted = n, counts; n == 0 {
		delete(t.registered, p.id.Tenant)
	}
}

// apply returns before which release what was issued ends, 0 if nothing does, and reports whether
// the gateway logs in elsewhere or otherwise from now on.
func (t *recordTable) apply(c StoredRecord, r record) (ends int64, moved bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	p := t.entry(c.ID)
	defer t.tidy(p)
	if c.Seq <= p.seq {
		return 0, false
	}
	if c.Generation > p.generation { // it may be in service again
		ends = c.Generation
	}
	p.seq, p.generation = c.Seq, c.Generation
	if c.Value == nil {
		t.drop(p)
		return math.MaxInt64, true
	}
	before := p.record.Registration
	t.set(p, r, false)
	if p.released() {
		ends = math.MaxInt64
	}
	return ends, !r.same(&before)
}

// take makes a record that was read that of its workstation, unless a later one is. It reports whether
// it has, and whether the workstation is released by it.
func (t *recordTable) take(r record) (taken, released bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	p := t.entry(r.id())
	if p.known && !r.newer(&p.record) {
		// A release that came while this was read is newer, and saves itself.
		p.unsaved = p.unsaved || p.record.newer(&r)
		return false, false
	}
	t.set(p, r, false)
	return true, p.released()
}

// unsaved are the records that are not stored.
func (t *recordTable) unsaved() (records []record) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, p := range t.byID {
		if p.known && p.unsaved {
			records = append(records, p.record)
		}
	}
	return records
}

// unstored reports whether the workstation is released here, and the records do not say so.
func (t *recordTable) unstored(id ID) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	p := t.byID[id]
	return p.released() && p.unsaved
}

// release marks a workstation as released; mu is held.
func (t *recordTable) release(p *entry, declared bool) {
	r := p.record
	r.Tenant, r.Name = p.id.Tenant, p.id.Name
	r.Declared = r.Declared || declared
	r.touch(t.now())
	r.ReleasedAt = r.ChangedAt
	t.set(p, r, true)
}

// reserve counts a registration that will be made of a tenant, which may have so many; mu is held. It
// returns the one that is forgotten for it.
func (t *recordTable) reserve(id ID, most int) (evicted ID, err error) {
	if n := t.registered[id.Tenant]; n >= most {
		oldest := t.oldestReleased(id.Tenant)
		if oldest == nil {
			return ID{}, apierror.New(apierror.WorkstationsExceeded, "%d workstations are registered; one must be released first", n)
		}
		evicted = oldest.id
		t.drop(oldest)
	}
	p := t.entry(id)
	p.reserved = true
	t.count(p)
	return evicted, nil
}

// unchanged reports whether a registration changes nothing.
func (t *recordTable) unchanged(id ID, r *Registration) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	p := t.byID[id]
	return p.registered() && !p.released() && p.has(r)
}

// unreserve takes back what reserve has counted, unless the registration was made.
func (t *recordTable) unreserve(id ID) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if p := t.byID[id]; p != nil && p.reserved {
		p.reserved = false
		t.count(p)
		t.tidy(p)
	}
}

// oldestReleased is the registration that is forgotten first: forgotten, it is
// still not open. mu is held.
func (t *recordTable) oldestReleased(tenant string) *entry {
	var oldest *entry
	for id, p := range t.byID {
		if id.Tenant != tenant || !p.registered() || !p.released() || p.unsaved || p.record.Declared {
			continue
		}
		if oldest == nil || p.record.ReleasedAt.Before(oldest.record.ReleasedAt) {
			oldest = p
		}
	}
	return oldest
}

// missing lists workstations whose record must be written.
func (t *recordTable) missing(seen map[string]bool) []ID {
	t.mu.Lock()
	defer t.mu.Unlock()
	var ids []ID
	for id, p := range t.byID {
		if p.known && (p.unsaved || !seen[id.key()]) {
			ids = append(ids, id)
		}
	}
	return ids
}

// adopt makes release marks of what a configuration declares last: a workstation that was registered and released
// at run time, and is declared now, must not open because its record has become old.
func (t *recordTable) adopt(declared map[ID]*Target, now time.Time) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for id := range declared {
		if p := t.byID[id]; p.released() && !p.record.Declared {
			r := p.record
			r.Declared = true
			r.touch(now)
			t.set(p, r, true)
		}
	}
}

// forgetOld forgets old records, at most once an hour, and returns whose.
func (t *recordTable) forgetOld(now time.Time) []ID {
	t.mu.Lock()
	defer t.mu.Unlock()
	if now.Before(t.pruneAt) {
		return nil
	}
	var ids []ID
	for id, p := range t.byID {
		if !p.known || !p.record.old(now) {
			continue
		}
		if len(ids) == maxPrune {
			return ids // the next call goes on
		}
		t.drop(p)
		ids = append(ids, id)
	}
	t.pruneAt = now.Add(pruneEvery)
	return ids
}

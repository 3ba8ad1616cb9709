// Package share bounds what many tenants and keys have at once, so that none of them has all of it.
package share

import "sync"

// Pool counts what is in use. Its zero value has nothing in use. It is safe for concurrent use.
type Pool struct {
	mu   sync.Mutex // guards the following
	used int
	by   map[owner]int
}

// owner is a key, or, without one, a tenant.
type owner struct{ tenant, key string }

// Acquire takes one of most for a key of a tenant. The last eighth is for tenants that have none, and the
// eighth before it for keys that have none; of less than eight nothing is set aside. It never waits: ok
// reports whether there was one. Release gives it back, and is called once.
func (p *Pool) Acquire(tenant, key string, most int) (release func(), ok bool) {
	owners := [...]owner{{tenant: tenant}, {tenant, key}}
	p.mu.Lock()
	defer p.mu.Unlock()
	left := most - p.used
	for i, o := range owners {
		if left <= 0 || p.by[o] > 0 && left <= (i+1)*(most/8) {
			return nil, false
		}
	}
	p.add(owners, 1)
	return func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.add(owners, -1)
	}, true
}

// add is called with the lock held.
func (p *Pool) add(owners [2]owner, n int) {
	if p.by == nil {
		p.by = make(map[owner]int)
	}
	p.used += n
	for _, o := range owners {
		if p.by[o] += n; p.by[o] == 0 {
			delete(p.by, o)
		}
	}
}

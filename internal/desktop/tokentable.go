package desktop

import "time"

// minSweep is the number of tokens below which sweeping all is not worth it.
const minSweep = 64

// tokenTable finds tokens by what viewers show, live and dead ones. State.mu guards it.
type tokenTable struct {
	live     map[hash]*token   // may hold some that have expired and are not swept yet
	byPrefix map[string]*token // those with a prefix
	dead     tombstones
	sweepAt  int // number of tokens at which the next Issue sweeps all
}

func newTokenTable() tokenTable {
	return tokenTable{live: make(map[hash]*token), byPrefix: make(map[string]*token), sweepAt: minSweep}
}

// taken reports whether a viewer could mean another token by t.
func (k *tokenTable) taken(t *token) bool {
	_, same := k.live[t.hash]
	_, alike := k.byPrefix[t.prefix]
	return same || alike
}

func (k *tokenTable) add(t *token) {
	k.live[t.hash] = t
	if t.prefix != "" {
		k.byPrefix[t.prefix] = t
	}
}

// remove makes a live token a dead one.
func (k *tokenTable) remove(t *token, why tokenState, now time.Time) {
	t.dead = why
	delete(k.live, t.hash)
	if t.prefix != "" {
		delete(k.byPrefix, t.prefix)
	}
	k.dead.add(t.hash, t.prefix, why, now)
}

// dropPrefixes forgets the first characters of all live tokens.
func (k *tokenTable) dropPrefixes() {
	for prefix, t := range k.byPrefix {
		t.prefix = ""
		delete(k.byPrefix, prefix)
	}
}

func (k *tokenTable) dueForSweep() bool { return len(k.live) >= k.sweepAt }

func (k *tokenTable) swept() { k.sweepAt = max(minSweep, 2*len(k.live)) }

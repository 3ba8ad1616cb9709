package memory

import (
	"cmp"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/desktop"
)

const (
	maxTombstones = 65_536 // about 16 MiB; beyond it the oldest are forgotten

	// recentPrefixes is how many prefixes of dead tokens a response to a challenge is held against,
	// of those that died within [desktop.RecentDeath]: viewers that retry by themselves. Each costs a DES key
	// schedule.
	recentPrefixes = 256
)

type tombstone struct {
	hash   desktop.Hash
	prefix string // as the token's
	why    desktop.RefusalCode
	at     time.Time
}

// tombstones are dead tokens, in the order of their death. The zero value is empty.
type tombstones struct {
	byHash   map[desktop.Hash]desktop.RefusalCode
	byPrefix map[string]desktop.Hash // of those with a prefix, the latest of each
	ring     []tombstone             // grows to maxTombstones, then wraps around
	first    int                     // the oldest in ring
	count    int
}

// add takes amortised constant time.
func (g *tombstones) add(h desktop.Hash, prefix string, why desktop.RefusalCode, now time.Time) {
	if g.byHash == nil {
		g.byHash, g.byPrefix = make(map[desktop.Hash]desktop.RefusalCode), make(map[string]desktop.Hash)
	}
	g.forget(now)
	if g.count == maxTombstones {
		g.drop()
	}
	if g.count == len(g.ring) {
		g.grow()
	}
	g.ring[(g.first+g.count)%len(g.ring)] = tombstone{h, prefix, why, now}
	g.count++
	g.byHash[h] = why
	if prefix != "" {
		g.byPrefix[prefix] = h
	}
}

// state is why a token is dead: unknown for one that is not remembered.
func (g *tombstones) state(h desktop.Hash, now time.Time) desktop.RefusalCode {
	g.forget(now)
	return cmp.Or(g.byHash[h], desktop.RefusedUnknown)
}

// statePrefix is state for the first characters of a token.
func (g *tombstones) statePrefix(prefix string, now time.Time) desktop.RefusalCode {
	g.forget(now)
	return g.state(g.byPrefix[prefix], now)
}

// recent are prefixes of tokens that died a short while ago, the latest first.
func (g *tombstones) recent(now time.Time) (prefixes []string) {
	for i := g.count - 1; i >= 0 && len(prefixes) < recentPrefixes; i-- {
		t := &g.ring[(g.first+i)%len(g.ring)]
		if now.Sub(t.at) >= desktop.RecentDeath {
			break
		}
		if t.prefix != "" {
			prefixes = append(prefixes, t.prefix)
		}
	}
	return prefixes
}

func (g *tombstones) forget(now time.Time) {
	for g.count > 0 && now.Sub(g.ring[g.first].at) >= desktop.Remembered {
		g.drop()
	}
}

func (g *tombstones) drop() {
	t := &g.ring[g.first]
	delete(g.byHash, t.hash)
	if g.byPrefix[t.prefix] == t.hash {
		delete(g.byPrefix, t.prefix)
	}
	*t = tombstone{}
	g.first = (g.first + 1) % len(g.ring)
	g.count--
}

func (g *tombstones) grow() {
	ring := make([]tombstone, min(max(64, 2*len(g.ring)), maxTombstones))
	n := copy(ring, g.ring[g.first:])
	copy(ring[n:], g.ring[:g.first])
	g.ring, g.first = ring, 0
}

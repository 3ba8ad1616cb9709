package workstation

import "time"

const (
	remembered    = 24 * time.Hour // how long a dead token can be told from one that never was
	maxTombstones = 65_536         // about 8 MiB; beyond it the oldest are forgotten
)

type tombstone struct {
	hash hash
	why  tokenState
	at   time.Time
}

// tombstones are dead tokens, in the order of their death. The zero value is empty.
type tombstones struct {
	byHash map[hash]tokenState
	ring   []tombstone // grows to maxTombstones, then wraps around
	first  int         // the oldest in ring
	count  int
}

// add takes amortised constant time.
func (g *tombstones) add(h hash, why tokenState, now time.Time) {
	if g.byHash == nil {
		g.byHash = make(map[hash]tokenState)
	}
	g.forget(now)
	if g.count == maxTombstones {
		g.drop()
	}
	if g.count == len(g.ring) {
		g.grow()
	}
	g.ring[(g.first+g.count)%len(g.ring)] = tombstone{h, why, now}
	g.count++
	g.byHash[h] = why
}

// state is alive for a token that is not remembered.
func (g *tombstones) state(h hash, now time.Time) tokenState {
	g.forget(now)
	return g.byHash[h]
}

func (g *tombstones) forget(now time.Time) {
	for g.count > 0 && now.Sub(g.ring[g.first].at) >= remembered {
		g.drop()
	}
}

func (g *tombstones) drop() {
	delete(g.byHash, g.ring[g.first].hash)
	g.ring[g.first] = tombstone{}
	g.first = (g.first + 1) % len(g.ring)
	g.count--
}

func (g *tombstones) grow() {
	ring := make([]tombstone, min(max(64, 2*len(g.ring)), maxTombstones))
	n := copy(ring, g.ring[g.first:])
	copy(ring[n:], g.ring[:g.first])
	g.ring, g.first = ring, 0
}

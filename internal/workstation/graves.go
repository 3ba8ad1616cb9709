package workstation

import "time"

const (
	remembered = 24 * time.Hour // how long a dead token can be told from one that never was
	maxGraves  = 65_536         // about 8 MiB; beyond it the oldest are forgotten
)

type grave struct {
	hash hash
	why  death
	at   time.Time
}

// graves are dead tokens, in the order of their death. The zero value is empty.
type graves struct {
	byHash map[hash]death
	ring   []grave // grows to maxGraves, then is written round
	first  int     // the oldest in ring
	count  int
}

// bury takes amortised constant time.
func (g *graves) bury(h hash, why death, now time.Time) {
	if g.byHash == nil {
		g.byHash = make(map[hash]death)
	}
	g.forget(now)
	if g.count == maxGraves {
		g.drop()
	}
	if g.count == len(g.ring) {
		g.grow()
	}
	g.ring[(g.first+g.count)%len(g.ring)] = grave{h, why, now}
	g.count++
	g.byHash[h] = why
}

// why is alive for a token that is not remembered.
func (g *graves) why(h hash, now time.Time) death {
	g.forget(now)
	return g.byHash[h]
}

func (g *graves) forget(now time.Time) {
	for g.count > 0 && now.Sub(g.ring[g.first].at) >= remembered {
		g.drop()
	}
}

func (g *graves) drop() {
	delete(g.byHash, g.ring[g.first].hash)
	g.ring[g.first] = grave{}
	g.first = (g.first + 1) % len(g.ring)
	g.count--
}

func (g *graves) grow() {
	ring := make([]grave, min(max(64, 2*len(g.ring)), maxGraves))
	n := copy(ring, g.ring[g.first:])
	copy(ring[n:], g.ring[:g.first])
	g.ring, g.first = ring, 0
}

package failover

import (
	"cmp"
	"math"
	"slices"
	"time"
)

// ranked is a candidate on its way into the order.
type ranked struct {
	Pick
	target *target // nil without a record
	score  float64
	cooled bool
	until  time.Time
}

// Order appends every candidate in the order to try them: group by group, and inside a group by
// weight. The order is the same for the same seed, such as the id of a session, and a candidate
// that is gone moves only its own sessions (rendezvous hashing); "" chooses by chance. Cooling
// targets come last, the first to recover before the others. A target that waits for its probe
// stands in front for one call; for others it is cooling until the probe ends.
//
// Order reserves a probe for seconds: call it right before Begin.
func (h *Health) Order(dst []Pick, groups [][]Candidate, seed string) []Pick {
	total := 0
	for _, g := range groups {
		total += len(g)
	}
	if total == 1 { // a lone target is never avoided
		for g := range groups {
			if len(groups[g]) == 1 {
				return append(dst, Pick{Group: g})
			}
		}
	}
	var buffer [16]ranked
	all := buffer[:0]
	start := h.seed(seed)
	for g, candidates := range groups {
		for i, c := range candidates {
			all = append(all, ranked{Pick: Pick{Group: g, Index: i}, target: h.find(c.ID), score: score(start, c)})
		}
	}
	slices.SortStableFunc(all, func(a, b ranked) int {
		return cmp.Or(cmp.Compare(a.Group, b.Group), cmp.Compare(b.score, a.score))
	})
	for i := range all {
		all[i].Rank = i
	}
	if h.coolingLast(all) {
		slices.SortStableFunc(all, func(a, b ranked) int {
			switch {
			case a.cooled && b.cooled:
				return a.until.Compare(b.until)
			case a.cooled:
				return 1
			case b.cooled:
				return -1
			}
			return 0
		})
	}
	for _, r := range all {
		dst = append(dst, r.Pick)
	}
	return dst
}

// coolingLast notes which candidates are cooling, and reports whether any is. A call that would begin
// with a target that waits for its probe gets the probe.
func (h *Health) coolingLast(all []ranked) (any bool) {
	var now time.Time
	first := true
	for i := range all {
		r := &all[i]
		if r.target != nil && r.target.avoided.Load() {
			if now.IsZero() {
				now = h.now()
			}
			r.target.mu.Lock()
			if r.target.cooling && !(first && r.target.lease(now)) {
				r.cooled, r.until = true, r.target.until
				any = true
			}
			r.target.mu.Unlock()
		}
		first = first && r.cooled
	}
	return any
}

// seed is the number that the scores of a call begin with.
func (h *Health) seed(text string) uint64 {
	if text == "" {
		return uint64(h.random() * (1 << 53))
	}
	return hash(offset64, text)
}

// score is the weight of weighted rendezvous hashing (Schindelhauer and Schomaker, 2005): the
// candidate with the highest one is first, with a probability in proportion to its weight.
func score(seed uint64, c Candidate) float64 {
	x := hash(seed^offset64, c.ID)
	// The finalizer of splitmix64: the last bytes of FNV change the upper bits too little.
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	x ^= x >> 31
	uniform := (float64(x>>11) + 0.5) / (1 << 53)
	return cmp.Or(c.Weight, 1) / -math.Log(uniform)
}

// FNV-1a, 64 bit.
const (
	offset64 = 14695981039346656037
	prime64  = 1099511628211
)

func hash(h uint64, text string) uint64 {
	for i := range len(text) {
		h = (h ^ uint64(text[i])) * prime64
	}
	return h
}

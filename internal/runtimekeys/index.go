package runtimekeys

import (
	"maps"
	"slices"
	"sync/atomic"
)

// index finds keys by a SHA-256. Look-ups take no lock. A change copies one shard, and needs a lock
// of its caller. The maps have no pointers, so that many keys do not make each garbage collection
// longer.
type index struct {
	shards [indexShards]atomic.Pointer[indexShard]
}

// indexShards keeps a shard of 100,000 keys below 400, which are copied in some microseconds.
const indexShards = 256

type indexShard struct {
	at   map[Sum]int32 // the position in keys
	sums []Sum
	keys []*Key
}

func (x *index) get(sum Sum) *Key {
	shard := x.shards[sum[0]].Load()
	if shard == nil {
		return nil
	}
	if i, ok := shard.at[sum]; ok {
		return shard.keys[i]
	}
	return nil
}

// put makes sum find key.
func (x *index) put(sum Sum, key *Key) {
	next := x.copy(sum)
	next.put(sum, key)
	x.shards[sum[0]].Store(next)
}

// remove makes sum find nothing.
func (x *index) remove(sum Sum) {
	next := x.copy(sum)
	i, ok := next.at[sum]
	if !ok {
		return
	}
	last := len(next.keys) - 1
	next.sums[i], next.keys[i] = next.sums[last], next.keys[last]
	next.at[next.sums[i]] = i
	delete(next.at, sum)
	next.sums, next.keys = slices.Delete(next.sums, last, last+1), slices.Delete(next.keys, last, last+1)
	x.shards[sum[0]].Store(next)
}

func (x *index) copy(sum Sum) *indexShard {
	old := x.shards[sum[0]].Load()
	if old == nil {
		return &indexShard{at: make(map[Sum]int32, 1)}
	}
	return &indexShard{at: maps.Clone(old.at), sums: slices.Clone(old.sums), keys: slices.Clone(old.keys)}
}

func (s *indexShard) put(sum Sum, key *Key) {
	if i, ok := s.at[sum]; ok {
		s.keys[i] = key
		return
	}
	s.at[sum] = int32(len(s.keys))
	s.sums, s.keys = append(s.sums, sum), append(s.keys, key)
}

// fill is put of many at once, before others use the index.
func (x *index) fill(entries []indexEntry) {
	var sizes [indexShards]int
	for _, e := range entries {
		sizes[e.sum[0]]++
	}
	for i, n := range sizes {
		if n > 0 {
			x.shards[i].Store(&indexShard{at: make(map[Sum]int32, n), sums: make([]Sum, 0, n), keys: make([]*Key, 0, n)})
		}
	}
	for _, e := range entries {
		x.shards[e.sum[0]].Load().put(e.sum, e.key)
	}
}

type indexEntry struct {
	sum Sum
	key *Key
}

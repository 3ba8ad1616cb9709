package activity

import (
	"encoding/binary"
	"math/bits"
	"time"
)

// Histograms count durations in buckets of microseconds: each power of two has subBuckets of them,
// as in HdrHistogram. Below 2 subBuckets a bucket is one microsecond.
const (
	subBits    = 3
	subBuckets = 1 << subBits
	// maxMicros is where durations are cut: 19 hours. No model call is longer.
	maxMicros  = 1<<36 - 1
	numBuckets = (36 - subBits + 1) * subBuckets
)

// PercentileError is the greatest relative error of a percentile: half the width of a bucket.
const PercentileError = 1.0 / (2 * subBuckets)

// The durations of which the roll-up keeps histograms.
const (
	histDuration = iota
	histFirstToken
	histPerToken
	histOverhead
	numHists
)

// bucketOf returns the bucket of a duration.
func bucketOf(d time.Duration) uint16 {
	v := uint64(min(max(d.Microseconds(), 0), maxMicros))
	if v < subBuckets {
		return uint16(v)
	}
	shift := bits.Len64(v) - subBits - 1
	return uint16(shift*subBuckets + int(v>>shift))
}

// bucketMiddle returns the duration that stands for a bucket.
func bucketMiddle(bucket int) time.Duration {
	if bucket < subBuckets {
		return time.Duration(bucket) * time.Microsecond
	}
	shift := bucket/subBuckets - 1
	low := uint64(subBuckets+bucket%subBuckets) << shift
	return time.Duration(low)*time.Microsecond + (time.Microsecond<<shift-time.Microsecond)/2
}

// histogram sums encoded histograms. Only counts from lo to below hi are not 0.
type histogram struct {
	counts [numBuckets]uint64
	lo, hi int
	total  uint64
}

// histograms are the histograms of a row or of several.
type histograms [numHists]histogram

// add adds encoded histograms, or skips them if hs is nil, and returns what follows them.
func (hs *histograms) add(encoded []byte) (rest []byte, err error) {
	for i := range numHists {
		var h *histogram
		if hs != nil {
			h = &hs[i]
		}
		var ok bool
		if encoded, ok = h.add(encoded); !ok {
			return nil, ErrDamaged
		}
	}
	return encoded, nil
}

// add adds an encoded histogram, or skips it if h is nil, and returns what follows it. A series of
// a month calls it some 100,000 times, so it does without buckets.
func (h *histogram) add(encoded []byte) (rest []byte, ok bool) {
	if len(encoded) < 2 {
		return nil, false
	}
	n, rest := int(binary.LittleEndian.Uint16(encoded)), encoded[2:]
	bucket, first := uint64(0), uint64(0)
	for i := range n {
		var distance, count uint64
		if len(rest) >= 2 && rest[0]|rest[1] < 0x80 { // two varints of one byte, as nearly always
			distance, count, rest = uint64(rest[0]), uint64(rest[1]), rest[2:]
		} else if distance, count, rest = uvarints(rest); rest == nil {
			return nil, false
		}
		if bucket += distance; distance >= numBuckets || bucket >= numBuckets {
			return nil, false
		}
		if h == nil {
			continue
		}
		if i == 0 {
			first = bucket
		}
		h.counts[bucket] += count
		h.total += count
	}
	if h != nil && n > 0 {
		h.cover(int(first), int(bucket)+1)
	}
	return rest, true
}

// uvarints reads two numbers, and returns what follows; nil if there are none.
func uvarints(b []byte) (x, y uint64, rest []byte) {
	x, n := binary.Uvarint(b)
	if n <= 0 {
		return 0, 0, nil
	}
	y, m := binary.Uvarint(b[n:])
	if m <= 0 {
		return 0, 0, nil
	}
	return x, y, b[n+m:]
}

// append appends the encoding of the histogram: the number of buckets, in two bytes, then of each
// the distance to the one before, and its count.
func (h *histogram) append(b []byte) []byte {
	at, n, last := len(b), 0, 0
	b = append(b, 0, 0)
	for bucket := h.lo; bucket < h.hi; bucket++ {
		if count := h.counts[bucket]; count > 0 {
			b = binary.AppendUvarint(binary.AppendUvarint(b, uint64(bucket-last)), count)
			last = bucket
			n++
		}
	}
	binary.LittleEndian.PutUint16(b[at:], uint16(n))
	return b
}

// one adds one duration.
func (h *histogram) one(bucket int) {
	h.cover(bucket, bucket+1)
	h.counts[bucket]++
	h.total++
}

func (h *histogram) merge(other *histogram) {
	if other.total == 0 {
		return
	}
	h.cover(other.lo, other.hi)
	for bucket := other.lo; bucket < other.hi; bucket++ {
		h.counts[bucket] += other.counts[bucket]
	}
	h.total += other.total
}

// cover makes lo and hi include some buckets.
func (h *histogram) cover(lo, hi int) {
	if h.hi == 0 {
		h.lo = lo
	}
	h.lo, h.hi = min(h.lo, lo), max(h.hi, hi)
}

func (h *histogram) reset() {
	clear(h.counts[h.lo:h.hi])
	h.lo, h.hi, h.total = 0, 0, 0
}

// Percentiles are of one duration, each within PercentileError. All are 0 if Count is.
type Percentiles struct {
	Count         int64
	P50, P95, P99 time.Duration
}

func (h *histogram) percentiles() (p Percentiles) {
	p.Count = int64(h.total)
	var sum uint64
	ranks := [...]struct {
		percent uint64
		to      *time.Duration
	}{{50, &p.P50}, {95, &p.P95}, {99, &p.P99}}
	next := 0
	for bucket := h.lo; bucket < h.hi && next < len(ranks); bucket++ {
		sum += h.counts[bucket]
		for next < len(ranks) && sum*100 >= h.total*ranks[next].percent && h.total > 0 {
			*ranks[next].to = bucketMiddle(bucket)
			next++
		}
	}
	return p
}

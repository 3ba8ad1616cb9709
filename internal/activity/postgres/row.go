package postgres

import (
	"encoding/binary"
	"hash/fnv"
	"math"
	"math/rand/v2"

	"github.com/gatehouse-proxy/gatehouse/internal/activity"
)

// A row on its way to PostgreSQL, which may wait on disk: one byte of version, one that says
// whether the call was taken for crashed, 8 bytes each of the time and of the hashes of ID, request
// ID and upstream ID, the tenant after its length, then data as in [Schema].
const (
	rowVersion = 1
	rowFixed   = 2 + 4*8
	usualRow   = 512 // bytes of a usual one, at most
)

// queuedRow is a row of the table activity. Its texts are parts of what was queued.
type queuedRow struct {
	crashed                         bool
	created, seq, request, upstream int64
	tenant, data                    []byte
}

// hashOf returns the hash of an ID: 0 for an empty one, and only for that.
func hashOf(id string) int64 {
	if id == "" {
		return 0
	}
	h := fnv.New64a()
	_, _ = h.Write([]byte(id))
	return max(int64(h.Sum64()&math.MaxInt64), 1)
}

// appendRow appends the row of a record.
func appendRow(b []byte, r *activity.Record) []byte {
	seq := hashOf(r.ID)
	if seq == 0 {
		seq = 1 + rand.Int64N(math.MaxInt64)
	}
	crashed := byte(0)
	if r.UsageSource == activity.UsageCrashed {
		crashed = 1
	}
	b = append(b, rowVersion, crashed)
	for _, n := range [...]int64{r.CreatedAt.UnixNano(), seq, hashOf(r.RequestID), hashOf(r.UpstreamID)} {
		b = binary.BigEndian.AppendUint64(b, uint64(n))
	}
	return activity.Encode(append(binary.AppendUvarint(b, uint64(len(r.Tenant))), r.Tenant...), r)
}

// read sets r from what appendRow made.
func (r *queuedRow) read(b []byte) error {
	if len(b) < rowFixed || b[0] != rowVersion {
		return activity.ErrDamaged
	}
	r.crashed = b[1] == 1
	for i, n := range [...]*int64{&r.created, &r.seq, &r.request, &r.upstream} {
		*n = int64(binary.BigEndian.Uint64(b[2+8*i:]))
	}
	n, size := binary.Uvarint(b[rowFixed:])
	if size <= 0 || n > uint64(len(b)-rowFixed-size) {
		return activity.ErrDamaged
	}
	b = b[rowFixed+size:]
	r.tenant, r.data = b[:n], b[n:]
	return nil
}

package sqlite

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"math"
	"slices"
	"unsafe"

	"github.com/gatehouse-proxy/gatehouse/internal/activity"
	"github.com/gatehouse-proxy/gatehouse/internal/store"
)

// The rows seq/blockRows = n are block n. Together with the last of them the row block = n of
// activity_ids is written: for each seq in order the hashes of ID, RequestID and UpstreamID, then
// for each that of TraceID, which older blocks lack. A look-up reads the rows of the newest block,
// then the hashes of the others from the newest on, and compares the rows that a hash points to.
const (
	// blockRows keeps the hashes of a block on a page or two of 4 KiB, and the newest block short
	// enough to be searched row by row.
	blockRows  = 256
	hashSize   = 4
	idSize     = 3 * hashSize // bytes per row
	traceBlock = blockRows * idSize
	blockSize  = traceBlock + blockRows*hashSize
)

// Positions of the IDs among a row's hashes.
const (
	slotID = iota
	slotRequest
	slotUpstream
	slotTrace
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// hashes are the hashes of a row's IDs, by slot.
type hashes [4]uint32

func hashesOf(r *activity.Record) hashes {
	h := hasherOf(r.Tenant)
	return hashes{slotID: h.hash(r.ID), slotRequest: h.hash(r.RequestID), slotUpstream: h.hash(r.UpstreamID), slotTrace: h.hash(r.TraceID)}
}

// hasher is the hash of a tenant and a zero byte. Every hash begins with it, so that an ID which a
// careless provider gives to everybody leads to no rows of other tenants.
type hasher uint32

func hasherOf(tenant string) hasher {
	return hasher(update(update(0, tenant), "\x00"))
}

// hash is 0 for an empty ID, and only for that.
func (h hasher) hash(id string) uint32 {
	if id == "" {
		return 0
	}
	return max(update(uint32(h), id), 1)
}

func update(crc uint32, s string) uint32 {
	return crc32.Update(crc, castagnoli, unsafe.Slice(unsafe.StringData(s), len(s)))
}

const (
	lastSeq   = "SELECT ifnull(max(seq), 0) FROM activity"
	saveBlock = "INSERT OR REPLACE INTO activity_ids (block, hashes) VALUES (?, ?)"
	blockData = "SELECT seq, tenant, data FROM activity WHERE seq BETWEEN ? AND ?"
	// newestRows filters by tenant, "" for all, and text without an index, because seq bounds it well.
	newestRows = "SELECT " + columns + " FROM activity WHERE seq >= ?1 AND (?2 = '' OR tenant = ?2) AND instr(data, ?3) ORDER BY seq DESC"
	// olderRows is newestRows before a block.
	olderRows = "SELECT " + columns + " FROM activity WHERE seq < ?1 AND (?2 = '' OR tenant = ?2) AND instr(data, ?3) ORDER BY seq DESC"
	nextBlock = "SELECT block, hashes FROM activity_ids WHERE block < ? ORDER BY block DESC"
	rowAt     = "SELECT " + columns + " FROM activity WHERE seq = ?1 AND (?2 = '' OR tenant = ?2)"
	// dropBlock deletes a block that has no rows left.
	dropBlock = `DELETE FROM activity_ids WHERE block = ?1
		AND NOT EXISTS (SELECT 1 FROM activity WHERE seq BETWEEN ?1 * ?2 AND ?1 * ?2 + ?2 - 1)`

	// allTenants finds each by a search in the index that begins with the tenant.
	allTenants = `WITH RECURSIVE t(tenant) AS (
		SELECT min(tenant) FROM activity
		UNION ALL SELECT (SELECT min(tenant) FROM activity WHERE tenant > t.tenant) FROM t WHERE t.tenant IS NOT NULL
	) SELECT tenant FROM t WHERE tenant IS NOT NULL`
)

// recent has the hashes of the last rows that this process has written, row seq at seq % blockRows.
// Those of rows that were rolled back or deleted are replaced when their seq is used again. Until
// then they do no harm: a look-up compares the rows.
type recent [blockRows]struct {
	seq int64
	hashes
}

// add notes a row that was just written, and saves its block if it is the last one of it.
func (n *recent) add(tx *store.Tx, seq int64, ids hashes) error {
	at := &n[seq%blockRows]
	at.seq, at.hashes = seq, ids
	if seq%blockRows < blockRows-1 {
		return nil
	}
	return n.save(tx, seq-(blockRows-1))
}

// save writes the hashes of a whole block.
func (n *recent) save(tx *store.Tx, first int64) error {
	for i := range n {
		if n[i].seq != first+int64(i) { // written before this process began
			if err := n.load(tx, first); err != nil {
				return err
			}
			break
		}
	}
	block := make([]byte, 0, blockSize)
	for i := range n {
		for _, h := range n[i].hashes[:slotTrace] {
			block = binary.LittleEndian.AppendUint32(block, h)
		}
	}
	for i := range n {
		block = binary.LittleEndian.AppendUint32(block, n[i].hashes[slotTrace])
	}
	_, err := tx.Exec(saveBlock, first/blockRows, block)
	return err
}

// load fills what is missing from the rows of the block. A row that is gone or damaged has no IDs.
func (n *recent) load(tx *store.Tx, first int64) error {
	var missing [blockRows]bool
	for i := range n {
		if seq := first + int64(i); n[i].seq != seq {
			missing[i], n[i].seq, n[i].hashes = true, seq, hashes{}
		}
	}
	rows, err := tx.Query(blockData, first, first+blockRows-1)
	if err != nil {
		return err
	}
	for err == nil && rows.Next() {
		var seq int64
		var data sql.RawBytes
		var r activity.Record
		if err = rows.Scan(&seq, &r.Tenant, &data); err == nil && missing[seq-first] && activity.Decode(data, &r) == nil {
			n[seq-first].hashes = hashesOf(&r)
		}
	}
	return errors.Join(err, rows.Err(), rows.Close())
}

// search finds records by an ID.
type search struct {
	tenant string // "": all
	id     string
	slots  []int
	most   int // rows that hashes point to; 0: all
}

func (s *search) has(r *activity.Record) bool {
	ids := [...]string{slotID: r.ID, slotRequest: r.RequestID, slotUpstream: r.UpstreamID, slotTrace: r.TraceID}
	return slices.ContainsFunc(s.slots, func(slot int) bool { return ids[slot] == s.id })
}

// identified calls visit with the records that a search finds, newest row first, until visit
// returns false.
func (l *Log) identified(ctx context.Context, s search, visit func(seq int64, r activity.Record) bool) error {
	left, more := cmp.Or(s.most, math.MaxInt), true
	take := func(rows *sql.Rows) (bool, error) {
		var r activity.Record
		seq, err := scan(rows, &r, s.tenant)
		if err == nil && s.has(&r) {
			more = visit(seq, r)
		}
		return more, err
	}
	var last int64
	err := l.read(ctx, l.store.Reader(), func(rows *sql.Rows) (bool, error) { return false, rows.Scan(&last) }, lastSeq)
	if err != nil {
		return err
	}
	before := last / blockRows
	if err := l.read(ctx, l.store.Reader(), take, newestRows, before*blockRows, s.tenant, []byte(s.id)); err != nil || !more {
		return err
	}
	tenants, err := l.tenants(ctx, l.store.Reader(), &activity.Filter{Tenant: s.tenant, AllTenants: s.tenant == ""})
	if err != nil || len(tenants) == 0 {
		return err
	}
	want := hashSet{hasherOf(tenants[0]).hash(s.id), map[uint32]bool{}}
	for _, tenant := range tenants[1:] {
		want.others[hasherOf(tenant).hash(s.id)] = true
	}
	for {
		var seqs []int64
		if before, seqs, err = l.nextBlock(ctx, before, &want, s.slots); errors.Is(err, errOlder) {
			return l.read(ctx, l.store.Reader(), take, olderRows, (before+1)*blockRows, s.tenant, []byte(s.id))
		}
		if err != nil || len(seqs) == 0 {
			return err
		}
		for _, seq := range seqs {
			if left--; left < 0 || !more {
				return nil
			}
			if err := l.read(ctx, l.store.Reader(), take, rowAt, seq, s.tenant); err != nil {
				return err
			}
		}
	}
}

// hashSet has at least one hash. Most look-ups have no other: a comparison is quicker than the map.
type hashSet struct {
	first  uint32
	others map[uint32]bool
}

func (s *hashSet) has(h uint32) bool { return h == s.first || len(s.others) > 0 && s.others[h] }

// at reports whether a row of a block may have one of the hashes.
func (s *hashSet) at(block []byte, row, slot int) bool {
	at := row*idSize + slot*hashSize
	if slot == slotTrace {
		at = traceBlock + row*hashSize
	}
	return s.has(binary.LittleEndian.Uint32(block[at:]))
}

// errOlder is returned for a block, and stands for those before it, that was written before blocks
// had traces.
var errOlder = errors.New("a block without traces")

// nextBlock returns the newest block before the given one that has one of the hashes, and its rows
// with them, newest first.
func (l *Log) nextBlock(ctx context.Context, before int64, want *hashSet, slots []int) (block int64, seqs []int64, err error) {
	var hashes sql.RawBytes
	err = l.read(ctx, l.store.Reader(), func(rows *sql.Rows) (bool, error) {
		if err := rows.Scan(&block, &hashes); err != nil {
			return false, err
		}
		if len(hashes) < blockSize && slots[0] == slotTrace {
			return false, errOlder
		}
		for i := min(len(hashes)/idSize, blockRows) - 1; i >= 0; i-- {
			if slices.ContainsFunc(slots, func(slot int) bool { return want.at(hashes, i, slot) }) {
				seqs = append(seqs, block*blockRows+int64(i))
			}
		}
		return len(seqs) == 0, nil
	}, nextBlock, before)
	return block, seqs, err
}

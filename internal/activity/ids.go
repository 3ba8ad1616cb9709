package activity

import (
	"context"
	"database/sql"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"slices"
	"unsafe"

	"github.com/gatehouse-proxy/gatehouse/internal/store"
)

// The rows seq/blockRows = n are block n. Together with the last of them the row block = n of
// activity_ids is written: for each seq in order the hashes of ID, RequestID and UpstreamID. A
// look-up reads the rows of the newest block, then the hashes of the others from the newest on, and
// compares the rows that a hash points to.
const (
	// blockRows keeps the hashes of a block on one page of 4 KiB, and the newest block short enough
	// to be searched row by row.
	blockRows = 256
	hashSize  = 4
	idSize    = 3 * hashSize // bytes per row
	blockSize = blockRows * idSize
)

// Positions of the IDs among a row's hashes.
const (
	slotID = iota
	slotRequest
	slotUpstream
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// hashes are those of a row's IDs, by slot.
type hashes [3]uint32

func hashesOf(r *Record) hashes {
	h := hasherOf(r.Tenant)
	return hashes{slotID: h.hash(r.ID), slotRequest: h.hash(r.RequestID), slotUpstream: h.hash(r.UpstreamID)}
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
	// newestRows filters by tenant and text without an index, because seq bounds it well.
	newestRows = "SELECT " + columns + " FROM activity WHERE seq >= ? AND +tenant = ? AND instr(data, ?) ORDER BY seq DESC"
	nextBlock  = "SELECT block, hashes FROM activity_ids WHERE block < ? ORDER BY block DESC"
	rowAt      = "SELECT " + columns + " FROM activity WHERE seq = ? AND tenant = ?"
	// dropBlock deletes a block that has no rows left.
	dropBlock = `DELETE FROM activity_ids WHERE block = ?1
		AND NOT EXISTS (SELECT 1 FROM activity WHERE seq BETWEEN ?1 * ?2 AND ?1 * ?2 + ?2 - 1)`
)

// Of all tenants, and of the rows that FindAny compares.
const (
	// allTenants finds each by a search in the index that begins with the tenant.
	allTenants = `WITH RECURSIVE t(tenant) AS (
		SELECT min(tenant) FROM activity
		UNION ALL SELECT (SELECT min(tenant) FROM activity WHERE tenant > t.tenant) FROM t WHERE t.tenant IS NOT NULL
	) SELECT tenant FROM t WHERE tenant IS NOT NULL`
	newestOfAll = "SELECT " + columns + " FROM activity WHERE seq >= ? AND instr(data, ?) ORDER BY seq DESC"
	rowOfAny    = "SELECT " + columns + " FROM activity WHERE seq = ?"
	olderBlocks = "SELECT block, hashes FROM activity_ids WHERE block < ? ORDER BY block DESC"
)

// maxCandidates bounds the rows that FindAny reads: a provider that gives one ID to all of its
// answers must not make it read them all.
const maxCandidates = 1000

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
		for _, h := range n[i].hashes {
			block = binary.LittleEndian.AppendUint32(block, h)
		}
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
		var r Record
		if err = rows.Scan(&seq, &r.Tenant, &data); err == nil && missing[seq-first] && r.decode(data) == nil {
			n[seq-first].hashes = hashesOf(&r)
		}
	}
	return errors.Join(err, rows.Err(), rows.Close())
}

// identified calls visit with the tenant's records that have id in one of the slots, newest row
// first, until visit returns false.
func (l *SQLiteLog) identified(ctx context.Context, tenant, id string, slots []int, visit func(seq int64, r Record) bool) error {
	more := true
	has := func(r *Record) bool {
		ids := [...]string{slotID: r.ID, slotRequest: r.RequestID, slotUpstream: r.UpstreamID}
		return slices.ContainsFunc(slots, func(slot int) bool { return ids[slot] == id })
	}
	var newest int64
	err := l.read(ctx, func(rows *sql.Rows) (bool, error) { return false, rows.Scan(&newest) }, lastSeq)
	if err != nil {
		return err
	}
	before := newest / blockRows
	err = l.read(ctx, func(rows *sql.Rows) (bool, error) {
		var r Record
		seq, err := scan(rows, &r, tenant)
		if err == nil && has(&r) {
			more = visit(seq, r)
		}
		return more, err
	}, newestRows, before*blockRows, tenant, []byte(id))
	want := hasherOf(tenant).hash(id)
	for err == nil && more {
		var seqs []int64
		if before, seqs, err = l.nextBlock(ctx, before, want, slots); err != nil || len(seqs) == 0 {
			return err
		}
		for _, seq := range seqs {
			r, ok, err := l.at(ctx, tenant, seq)
			if err != nil {
				return err
			}
			if ok && has(&r) && !visit(seq, r) {
				return nil
			}
		}
	}
	return err
}

// nextBlock returns the newest block before the given one that has the hash, and its rows with the
// hash, newest first.
func (l *SQLiteLog) nextBlock(ctx context.Context, before int64, want uint32, slots []int) (block int64, seqs []int64, err error) {
	var hashes sql.RawBytes
	err = l.read(ctx, func(rows *sql.Rows) (bool, error) {
		if err := rows.Scan(&block, &hashes); err != nil {
			return false, err
		}
		for at := len(hashes) / idSize * idSize; at > 0; at -= idSize {
			ids := hashes[at-idSize : at]
			for _, slot := range slots {
				if binary.LittleEndian.Uint32(ids[slot*hashSize:]) == want {
					seqs = append(seqs, block*blockRows+int64(at/idSize-1))
					break
				}
			}
		}
		return len(seqs) == 0, nil
	}, nextBlock, before)
	return block, seqs, err
}

// at returns the row seq, if it still exists and is the tenant's.
func (l *SQLiteLog) at(ctx context.Context, tenant string, seq int64) (r Record, ok bool, err error) {
	err = l.read(ctx, func(rows *sql.Rows) (bool, error) {
		_, err = scan(rows, &r, tenant)
		ok = true
		return false, err
	}, rowAt, seq, tenant)
	return r, ok, err
}

// candidates returns the rows of blocks before the given one whose hashes fit the ID in any tenant,
// newest first.
func (l *SQLiteLog) candidates(ctx context.Context, before int64, id string) (seqs []int64, err error) {
	want := map[uint32]bool{}
	err = l.read(ctx, func(rows *sql.Rows) (bool, error) {
		var tenant string
		err := rows.Scan(&tenant)
		want[hasherOf(tenant).hash(id)] = true
		return true, err
	}, allTenants)
	if err != nil {
		return nil, err
	}
	var hashes sql.RawBytes
	err = l.read(ctx, func(rows *sql.Rows) (bool, error) {
		var block int64
		if err := rows.Scan(&block, &hashes); err != nil {
			return false, err
		}
		for at := len(hashes)/hashSize - 1; at >= 0; at-- {
			seq := block*blockRows + int64(at*hashSize/idSize)
			if want[binary.LittleEndian.Uint32(hashes[at*hashSize:])] && (len(seqs) == 0 || seqs[len(seqs)-1] != seq) {
				seqs = append(seqs, seq)
			}
		}
		return len(seqs) < maxCandidates, nil
	}, olderBlocks, before)
	return seqs, err
}

package activity

import (
	"context"
	"database/sql"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"math"

	"github.com/gatehouse-proxy/gatehouse/internal/store"
)

// The rows seq/blockRows = n have their IDs in the row block = n of activity_ids: for each seq in
// order the hashes of ID, RequestID and UpstreamID. A commit rewrites the last block with its new
// rows. A look-up reads the blocks from the newest, and compares the rows that a hash points to.
const (
	// blockRows keeps a block on one page of 4 KiB: a longer one would also write overflow pages
	// with every commit.
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

// hasher is scratch space, so that a hash allocates nothing.
type hasher []byte

// hash is 0 for an empty ID, and only for that. It includes the tenant, so that an ID which a
// careless provider gives to everybody leads to no rows of other tenants.
func (h *hasher) hash(tenant, id string) uint32 {
	if id == "" {
		return 0
	}
	*h = append(append(append((*h)[:0], tenant...), 0), id...)
	return max(crc32.Checksum(*h, castagnoli), 1)
}

const (
	lastSeq = "SELECT ifnull(max(seq), 0) FROM activity"
	// saveBlock replaces the block: the last one grows with every commit.
	saveBlock = "INSERT OR REPLACE INTO activity_ids (block, hashes) VALUES (?, ?)"
	nextBlock = "SELECT block, hashes FROM activity_ids WHERE block < ? ORDER BY block DESC"
	rowAt     = "SELECT " + columns + " FROM activity WHERE seq = ? AND tenant = ?"
	// dropBlock deletes a block that has no rows left.
	dropBlock = `DELETE FROM activity_ids WHERE block = ?1
		AND NOT EXISTS (SELECT 1 FROM activity WHERE seq BETWEEN ?1 * ?2 AND ?1 * ?2 + ?2 - 1)`
)

// saveIDs adds the IDs of ops, which have just become the newest rows in this order.
func saveIDs(tx *store.Tx, ops []store.Op) error {
	var last int64
	if err := tx.Get(lastSeq, nil, &last); err != nil {
		return err
	}
	first := last - int64(len(ops)) + 1
	block, filled := first/blockRows, int(first%blockRows)*idSize
	hashes := make([]byte, 0, blockSize)
	var before []byte
	err := tx.Get("SELECT hashes FROM activity_ids WHERE block = ?", []any{block}, &before)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return err
	}
	// Hashes after the first row's position belonged to deleted rows.
	hashes = append(hashes, before[:min(len(before), filled)]...)
	hashes = append(hashes, make([]byte, filled-len(hashes))...)
	var h hasher
	for i, op := range ops {
		r := op.(*row)
		for _, id := range [...]string{slotID: r.ID, slotRequest: r.RequestID, slotUpstream: r.UpstreamID} {
			hashes = binary.LittleEndian.AppendUint32(hashes, h.hash(r.Tenant, id))
		}
		if len(hashes) < blockSize && i < len(ops)-1 {
			continue
		}
		if _, err := tx.Exec(saveBlock, block, hashes); err != nil {
			return err
		}
		block, hashes = block+1, hashes[:0]
	}
	return nil
}

// identified calls visit with the tenant's records that have id in one of the slots, newest row
// first, until visit returns false.
func (l *Log) identified(ctx context.Context, tenant, id string, slots []int, visit func(seq int64, r Record) bool) error {
	var h hasher
	want := h.hash(tenant, id)
	for before := int64(math.MaxInt64); ; {
		block, seqs, err := l.nextBlock(ctx, before, want, slots)
		if err != nil || len(seqs) == 0 {
			return err
		}
		before = block
		for _, seq := range seqs {
			r, ok, err := l.at(ctx, tenant, seq)
			if err != nil {
				return err
			}
			ids := [...]string{slotID: r.ID, slotRequest: r.RequestID, slotUpstream: r.UpstreamID}
			for _, slot := range slots {
				if ok && ids[slot] == id {
					if !visit(seq, r) {
						return nil
					}
					break
				}
			}
		}
	}
}

// nextBlock returns the newest block before the given one that has the hash, and its rows with the
// hash, newest first.
func (l *Log) nextBlock(ctx context.Context, before int64, want uint32, slots []int) (block int64, seqs []int64, err error) {
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
func (l *Log) at(ctx context.Context, tenant string, seq int64) (r Record, ok bool, err error) {
	err = l.read(ctx, func(rows *sql.Rows) (bool, error) {
		_, err = r.scan(rows, tenant)
		ok = true
		return false, err
	}, rowAt, seq, tenant)
	return r, ok, err
}

package runtimekeys

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"time"
)

// keyColumns are those of a key in PostgreSQL and in the snapshot. Made is Record.Seq, seq is
// Record.Version, times are nanoseconds since 1970 (0: none), settings are JSON, and secrets are
//
//	32 bytes  the SHA-256
//	 8 bytes  the end of its grace, big endian; 0: it is the newest
//
// of each, the newest first.
const keyColumns = "id, made, seq, tenant, label, created_at, updated_at, made_with, settings, secrets"

const secretSize = len(Sum{}) + 8

// values returns the columns of a record.
func (r *Record) values() ([]any, error) {
	settings, err := json.Marshal(r.Settings)
	if err != nil {
		return nil, err
	}
	secrets := make([]byte, 0, len(r.Secrets)*secretSize)
	for _, s := range r.Secrets {
		secrets = append(secrets, s.Sum[:]...)
		secrets = binary.BigEndian.AppendUint64(secrets, uint64(nanoOf(s.Until)))
	}
	return []any{r.ID[:], r.Seq, r.Version, r.Tenant, r.Label, nanoOf(r.Created), nanoOf(r.Updated), r.MadeWith, string(settings), secrets}, nil
}

// scanRecord reads the columns of a record, and more that follow them.
func scanRecord(scan func(...any) error, more ...any) (r Record, err error) {
	var id, secrets []byte
	var created, updated int64
	var settings string
	columns := []any{&id, &r.Seq, &r.Version, &r.Tenant, &r.Label, &created, &updated, &r.MadeWith, &settings, &secrets}
	if err := scan(append(columns, more...)...); err != nil {
		return r, err
	}
	if len(id) != len(r.ID) || len(secrets)%secretSize != 0 {
		return r, fmt.Errorf("row of a key is damaged: id has %d bytes, want %d; secrets have %d, want a multiple of %d",
			len(id), len(r.ID), len(secrets), secretSize)
	}
	r.ID, r.Created, r.Updated = Sum(id), timeOf(created), timeOf(updated)
	if settings != "" { // that of a deleted key
		if err := json.Unmarshal([]byte(settings), &r.Settings); err != nil {
			return r, fmt.Errorf("the settings of the key %x: %w", id, err)
		}
	}
	for ; len(secrets) > 0; secrets = secrets[secretSize:] {
		until := int64(binary.BigEndian.Uint64(secrets[len(Sum{}):]))
		r.Secrets = append(r.Secrets, Secret{Sum(secrets[:len(Sum{})]), timeOf(until)})
	}
	return r, nil
}

// version is what a shared table says of a key: as it is now, or that it was deleted.
type version struct {
	key     *Key
	deleted bool
}

// batch is what was changed in a shared table.
type batch struct {
	versions []version
	upTo     int64 // all changes up to this number are in it, perhaps later ones too
	whole    bool  // it has all keys that exist, and none that were deleted
	back     bool  // the table was put back to an older state
}

// outcome is what a batch has changed. Before is nil for a new key, after for a deleted one.
type outcome struct{ before, after *Key }

// tombstoneLife is how long a deletion is told to those that follow the changes. Who was away for
// longer reads all keys.
const tombstoneLife = 7 * 24 * time.Hour

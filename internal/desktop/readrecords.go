package desktop

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
)

// ReadRecords returns the records of a storage, for a gateway that keeps them elsewhere from now on.
func ReadRecords(ctx context.Context, storage Storage) ([]StoredRecord, error) {
	keys, err := storage.List(ctx, storageDir, false)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("listing %s in the storage: %w", storageDir, err)
	}
	var records []StoredRecord
	for _, key := range keys {
		if !isRecordKey(key) {
			continue
		}
		value, err := storage.Load(ctx, key)
		if err != nil {
			return nil, fmt.Errorf("reading workstation record %s: %w", key, err)
		}
		r, err := decodeRecord(key, value)
		if err != nil {
			return nil, err
		}
		records = append(records, StoredRecord{ID: r.id(), Value: value, Released: !r.ReleasedAt.IsZero()})
	}
	return records, nil
}

package owners

import (
	"fmt"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/store"
)

const (
	MaxEntries  = maxEntries
	PruneBatch  = pruneBatch
	BatchEnd    = batchEnd
	DeleteBatch = deleteBatch
	DeleteRest  = deleteRest
)

// PruneBy is Prune with other bounds.
func PruneBy(now func() time.Time, batch, round int) store.PruneFunc { return prune(now, batch, round) }

// FillMemory removes everything from memory, without 65,536 rows in the database.
func (o *SQLiteOwners) FillMemory() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	for i := range maxEntries {
		o.put(key{"filler", fmt.Sprint(i)}, entry{"x", o.now().Add(time.Hour)})
	}
	for k := range o.entries {
		if k.provider != "filler" {
			return fmt.Errorf("%v is still in memory", k)
		}
	}
	return nil
}

// InMemory counts the entries.
func (o *SQLiteOwners) InMemory() int {
	o.mu.Lock()
	defer o.mu.Unlock()
	if len(o.order) != len(o.entries) {
		return -1
	}
	return len(o.entries)
}

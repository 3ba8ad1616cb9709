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
	return o.memory.fill(o.now())
}

// FillMemory removes everything from memory.
func (o *PostgresOwners) FillMemory() error { return o.memory.fill(o.config.Now()) }

func (m *memory) fill(now time.Time) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	for i := range maxEntries {
		m.put(key{"filler", fmt.Sprint(i)}, entry{"x", now.Add(time.Hour)})
	}
	for k := range m.entries {
		if k.provider != "filler" {
			return fmt.Errorf("%v is still in memory", k)
		}
	}
	return nil
}

// InMemory counts the entries.
func (o *SQLiteOwners) InMemory() int { return o.memory.size() }

// InMemory counts the entries.
func (o *PostgresOwners) InMemory() int { return o.memory.size() }

func (m *memory) size() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.order) != len(m.entries) {
		return -1
	}
	return len(m.entries)
}

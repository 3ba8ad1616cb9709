package sqlite

import (
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/store"
)

const (
	PruneBatch  = pruneBatch
	BatchEnd    = batchEnd
	DeleteBatch = deleteBatch
	DeleteRest  = deleteRest
)

// PruneBy is Prune with other bounds.
func PruneBy(now func() time.Time, batch, round int) store.PruneFunc { return prune(now, batch, round) }

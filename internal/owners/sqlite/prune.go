package sqlite

import (
	"database/sql"
	"errors"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/store"
)

const (
	// pruneBatch is how many rows one group of the writer looks at, about a millisecond's work, so
	// that pruning hardly delays a commit.
	pruneBatch = 1000
	// pruneRound is how many batches follow each other. A larger table is continued at the next
	// PruneInterval: with the default of a minute, one of ten million rows takes six hours.
	pruneRound = 30

	// batchEnd finds the last row of a batch after a key.
	batchEnd = "SELECT provider, id FROM owners WHERE (provider, id) > (?, ?) ORDER BY provider, id LIMIT 1 OFFSET ?"
	// deleteBatch and deleteRest delete the expired rows after a key.
	deleteBatch = deleteRest + " AND (provider, id) <= (?, ?)"
	deleteRest  = "DELETE FROM owners WHERE expires_at <= ? AND (provider, id) > (?, ?)"
)

type key struct{ provider, id string }

// Prune returns a store.PruneFunc that deletes expired rows. It goes through the table in the order
// of its key, again and again: an index of the expiry would make every new row dearer.
func Prune(now func() time.Time) store.PruneFunc { return prune(now, pruneBatch, pruneRound) }

func prune(now func() time.Time, batch, round int) store.PruneFunc {
	var after key // where the next batch begins
	batches := 0  // of this round
	return func(tx *store.Tx) (more bool, err error) {
		var end key
		err = tx.Get(batchEnd, []any{after.provider, after.id, batch - 1}, &end.provider, &end.id)
		switch {
		case err == nil:
			_, err = tx.Exec(deleteBatch, now().UnixNano(), after.provider, after.id, end.provider, end.id)
		case errors.Is(err, sql.ErrNoRows): // less than a batch is left
			_, err = tx.Exec(deleteRest, now().UnixNano(), after.provider, after.id)
		}
		if err != nil {
			return false, err
		}
		after = end
		if batches++; after == (key{}) || batches == round {
			batches = 0
			return false, nil
		}
		return true, nil
	}
}

package sqlite

import (
	"database/sql"
	"errors"
	"sync"
	"time"

	"go.uber.org/zap"

	"github.com/gatehouse-proxy/gatehouse/internal/activity"
	"github.com/gatehouse-proxy/gatehouse/internal/store"
)

const (
	nextTenant = "SELECT min(tenant) FROM activity WHERE tenant >= ?"
	oldestRow  = "SELECT min((SELECT min(created_at) FROM activity WHERE tenant = all_tenants.tenant)) FROM (" + allTenants + ") AS all_tenants"
	oldRows    = "SELECT seq FROM activity WHERE tenant = ? AND created_at < ? ORDER BY created_at LIMIT ?"
)

// pruneBatch is the size of one group of the writer, so that pruning delays a commit by one group
// at most.
const pruneBatch = 500

// Pruner deletes records whose retention has ended: its Prune is for store.Options.
type Pruner struct {
	now   func() time.Time
	guard *activity.ClockGuard

	// Used only by the store's writer: the tenant that is next by age, whether all are done, and
	// whether this round deletes nothing by age.
	tenant string
	aged   bool
	held   bool

	mu   sync.Mutex // guards the following
	keep activity.Retention
}

// NewPruner returns a pruner with the given retention.
func NewPruner(now func() time.Time, keep activity.Retention, logger *zap.Logger) *Pruner {
	p := &Pruner{now: now, guard: activity.NewClockGuard(logger)}
	p.Set(keep)
	return p
}

// Set changes the retention from the next batch on, after a reload.
func (p *Pruner) Set(keep activity.Retention) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.keep = keep.OrDefault()
}

// Prune deletes at most one batch: first by age, tenant after tenant, then by size, then sums.
// Before all that it completes the roll-up, so that no row is deleted that it does not have. Many
// days that are too old at once wait for an hour. It is a store.PruneFunc.
func (p *Pruner) Prune(tx *store.Tx) (more bool, err error) {
	if _, more, err := rollupStep(tx); more || err != nil {
		return more, err
	}
	p.mu.Lock()
	keep := p.keep
	p.mu.Unlock()
	if !p.aged {
		now := p.now()
		if p.tenant == "" {
			if p.held, err = p.holds(tx, now, keep.Age); err != nil {
				return false, err
			}
		}
		if p.aged = p.held; !p.held {
			p.aged, err = p.byAge(tx, now.Add(-keep.Age))
		}
		return err == nil, err
	}
	more, err = bySize(tx, keep.Size)
	if err == nil && !more && !p.held {
		oldest := p.now().Add(-keep.Series).UnixNano() / activity.Days.Unit
		more, err = deleteSums(tx, statementsOf[&activity.Hours].prune, statementsOf[&activity.Days].prune, oldest)
	}
	p.aged = more
	return more, err
}

// holds reports whether nothing is deleted by age yet; see [activity.ClockGuard].
func (p *Pruner) holds(tx *store.Tx, now time.Time, age time.Duration) (bool, error) {
	var oldest sql.NullInt64
	err := tx.Get(oldestRow, nil, &oldest)
	span := now.Add(-age).Sub(time.Unix(0, oldest.Int64))
	return err == nil && oldest.Valid && p.guard.Holds(now, span), err
}

// byAge uses the index that begins with the tenant: an index of the time alone would make every
// insert dearer.
func (p *Pruner) byAge(tx *store.Tx, before time.Time) (done bool, err error) {
	var tenant sql.NullString
	err = tx.Get(nextTenant, []any{p.tenant}, &tenant)
	if err != nil || !tenant.Valid {
		p.tenant = ""
		return err == nil, err
	}
	n, err := deleteRows(tx, oldRows, tenant.String, before.UnixNano(), pruneBatch)
	if err != nil {
		return false, err
	}
	p.tenant = tenant.String
	if n < pruneBatch {
		p.tenant += "\x00" // the next one in order
	}
	return false, nil
}

// bySize deletes the oldest rows while too many pages are in use.
func bySize(tx *store.Tx, size int64) (more bool, err error) {
	var used int64
	err = tx.Get("SELECT (page_count - freelist_count) * page_size FROM pragma_page_count, pragma_freelist_count, pragma_page_size", nil, &used)
	if err != nil || used <= size {
		return false, err
	}
	n, err := deleteRows(tx, "SELECT seq FROM activity ORDER BY seq LIMIT ?", pruneBatch)
	return n == pruneBatch, err
}

// deleteRows deletes the rows that a query selects, and their blocks of IDs once no row is left. It
// notes their last day for the roll-up, which keeps its sums.
func deleteRows(tx *store.Tx, seqs string, args ...any) (n int, err error) {
	rows, err := tx.Query("DELETE FROM activity WHERE seq IN ("+seqs+") RETURNING seq / ?, created_at / ?", append(args, blockRows, activity.Days.Unit)...)
	if err != nil {
		return 0, err
	}
	blocks := map[int64]bool{}
	last := int64(-1)
	for err == nil && rows.Next() {
		var block, day int64
		err = rows.Scan(&block, &day)
		blocks[block] = true
		last = max(last, day)
		n++
	}
	if err := errors.Join(err, rows.Err(), rows.Close()); err != nil || n == 0 {
		return 0, err
	}
	if _, err := tx.Exec(notePruned, last); err != nil {
		return 0, err
	}
	for block := range blocks {
		if _, err := tx.Exec(dropBlock, block, blockRows); err != nil {
			return 0, err
		}
	}
	return n, nil
}

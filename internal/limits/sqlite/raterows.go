package sqlite

import (
	"context"
	"fmt"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/limits"
	"github.com/gatehouse-proxy/gatehouse/internal/store"
)

// RateSchema has the table of long windows, for store.Options.
var RateSchema = store.Schema{
	Name: "rates",
	Steps: []string{`
		CREATE TABLE rate (
			subject    TEXT    NOT NULL,
			unit       TEXT    NOT NULL, -- requests, tokens
			window     TEXT    NOT NULL, -- h, day
			slot       INTEGER NOT NULL, -- since 1970; 60 a window
			count      INTEGER NOT NULL,
			expires_at INTEGER NOT NULL, -- nanoseconds since 1970
			PRIMARY KEY (subject, unit, window, slot)
		) WITHOUT ROWID;
		CREATE INDEX rate_expiry ON rate (expires_at);`,
	},
}

const (
	// keptFrom is the shortest window that is kept over a restart.
	keptFrom = time.Hour
	// pruneBatch is the size of one group of the writer, so that pruning delays a commit by one
	// group at most.
	pruneBatch = 500

	upsertRate = `INSERT INTO rate (subject, unit, window, slot, count, expires_at) VALUES (?, ?, ?, ?, ?, ?)
		ON CONFLICT (subject, unit, window, slot) DO UPDATE SET count = excluded.count`
	selectRates = "SELECT subject, unit, window, slot, count FROM rate"
	deleteRate  = "DELETE FROM rate WHERE subject = ? AND unit = ? AND window = ? AND slot = ?"
)

// rateRows writes the changed slots of one window. However often they change, one rateRows waits in
// the store at a time.
type rateRows struct {
	subject *rateSubject
	window  *window
	slots   uint64 // as window.dirty: the slots that a second Apply must write again
}

// toWrite notes that a slot has changed, and adds its window to writes unless that is queued already
// or is not kept. It must be called with the subject locked.
func (r *Rates) toWrite(writes []*rateRows, changed countedSlot) []*rateRows {
	w := changed.window
	w.dirty |= 1 << w.used.Place(changed.slot)
	if r.store == nil || w.used.Length() < keptFrom || w.queued {
		return writes
	}
	w.queued = true
	return append(writes, &rateRows{subject: changed.subject, window: w})
}

// write queues the result of toWrite. If the store takes nothing, it reports that itself; until it
// recovers, the windows are in memory only.
func (r *Rates) write(writes []*rateRows) {
	for _, op := range writes {
		if err := r.store.Submit(op); err != nil {
			op.subject.mu.Lock()
			op.window.queued = false
			op.subject.mu.Unlock()
		}
	}
}

func (op *rateRows) Droppable() bool { return false }

// Apply writes the current counts.
func (op *rateRows) Apply(tx *store.Tx) error {
	op.subject.mu.Lock()
	w := *op.window
	op.window.dirty, op.window.queued = 0, false
	op.subject.mu.Unlock()
	op.slots |= w.dirty
	first, last := w.used.Slots()
	for slot := first; slot <= last; slot++ {
		if op.slots&(1<<w.used.Place(slot)) == 0 {
			continue
		}
		count, leaves := w.used.At(slot)
		if _, err := tx.Exec(upsertRate, op.subject.name, w.unit.String(), limits.WindowName(w.used.Length()), slot, count, leaves); err != nil {
			return err
		}
	}
	return nil
}

// misdated deletes a row that is dated in the future. Its count moves to the current slot.
type misdated struct {
	subject, unit, window string
	slot                  int64
}

func (misdated) Droppable() bool { return false }

func (op misdated) Apply(tx *store.Tx) error {
	_, err := tx.Exec(deleteRate, op.subject, op.unit, op.window, op.slot)
	return err
}

// load reads the long windows from the store.
func (r *Rates) load(ctx context.Context, st *store.Store) error {
	if err := st.Flush(ctx); err != nil {
		return fmt.Errorf("reading the rates: %w", err)
	}
	var future []misdated
	var writes []*rateRows
	now := r.nanos()
	for rows, err := range store.Rows(ctx, st, selectRates) {
		if err != nil {
			return fmt.Errorf("reading the rates: %w", err)
		}
		var row misdated
		var count int64
		if err := rows.Scan(&row.subject, &row.unit, &row.window, &row.slot, &count); err != nil {
			return fmt.Errorf("reading the rates: %w", err)
		}
		rate, ok := keptRate(row.unit, row.window)
		if !ok {
			continue
		}
		s := r.subject(row.subject, 0)
		s.mu.Lock()
		w := s.window(rate)
		w.used.Advance(now)
		switch first, last := w.used.Slots(); {
		case row.slot > last:
			w.used.Add(last, max(count, 0))
			writes = r.toWrite(writes, countedSlot{s, w, last})
			future = append(future, row)
		case row.slot >= first:
			w.used.Add(row.slot, max(count, 0))
		}
		s.mu.Unlock()
	}
	for _, row := range future {
		if err := st.Submit(row); err != nil {
			return fmt.Errorf("correcting the rates: %w", err)
		}
	}
	r.write(writes)
	return nil
}

func keptRate(unit, name string) (limits.Rate, bool) {
	length, ok := limits.ParseWindow(name)
	for _, u := range []limits.Unit{limits.Requests, limits.Tokens} {
		if ok && length >= keptFrom && u.String() == unit {
			return limits.Rate{Unit: u, Window: length}, true
		}
	}
	return limits.Rate{}, false
}

// PruneRates returns a store.PruneFunc that deletes slots that have left their window.
func PruneRates(now func() time.Time) store.PruneFunc {
	return func(tx *store.Tx) (more bool, err error) {
		res, err := tx.Exec(`DELETE FROM rate WHERE (subject, unit, window, slot) IN (
			SELECT subject, unit, window, slot FROM rate WHERE expires_at <= ? ORDER BY expires_at LIMIT ?)`, now().UnixNano(), pruneBatch)
		if err != nil {
			return false, err
		}
		n, err := res.RowsAffected()
		return n == pruneBatch, err
	}
}

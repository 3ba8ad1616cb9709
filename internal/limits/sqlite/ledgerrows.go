package sqlite

import (
	"time"
	"unsafe"

	"github.com/gatehouse-proxy/gatehouse/internal/limits"
	"github.com/gatehouse-proxy/gatehouse/internal/store"
)

// LedgerSchema has the tables of the ledger, for store.Options.
var LedgerSchema = store.Schema{
	Name: "ledger",
	Redo: redoRows,
	Steps: []string{`
		CREATE TABLE ledger (
			subject TEXT    NOT NULL,
			budget  TEXT    NOT NULL, -- unit and period: usd/day, tokens/month, usd/total
			period  TEXT    NOT NULL, -- its first day in UTC; all
			spent   INTEGER NOT NULL, -- nano-USD, tokens
			version INTEGER NOT NULL, -- counts the calls in it
			PRIMARY KEY (subject, budget, period)
		) WITHOUT ROWID;
		CREATE INDEX ledger_period ON ledger (period);
		CREATE TABLE hold (
			call    TEXT    NOT NULL,
			subject TEXT    NOT NULL,
			budget  TEXT    NOT NULL,
			period  TEXT    NOT NULL,
			amount  INTEGER NOT NULL,
			at      INTEGER NOT NULL, -- when it was admitted, nanoseconds since 1970
			PRIMARY KEY (call, subject, budget)
		) WITHOUT ROWID;`,
	},
}

const (
	// addSpent stops at the largest integer, like limits.Plus.
	addSpent = `INSERT INTO ledger (subject, budget, period, spent, version) VALUES (?, ?, ?, ?, ?)
		ON CONFLICT (subject, budget, period) DO UPDATE SET version = version + excluded.version,
			spent = CASE WHEN spent > 9223372036854775807 - excluded.spent THEN 9223372036854775807 ELSE spent + excluded.spent END`
	insertReservation = "INSERT OR REPLACE INTO hold (call, subject, budget, period, amount, at) VALUES (?, ?, ?, ?, ?, ?)"
	deleteReservation = "DELETE FROM hold WHERE call = ?"

	// historyKept is how long ended periods stay in the database: thirteen months, for a comparison
	// with the last year.
	historyKept = 400 * limits.Day
)

// ledgerKey is the primary key of the table ledger.
type ledgerKey struct{ subject, budget, period string }

// openedCall is what a new call has reserved.
type openedCall struct {
	call    string
	at      int64 // Unix nanoseconds
	amounts []openedAmount
}

type openedAmount struct {
	key    ledgerKey
	amount int64
}

type spentRow struct {
	key    ledgerKey
	amount int64
	calls  int64
}

// ledgerRows holds the changes of one or several calls: ended calls, what they spent, and new
// calls. Neighbours in the queue are merged, so a call that begins and ends within one group leaves
// only its sum.
type ledgerRows struct {
	closed []string
	spent  []spentRow
	opened []openedCall
}

func (*ledgerRows) Droppable() bool { return false }

// Size does not count the names: the subjects hold them.
func (rows *ledgerRows) Size() int {
	size := int(unsafe.Sizeof(*rows)) + len(rows.spent)*int(unsafe.Sizeof(spentRow{})) + len(rows.opened)*int(unsafe.Sizeof(openedCall{}))
	for _, call := range rows.closed {
		size += int(unsafe.Sizeof(call)) + len(call)
	}
	for i := range rows.opened {
		size += len(rows.opened[i].call) + len(rows.opened[i].amounts)*int(unsafe.Sizeof(openedAmount{}))
	}
	return size
}

func (rows *ledgerRows) Apply(tx *store.Tx) error {
	for _, call := range rows.closed {
		if _, err := tx.Exec(deleteReservation, call); err != nil {
			return err
		}
	}
	for _, s := range rows.spent {
		if _, err := tx.Exec(addSpent, s.key.subject, s.key.budget, s.key.period, s.amount, s.calls); err != nil {
			return err
		}
	}
	for i := range rows.opened {
		c := &rows.opened[i]
		for _, a := range c.amounts {
			if _, err := tx.Exec(insertReservation, c.call, a.key.subject, a.key.budget, a.key.period, a.amount, c.at); err != nil {
				return err
			}
		}
	}
	return nil
}

func (rows *ledgerRows) ApplyBatch(tx *store.Tx, ops []store.Op) error {
	if len(ops) == 1 {
		return rows.Apply(tx)
	}
	all := make([]*ledgerRows, len(ops))
	for i, op := range ops {
		all[i] = op.(*ledgerRows)
	}
	return merge(all).Apply(tx)
}

// merge returns the sum of changes in order. It does not modify them.
func merge(all []*ledgerRows) *ledgerRows {
	sum := &ledgerRows{}
	opened := make(map[string]openedCall)
	spent := make(map[ledgerKey]int)
	for _, rows := range all {
		for _, call := range rows.closed {
			if _, ok := opened[call]; ok {
				delete(opened, call)
			} else {
				sum.closed = append(sum.closed, call)
			}
		}
		for _, s := range rows.spent {
			i, ok := spent[s.key]
			if !ok {
				i = len(sum.spent)
				spent[s.key] = i
				sum.spent = append(sum.spent, spentRow{key: s.key})
			}
			sum.spent[i].amount = limits.Plus(sum.spent[i].amount, s.amount)
			sum.spent[i].calls += s.calls
		}
		for _, c := range rows.opened {
			opened[c.call] = c
		}
	}
	for _, c := range opened {
		sum.opened = append(sum.opened, c)
	}
	return sum
}

// PruneLedger returns a store.PruneFunc that deletes periods that ended long ago. It never deletes
// the newest period of an account: that is the current one, or it keeps a clock that was set back
// from reopening an older one.
func PruneLedger(now func() time.Time) store.PruneFunc {
	return func(tx *store.Tx) (more bool, err error) {
		res, err := tx.Exec(`DELETE FROM ledger WHERE (subject, budget, period) IN (
			SELECT subject, budget, period FROM ledger AS old WHERE period < ? AND EXISTS (
				SELECT 1 FROM ledger WHERE subject = old.subject AND budget = old.budget AND period > old.period
			) ORDER BY period LIMIT ?)`, now().Add(-historyKept).UTC().Format(time.DateOnly), pruneBatch)
		if err != nil {
			return false, err
		}
		n, err := res.RowsAffected()
		return n == pruneBatch, err
	}
}

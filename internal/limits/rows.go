package limits

import (
	"time"
	"unsafe"

	"github.com/gatehouse-proxy/gatehouse/internal/store"
)

// LedgerSchema is the tables of the ledger, for store.Options.
var LedgerSchema = store.Schema{
	Room: "ledger",
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
	// addSpent stops at the largest number there is, as memory does.
	addSpent = `INSERT INTO ledger (subject, budget, period, spent, version) VALUES (?, ?, ?, ?, ?)
		ON CONFLICT (subject, budget, period) DO UPDATE SET version = version + excluded.version,
			spent = CASE WHEN spent > 9223372036854775807 - excluded.spent THEN 9223372036854775807 ELSE spent + excluded.spent END`
	insertHold = "INSERT OR REPLACE INTO hold (call, subject, budget, period, amount, at) VALUES (?, ?, ?, ?, ?, ?)"
	deleteHold = "DELETE FROM hold WHERE call = ?"

	// historyKept is how long periods that are over stay in the database: thirteen months, to compare with last year's.
	historyKept = 400 * Day
)

// ledgerKey names a row of the table ledger.
type ledgerKey struct{ subject, budget, period string }

func budgetName(u Unit, p Period) string { return u.String() + "/" + p.String() }

type holdRow struct {
	call   string
	key    ledgerKey
	amount int64
	at     int64
}

type spentRow struct {
	key    ledgerKey
	amount int64
	calls  int64
}

// ledgerRows is what one or several calls change: calls that ended, what they spent, calls that began. Neighbours are
// written as one: a call that begins and ends in one group leaves only its sum.
type ledgerRows struct {
	closed []string
	spent  []spentRow
	opened []holdRow
}

func (*ledgerRows) Droppable() bool { return false }

// Size leaves out the names, which the subjects hold.
func (rows *ledgerRows) Size() int {
	size := int(unsafe.Sizeof(*rows)) + len(rows.spent)*int(unsafe.Sizeof(spentRow{})) + len(rows.opened)*int(unsafe.Sizeof(holdRow{}))
	for _, call := range rows.closed {
		size += int(unsafe.Sizeof(call)) + len(call)
	}
	for _, h := range rows.opened {
		size += len(h.call)
	}
	return size
}

func (rows *ledgerRows) Apply(tx *store.Tx) error {
	for _, call := range rows.closed {
		if _, err := tx.Exec(deleteHold, call); err != nil {
			return err
		}
	}
	for _, s := range rows.spent {
		if _, err := tx.Exec(addSpent, s.key.subject, s.key.budget, s.key.period, s.amount, s.calls); err != nil {
			return err
		}
	}
	for _, h := range rows.opened {
		if _, err := tx.Exec(insertHold, h.call, h.key.subject, h.key.budget, h.key.period, h.amount, h.at); err != nil {
			return err
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

// merge returns the sum of changes in order. It leaves them as they are.
func merge(all []*ledgerRows) *ledgerRows {
	sum := &ledgerRows{}
	opened := make(map[string][]holdRow)
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
			sum.spent[i].amount = plus(sum.spent[i].amount, s.amount)
			sum.spent[i].calls += s.calls
		}
		for _, h := range rows.opened {
			opened[h.call] = append(opened[h.call], h)
		}
	}
	for _, holds := range opened {
		sum.opened = append(sum.opened, holds...)
	}
	return sum
}

// PruneLedger returns a store.PruneFunc that deletes periods that ended long ago, but never the newest of an account: it
// is the current one, or what keeps a clock that was set back from beginning an older one anew.
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

package shared

import (
	"context"
	"encoding/binary"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/gatehouse-proxy/gatehouse/internal/limits"
)

// receiptsSchema has what settlements have charged, call by call, for the last minutes. A gateway says
// its own settlements again from memory if the engine has lost them; those of a gateway that died
// meanwhile are here, in the same transaction as what they have added to the book. They are not logged
// by PostgreSQL: who dies, the engine's master and PostgreSQL would have to fail in the same minutes.
const receiptsSchema = `
	CREATE UNLOGGED TABLE ledger_receipts (
		node   text   NOT NULL,
		newest bigint NOT NULL, -- when the engine answered the last of them: its time, microseconds
		rows   bytea  NOT NULL  -- rows of BookTable, each after its length
	);
	ALTER TABLE ledger_receipts ALTER COLUMN rows SET STORAGE EXTERNAL;
	CREATE INDEX ledger_receipts_newest ON ledger_receipts (newest)`

const (
	// receiptsKept is how long receipts are of use: as long as the engine knows that a call has ended.
	receiptsKept = 5 * time.Minute
	// receiptsInterval is the time between two deletions of older ones.
	receiptsInterval = time.Minute
	// receiptsTimeout bounds a reading behind the fence: then money is open without them.
	receiptsTimeout = 2 * time.Second
	// clockSlack is how far the engine's clock may go back.
	clockSlack = time.Second
)

// receipt is a settlement that the engine has charged.
type receipt struct {
	call     string
	used     limits.Amount
	answered int64 // when the engine did so, its time in microseconds
	era      int64 // when its balances were loaded from the book last, in microseconds
}

// receipts are those of a transaction.
type receipts struct {
	newest int64
	rows   []byte
}

func (r *receipts) add(one *receipt, row []byte) {
	r.newest = max(r.newest, one.answered)
	r.rows = append(binary.AppendUvarint(r.rows, uint64(len(row))), row...)
}

func (r *receipts) write(b *pgx.Batch, node string) {
	if len(r.rows) > 0 {
		b.Queue("INSERT INTO ledger_receipts (node, newest, rows) VALUES ($1, $2, $3)", node, r.newest, r.rows)
	}
}

// receipts returns the settlements of a node ("": of all) that were answered after a time of the engine,
// the oldest first, as calls that can be sent again. Those of another era are in the balances that were
// loaded.
func (b *book) receipts(ctx context.Context, node string, era, after int64) (all []*call, err error) {
	rows, err := b.db.Pool().Query(ctx, "SELECT rows FROM ledger_receipts WHERE newest > $1 AND $2 IN (node, '') ORDER BY newest", after, node)
	if err != nil {
		return nil, err
	}
	var packed []byte
	_, err = pgx.ForEachRow(rows, []any{&packed}, func() error {
		for left := packed; len(left) > 0; {
			row, rest, ok := cutText(left, true)
			if !ok {
				return errRow
			}
			left = rest
			r, err := parseRow([]byte(row))
			if err != nil {
				return err
			}
			if r.receipt.answered > after && r.receipt.era == era {
				all = append(all, r.settled())
			}
		}
		return nil
	})
	return all, err
}

// settled returns the call of a receipt. Its hold is for an engine that knows nothing of the call: it
// says which accounts to charge.
func (r *bookRow) settled() *call {
	c := &call{id: r.receipt.call, used: r.receipt.used, answered: r.receipt.answered, state: ended}
	for i := range r.lines {
		b := &r.lines[i]
		unit, period, ok := limits.ParseBudgetName(b.budget)
		begins, ends, err := period.ParseName(b.period)
		if !ok || err != nil {
			continue // of another program
		}
		l := line{subject: b.subject, budget: limits.Budget{Unit: unit, Period: period}, begins: begins, ends: ends}
		l.account = accountOf(l.subject, l.budget)
		c.lines = append(c.lines, l)
		c.crashed = c.crashed || b.spent != c.used.Of(unit)
	}
	c.hold = string(appendHold(nil, time.Time{}, c.lines))
	return c
}

// dropReceipts deletes old ones, now and then.
func (b *book) dropReceipts(ctx context.Context, now time.Time) error {
	if now.Sub(b.dropped) < receiptsInterval {
		return nil
	}
	_, err := b.db.Pool().Exec(ctx, "DELETE FROM ledger_receipts WHERE newest < $1", now.Add(-receiptsKept).UnixMicro())
	if err == nil {
		b.dropped = now
	}
	return err
}

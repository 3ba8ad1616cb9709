package valkey

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/gatehouse-proxy/gatehouse/internal/limits"
	"github.com/gatehouse-proxy/gatehouse/internal/postgres"
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
	// receiptsBatch is how many rows go at once: a beat has a second.
	receiptsBatch = 2000
	// receiptsInterval is the time between two deletions of older ones.
	receiptsInterval = time.Minute
	// receiptsRows is how many rows are read at once: a busy gateway's of some seconds. A row has at
	// most the receipts of a batch of the writer.
	receiptsRows = 64
	// receiptsTimeout bounds one reading. Behind the fence money is then open without them.
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

var errReceipts = errors.New("reading settlements of others")

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

// receipts calls f with the settlements of a node ("": of all) that were answered after a time of the
// engine, the oldest first, as calls that can be sent again. Those of another era are in the balances
// that were loaded.
func (b *book) receipts(ctx context.Context, node string, era, after int64, f func([]*call) error) error {
	for at := (receiptsPage{newest: after + 1, row: "(0,0)"}); ; {
		all, more, err := b.nextReceipts(ctx, node, era, &at)
		if err != nil {
			return fmt.Errorf("%w: %w", errReceipts, postgres.Explain(err))
		}
		if err := f(slices.DeleteFunc(all, func(c *call) bool { return c.answered <= after })); err != nil || !more {
			return err
		}
	}
}

// receiptsPage is how far receipts were read.
type receiptsPage struct {
	newest int64
	row    string // its place in the table: two may be of the same time
}

// nextReceipts reads a page, and reports whether there may be more.
func (b *book) nextReceipts(ctx context.Context, node string, era int64, at *receiptsPage) (all []*call, more bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, receiptsTimeout)
	defer cancel()
	rows, err := b.db.Pool().Query(ctx, `SELECT newest, ctid::text AS place, rows FROM ledger_receipts
		WHERE (newest, ctid) > ($1, $2::text::tid) AND $3 IN (node, '') ORDER BY newest, ctid LIMIT $4`, at.newest, at.row, node, receiptsRows)
	if err != nil {
		return nil, false, err
	}
	var packed []byte
	tag, err := pgx.ForEachRow(rows, []any{&at.newest, &at.row, &packed}, func() error {
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
			if r.receipt.era == era {
				all = append(all, r.settled())
			}
		}
		return nil
	})
	return all, tag.RowsAffected() == receiptsRows, err
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
	gone, err := b.db.Pool().Exec(ctx, `DELETE FROM ledger_receipts WHERE ctid IN (
		SELECT ctid FROM ledger_receipts WHERE newest < $1 ORDER BY newest LIMIT $2 FOR UPDATE SKIP LOCKED)`, now.Add(-receiptsKept).UnixMicro(), receiptsBatch)
	if err == nil && gone.RowsAffected() < receiptsBatch { // else the next beat goes on
		b.dropped = now
	}
	return err
}

package valkey

import (
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/gatehouse-proxy/gatehouse/internal/limits"
	"github.com/gatehouse-proxy/gatehouse/internal/postgres"
)

// PostgresSchema has the book: what was spent, in the words of the ledger of a single gateway.
var PostgresSchema = postgres.Schema{Name: "ledger", Steps: []string{`
	CREATE TABLE ledger (
		subject text   NOT NULL,
		budget  text   NOT NULL, -- unit and period: usd/day, tokens/month, usd/total
		period  text   NOT NULL, -- its first day in UTC; all
		spent   bigint NOT NULL, -- nano-USD, tokens
		calls   bigint NOT NULL,
		PRIMARY KEY (subject, budget, period)
	);
	CREATE INDEX ledger_period ON ledger (period);
	CREATE TABLE ledger_crash ( -- calls that were charged because their gateway died
		call text        NOT NULL PRIMARY KEY,
		at   timestamptz NOT NULL DEFAULT now()
	)`, receiptsSchema}}

// bookName is the name of BookTable.
const bookName = "ledger"

// BookTable adds to the book, for the postgres.Writer of a node. A row is what one call was charged.
func BookTable(node string) postgres.Table {
	return postgres.Table{Name: bookName, Kept: true, Write: func(ctx context.Context, tx pgx.Tx, rows [][]byte) error {
		return writeBook(ctx, tx, node, rows)
	}}
}

// bookLine is what a call adds to an account of the book.
type bookLine struct {
	subject, budget, period string
	spent, calls            int64 // negative if a crash was charged more than the call used
}

func (l *bookLine) compare(other *bookLine) int {
	return cmp.Or(cmp.Compare(l.subject, other.subject), cmp.Compare(l.budget, other.budget), cmp.Compare(l.period, other.period))
}

// book is what was spent, in PostgreSQL.
type book struct {
	writer  Writer
	db      *postgres.DB
	pruned  time.Time // used by prune
	dropped time.Time // used by dropReceipts
}

// charge writes what a settlement has charged. After a crash the book has what was reserved.
func (b *book) charge(c *call, lines []line) {
	if !c.charged {
		return
	}
	var all []bookLine
	for i := range lines {
		l := &lines[i]
		one := l.booked(c.used.Of(l.budget.Unit), 1)
		if c.crashed {
			reserved := l.booked(l.amount, 1)
			one.spent, one.calls = one.spent-reserved.spent, one.calls-reserved.calls
		}
		if one.spent != 0 || one.calls != 0 {
			all = append(all, one)
		}
	}
	if len(all) > 0 {
		b.writer.Append(bookName, appendRow(nil, &bookRow{receipt: receipt{c.id, c.used, c.answered, c.era}, lines: all}))
	}
}

// booked is what an amount adds to the book, or takes from it.
func (l *line) booked(amount, sign int64) bookLine {
	return bookLine{l.subject, l.budget.Name(), l.budget.Period.Name(l.begins), sign * amount, sign * min(amount, 1)}
}

// crash writes that a call was charged what it had reserved. It may be written again.
func (b *book) crash(id string, lines []line) { b.reserved(id, lines, 1) }

// uncrash takes back what crash has written, now or later: the settlement of the call is in the book
// too. It may be written again, and if no crash was written.
func (b *book) uncrash(id string, lines []line) { b.reserved(id+hasSettled, lines, -1) }

func (b *book) reserved(crash string, lines []line, sign int64) {
	all := make([]bookLine, len(lines))
	for i := range lines {
		all[i] = lines[i].booked(lines[i].amount, sign)
	}
	b.writer.Append(bookName, appendRow(nil, &bookRow{crash: crash, lines: all}))
}

// hasSettled is behind the call in a row that takes its crash back.
const hasSettled = " has settled"

// bookRow is what one call adds to the book.
type bookRow struct {
	crash   string // the call, if it was charged because its gateway died
	receipt receipt
	lines   []bookLine
}

// The first byte of a row of the book says what is before its lines: in rowVersion the call, "" unless
// it has crashed; in receiptVersion what a receipt has. Each line has
// subject, budget, period, spent, calls. A text follows its length; numbers are varints, signed but for
// lengths. Programs from before receipts write rowVersion, which may wait on disk.
const rowVersion, receiptVersion = 1, 2

func appendRow(b []byte, r *bookRow) []byte {
	if r.receipt.call == "" {
		b = appendText(append(b, rowVersion), r.crash)
	} else {
		b = appendText(append(b, receiptVersion), r.receipt.call)
		for _, n := range []int64{r.receipt.used.Nano, r.receipt.used.Tokens, r.receipt.answered, r.receipt.era} {
			b = binary.AppendVarint(b, n)
		}
	}
	for i := range r.lines {
		l := &r.lines[i]
		b = appendText(appendText(appendText(b, l.subject), l.budget), l.period)
		b = binary.AppendVarint(binary.AppendVarint(b, l.spent), l.calls)
	}
	return b
}

func appendText(b []byte, text string) []byte {
	return append(binary.AppendUvarint(b, uint64(len(text))), text...)
}

var errRow = errors.New("a row of the ledger cannot be read")

// parseRow reads what appendRow wrote.
func parseRow(row []byte) (r bookRow, err error) {
	if len(row) == 0 {
		return r, errRow
	}
	left, ok := row[1:], true
	text := func() (piece string) {
		piece, left, ok = cutText(left, ok)
		return piece
	}
	amount := func() int64 {
		n, size := binary.Varint(left)
		if size <= 0 {
			ok, left = false, nil
			return 0
		}
		left = left[size:]
		return n
	}
	switch row[0] {
	case rowVersion:
		r.crash = text()
	case receiptVersion:
		r.receipt = receipt{text(), limits.Amount{Nano: amount(), Tokens: amount()}, amount(), amount()}
		ok = ok && r.receipt.call != ""
	default:
		return r, errRow
	}
	for ok && len(left) > 0 {
		r.lines = append(r.lines, bookLine{text(), text(), text(), amount(), amount()})
	}
	if !ok {
		return bookRow{}, errRow
	}
	return r, nil
}

// cutText cuts a text after its length off, if all before was right.
func cutText(b []byte, right bool) (piece string, left []byte, ok bool) {
	n, size := binary.Uvarint(b)
	if !right || size <= 0 || n > uint64(len(b)-size) {
		return "", nil, false
	}
	return string(b[size : size+int(n)]), b[size+int(n):], true
}

// storable makes a text one that PostgreSQL takes.
func storable(text string) string {
	return strings.ReplaceAll(strings.ToValidUTF8(text, "\uFFFD"), "\x00", "\uFFFD")
}

func writeBook(ctx context.Context, tx pgx.Tx, node string, rows [][]byte) error {
	var all []bookLine
	var receipts receipts
	crashes := make(map[string][]bookLine)
	for _, row := range rows {
		r, err := parseRow(row)
		if err != nil {
			return err
		}
		if r.receipt.call != "" {
			receipts.add(&r.receipt, row)
		}
		for i := range r.lines {
			r.lines[i].subject = storable(r.lines[i].subject)
		}
		if r.crash == "" {
			all = append(all, r.lines...)
		} else {
			crashes[storable(r.crash)] = r.lines
		}
	}
	first, err := firstCrashes(ctx, tx, crashes)
	if err != nil {
		return err
	}
	var one pgx.Batch
	receipts.write(&one, node)
	addToBook(&one, sum(append(all, first...)))
	return tx.SendBatch(ctx, &one).Close()
}

// firstCrashes returns the lines of the crashes that are not in the book, and of those that are taken
// back. A crash whose call has settled is never written: one row of the table stands for both, so it
// does not matter which of them comes first.
func firstCrashes(ctx context.Context, tx pgx.Tx, crashes map[string][]bookLine) (all []bookLine, err error) {
	if len(crashes) == 0 {
		return nil, nil
	}
	ids := make([]string, 0, len(crashes))
	for id := range crashes {
		ids = append(ids, id)
		if call, ok := strings.CutSuffix(id, hasSettled); ok && crashes[call] == nil {
			ids = append(ids, call)
		}
	}
	slices.Sort(ids)
	rows, err := tx.Query(ctx, "INSERT INTO ledger_crash (call) SELECT unnest($1::text[]) ON CONFLICT DO NOTHING RETURNING call", ids)
	if err != nil {
		return nil, err
	}
	written, err := pgx.CollectRows(rows, pgx.RowTo[string])
	for _, id := range written {
		call, takenBack := strings.CutSuffix(id, hasSettled)
		if takenBack && crashes[call] == nil && slices.Contains(written, call) {
			continue // there was no crash, and none will be written
		}
		all = append(all, crashes[id]...)
	}
	return all, err
}

// sum adds lines of the same account and sorts them.
func sum(all []bookLine) []bookLine {
	slices.SortFunc(all, func(a, b bookLine) int { return a.compare(&b) })
	var sums []bookLine
	for _, l := range all {
		if n := len(sums); n > 0 && sums[n-1].compare(&l) == 0 {
			sums[n-1].spent += l.spent
			sums[n-1].calls += l.calls
			continue
		}
		sums = append(sums, l)
	}
	return sums
}

// addToBook adds lines that are sorted: gateways that wait for one another's rows do so in one order.
func addToBook(b *pgx.Batch, all []bookLine) {
	if len(all) == 0 {
		return
	}
	var subjects, budgets, periods []string
	var spent, calls []int64
	for _, l := range all {
		subjects, budgets, periods = append(subjects, l.subject), append(budgets, l.budget), append(periods, l.period)
		spent, calls = append(spent, l.spent), append(calls, l.calls)
	}
	b.Queue(`INSERT INTO ledger (subject, budget, period, spent, calls)
		SELECT * FROM unnest($1::text[], $2::text[], $3::text[], $4::bigint[], $5::bigint[])
		ON CONFLICT (subject, budget, period) DO UPDATE SET
			spent = least(ledger.spent::numeric + excluded.spent, 9223372036854775807)::bigint,
			calls = ledger.calls + excluded.calls`, subjects, budgets, periods, spent, calls)
}

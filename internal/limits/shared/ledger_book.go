package shared

import (
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

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
	)`}}

// bookName is the name of BookTable.
const bookName = "ledger"

// BookTable adds to the book, for a postgres.Writer. A row is what one call was charged.
var BookTable = postgres.Table{Name: bookName, Write: writeBook, Kept: true}

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
	writer Writer
	db     *postgres.DB
	pruned time.Time // used by prune
}

// charge writes what a settlement has charged. After a crash the book has what was reserved.
func (b *book) charge(c *call, lines []line, afterCrash bool) {
	if !c.charged {
		return
	}
	var all []bookLine
	for i := range lines {
		l := &lines[i]
		used := c.used.Of(l.budget.Unit)
		one := bookLine{l.subject, l.budget.Name(), l.budget.Period.Name(l.begins), used, counted(used)}
		if afterCrash {
			one.spent, one.calls = one.spent-l.amount, one.calls-counted(l.amount)
		}
		if one.spent != 0 || one.calls != 0 {
			all = append(all, one)
		}
	}
	if len(all) > 0 {
		b.writer.Append(bookName, appendRow(nil, "", all))
	}
}

// crash writes that a call was charged what it had reserved. It may be written again.
func (b *book) crash(id string, lines []line) {
	all := make([]bookLine, 0, len(lines))
	for i := range lines {
		l := &lines[i]
		all = append(all, bookLine{l.subject, l.budget.Name(), l.budget.Period.Name(l.begins), l.amount, counted(l.amount)})
	}
	b.writer.Append(bookName, appendRow(nil, id, all))
}

// counted is 1 for a call that costs something.
func counted(amount int64) int64 { return min(amount, 1) }

// rowVersion is the first byte of a row of the book. Behind it are the call ("" unless it has crashed)
// and for each line subject, budget, period, spent, calls. A text follows its length; numbers are
// varints, signed but for lengths.
const rowVersion = 1

func appendRow(b []byte, crash string, lines []bookLine) []byte {
	b = appendText(append(b, rowVersion), crash)
	for i := range lines {
		l := &lines[i]
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
func parseRow(row []byte) (crash string, lines []bookLine, err error) {
	if len(row) == 0 || row[0] != rowVersion {
		return "", nil, errRow
	}
	left, ok := row[1:], true
	text := func() string {
		n, size := binary.Uvarint(left)
		if size <= 0 || n > uint64(len(left)-size) {
			ok, left = false, nil
			return ""
		}
		piece := string(left[size : size+int(n)])
		left = left[size+int(n):]
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
	crash = text()
	for ok && len(left) > 0 {
		lines = append(lines, bookLine{text(), text(), text(), amount(), amount()})
	}
	if !ok {
		return "", nil, errRow
	}
	return crash, lines, nil
}

// storable makes a text one that PostgreSQL takes.
func storable(text string) string {
	return strings.ReplaceAll(strings.ToValidUTF8(text, "\uFFFD"), "\x00", "\uFFFD")
}

func writeBook(ctx context.Context, tx pgx.Tx, rows [][]byte) error {
	var all []bookLine
	crashes := make(map[string][]bookLine)
	for _, row := range rows {
		crash, lines, err := parseRow(row)
		if err != nil {
			return err
		}
		for i := range lines {
			lines[i].subject = storable(lines[i].subject)
		}
		if crash == "" {
			all = append(all, lines...)
		} else {
			crashes[storable(crash)] = lines
		}
	}
	first, err := firstCrashes(ctx, tx, crashes)
	if err != nil {
		return err
	}
	return addToBook(ctx, tx, sum(append(all, first...)))
}

// firstCrashes returns the lines of the crashes that are not in the book.
func firstCrashes(ctx context.Context, tx pgx.Tx, crashes map[string][]bookLine) (all []bookLine, err error) {
	if len(crashes) == 0 {
		return nil, nil
	}
	ids := make([]string, 0, len(crashes))
	for id := range crashes {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	rows, err := tx.Query(ctx, "INSERT INTO ledger_crash (call) SELECT unnest($1::text[]) ON CONFLICT DO NOTHING RETURNING call", ids)
	if err != nil {
		return nil, err
	}
	written, err := pgx.CollectRows(rows, pgx.RowTo[string])
	for _, id := range written {
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
func addToBook(ctx context.Context, tx pgx.Tx, all []bookLine) error {
	if len(all) == 0 {
		return nil
	}
	var subjects, budgets, periods []string
	var spent, calls []int64
	for _, l := range all {
		subjects, budgets, periods = append(subjects, l.subject), append(budgets, l.budget), append(periods, l.period)
		spent, calls = append(spent, l.spent), append(calls, l.calls)
	}
	_, err := tx.Exec(ctx, `INSERT INTO ledger (subject, budget, period, spent, calls)
		SELECT * FROM unnest($1::text[], $2::text[], $3::text[], $4::bigint[], $5::bigint[])
		ON CONFLICT (subject, budget, period) DO UPDATE SET
			spent = least(ledger.spent::numeric + excluded.spent, 9223372036854775807)::bigint,
			calls = ledger.calls + excluded.calls`, subjects, budgets, periods, spent, calls)
	return err
}

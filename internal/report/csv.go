package report

import (
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/gatehouse-proxy/gatehouse/internal/activity"
	"github.com/gatehouse-proxy/gatehouse/internal/openrouter"
)

const (
	// ExportTimeout bounds how long an export may take. A reader that is slower gets a part of it.
	ExportTimeout = 5 * time.Minute
	// maxExport bounds the rows of an export: what a spreadsheet can open.
	maxExport = 1_000_000
)

// errExport means that an export has more rows than maxExport.
var errExport = errors.New("more than 1000000 rows: ask for less time, or for pages with limit and cursor")

// CSV is a table as RFC 4180 has it: a line of names, then the rows.
type CSV struct {
	names []string
	rows  func(ctx context.Context, row func(cells []string) error) error
}

// Write writes the table. A row is written before the next one is read. An error means that the
// table is cut off: the caller must not let it look whole.
func (c *CSV) Write(ctx context.Context, w io.Writer) error {
	ctx, cancel := context.WithTimeout(ctx, ExportTimeout)
	defer cancel()
	out := csv.NewWriter(w)
	out.UseCRLF = true
	if err := out.Write(c.names); err != nil {
		return err
	}
	err := c.rows(ctx, func(cells []string) error {
		if err := ctx.Err(); err != nil {
			return err
		}
		return out.Write(cells)
	})
	out.Flush()
	return errors.Join(err, out.Error())
}

// column is a column of a table of rows of type T.
type column[T any] struct {
	name string
	cell func(*T) string
}

func names[T any](columns []column[T]) (all []string) {
	for _, c := range columns {
		all = append(all, c.name)
	}
	return all
}

// fill sets cells to the cells of a row.
func fill[T any](columns []column[T], row *T, cells []string) []string {
	cells = cells[:0]
	for _, c := range columns {
		cells = append(cells, c.cell(row))
	}
	return cells
}

// csvOf is a table of rows that are in memory.
func csvOf[T any](columns []column[T], rows []T) Answer {
	return Answer{CSV: &CSV{names(columns), func(_ context.Context, row func([]string) error) error {
		var cells []string
		for i := range rows {
			cells = fill(columns, &rows[i], cells)
			if err := row(cells); err != nil {
				return err
			}
		}
		return nil
	}}}
}

// exportCalls is a table of calls, read in pages: a slow reader holds no connection of the database.
// With limited it has one page.
func exportCalls(ctx context.Context, log activity.Log, filter activity.Filter, limited bool) (Answer, error) {
	if !limited {
		filter.Limit = activity.MaxLimit
	}
	page, err := log.Query(ctx, filter) // a failure of the first page is an error instead of a table
	if err != nil {
		return Answer{}, refusal(err)
	}
	return Answer{CSV: &CSV{names(callColumns), func(ctx context.Context, row func([]string) error) error {
		var cells []string
		for n := 0; ; {
			for i := range page.Records {
				if n++; n > maxExport {
					return errExport
				}
				cells = fill(callColumns, &page.Records[i], cells)
				if err := row(cells); err != nil {
					return err
				}
			}
			if filter.Cursor = page.Next; filter.Cursor == "" || limited {
				return nil
			}
			if page, err = log.Query(ctx, filter); err != nil {
				return fmt.Errorf("reading the next rows: %w", err)
			}
		}
	}}}, nil
}

// text is a cell that peers or an operator have named. A spreadsheet takes one that begins like a
// formula for a formula, so it gets an apostrophe in front (OWASP, CSV injection).
func text(s string) string {
	if first, size := utf8.DecodeRuneInString(s); size > 0 && strings.ContainsRune("=+-@\t\r\n＝＋－＠", first) {
		return "'" + s
	}
	return s
}

func money(nano int64) string { return string(openrouter.AppendUSD(nil, nano)) }

// milliseconds is empty for a duration that was not measured.
func milliseconds(d time.Duration) string {
	if d <= 0 {
		return ""
	}
	text, _ := openrouter.FractionMilliseconds(d).AppendText(nil)
	return string(text)
}

func timestamp(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000Z") }

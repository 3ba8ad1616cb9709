package sqlite

import (
	"slices"
	"strings"

	"github.com/gatehouse-proxy/gatehouse/internal/activity"
	"github.com/gatehouse-proxy/gatehouse/internal/store"
)

// inserts are the statements that write rows, the largest first: each is prepared once. A larger one
// would not be cheaper, because the driver searches all values of a statement for each parameter.
var inserts = [...]insert{makeInsert(maxRows), makeInsert(4), makeInsert(1)}

type insert struct {
	rows  int
	query string
}

const (
	maxRows      = 16
	valuesPerRow = 3
)

func makeInsert(rows int) insert {
	const values = "(?, ?, ?)"
	return insert{rows, "INSERT OR FAIL INTO activity (tenant, created_at, data) VALUES " + strings.Repeat(values+", ", rows-1) + values}
}

// rowWriter writes rows of one transaction.
type rowWriter struct {
	tx     *store.Tx
	recent *recent
	sums   *activity.RollUp
	args   [maxRows * valuesPerRow]any
	rows   [maxRows]*row // that wait in args
	n      int
}

// write adds the rows of g, also to the sums, and writes those that fill a statement.
func (w *rowWriter) write(g *group) error {
	start := 0
	for i := range g.rows {
		r := &g.rows[i]
		values := w.args[w.n*valuesPerRow:]
		if w.n > 0 && w.rows[w.n-1].tenant == r.tenant {
			values[0] = w.args[(w.n-1)*valuesPerRow] // the same value: no allocation
		} else {
			values[0] = r.tenant
		}
		data := g.data[start:r.end]
		values[1], values[2] = r.created, data
		if err := w.sums.Add(r.tenant, r.created, data); err != nil {
			return err
		}
		w.rows[w.n] = r
		w.n++
		start = r.end
		if w.n == maxRows {
			if err := w.flush(); err != nil {
				return err
			}
		}
	}
	return nil
}

// flush writes the rows that wait.
func (w *rowWriter) flush() error {
	for done := 0; done < w.n; {
		insert := inserts[slices.IndexFunc(inserts[:], func(i insert) bool { return i.rows <= w.n-done })]
		result, err := w.tx.Exec(insert.query, w.args[done*valuesPerRow:(done+insert.rows)*valuesPerRow]...)
		if err != nil {
			return err
		}
		last, err := result.LastInsertId()
		if err != nil {
			return err
		}
		for i, r := range w.rows[done : done+insert.rows] {
			if err := w.recent.add(w.tx, last-int64(insert.rows-1-i), r.ids); err != nil {
				return err
			}
		}
		done += insert.rows
	}
	w.n = 0
	return nil
}

package activity

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"
)

// Series are sums over time, one for each value of a field. Those with the least cost are added up in
// Other.
type Series struct {
	Query  SeriesQuery // as asked, with defaults
	Series []Line      // by cost, then requests, the greatest first
	Other  *Line       // nil if there are no more
	Others int         // how many series Other has
	All    Line        // of everything
	// Complete is false while older rows are still added: sums may be too small.
	Complete bool
}

// Line is one series. Points without requests are left out.
type Line struct {
	Name   string
	Total  Point
	Points []Point
}

// Point is an hour or a day, or the whole time of a query.
type Point struct {
	Start time.Time // UTC
	Sums
	// Durations are of calls that were sent to a provider, and ended without a code unless the query
	// is by code or for a code.
	Duration, FirstToken, PerToken, Overhead Percentiles
}

// accumulator sums rows of the roll-up.
type accumulator struct {
	sums  Sums
	hists [numHists]histogram
}

// add adds a row: its sums and encoded histograms.
func (a *accumulator) add(s *Sums, hists []byte) error {
	a.sums.add(s)
	for i := 0; i < numHists && hists != nil; i++ {
		var ok bool
		if hists, ok = a.hists[i].add(hists); !ok {
			return errDamaged
		}
	}
	return nil
}

// point returns what was added, and begins again.
func (a *accumulator) point(start time.Time) Point {
	p := Point{Start: start, Sums: a.sums}
	for i, to := range []*Percentiles{histDuration: &p.Duration, histFirstToken: &p.FirstToken, histPerToken: &p.PerToken, histOverhead: &p.Overhead} {
		*to = a.hists[i].percentiles()
		a.hists[i].reset()
	}
	a.sums = Sums{}
	return p
}

// lineBuilder makes a Line from rows in the order of time.
type lineBuilder struct {
	line       Line
	now, total accumulator
}

func (b *lineBuilder) add(s *Sums, hists []byte) error {
	if err := b.total.add(s, hists); err != nil {
		return err
	}
	return b.now.add(s, hists)
}

// next ends a point.
func (b *lineBuilder) next(start time.Time) {
	if b.now.sums.Requests > 0 {
		b.line.Points = append(b.line.Points, b.now.point(start))
	}
}

func (b *lineBuilder) end(start time.Time) Line {
	b.line.Total = b.total.point(start)
	return b.line
}

// Series answers from the roll-up. Errors: *ParamError, the store's, context.DeadlineExceeded after
// ten seconds.
func (l *Log) Series(ctx context.Context, q SeriesQuery) (Series, error) {
	if err := q.check(); err != nil {
		return Series{}, err
	}
	ctx, cancel, err := l.ask(ctx)
	defer cancel()
	if err != nil {
		return Series{}, err
	}
	var s Series
	err = l.snapshot(ctx, func(tx *sql.Tx, state rollupState) error {
		top, others, err := topNames(ctx, tx, &q)
		if err != nil {
			return err
		}
		s, err = readSeries(ctx, tx, &q, top)
		s.Query, s.Others, s.Complete = q, others, state.complete()
		return err
	})
	if err != nil {
		return Series{}, fmt.Errorf("reading the series: %w", l.store.Explain(err))
	}
	return s, nil
}

// snapshot calls read with a transaction that sees the roll-up and the rows as of one commit.
func (l *Log) snapshot(ctx context.Context, read func(*sql.Tx, rollupState) error) error {
	tx, err := l.store.Reader().BeginTx(ctx, &sql.TxOptions{ReadOnly: true})
	if err != nil {
		return err
	}
	var state rollupState
	err = tx.QueryRowContext(ctx, getRollup).Scan(&state.next, &state.upto, &state.clearing, &state.pruned)
	if err == nil {
		err = read(tx, state)
	}
	return errors.Join(err, tx.Rollback())
}

// topNames returns the names of the series with the greatest cost, and how many there are besides.
func topNames(ctx context.Context, tx *sql.Tx, q *SeriesQuery) (top []string, others int, err error) {
	type total struct {
		name string
		sums Sums
	}
	totals := map[string]*total{}
	for _, part := range parts(q.From, q.To) {
		err = q.rows(ctx, tx, part, func(_ int64, name []byte, s *Sums, _ []byte) error {
			t := totals[string(name)]
			if t == nil {
				t = &total{name: string(name)}
				totals[t.name] = t
			}
			t.sums.add(s)
			return nil
		})
		if err != nil {
			return nil, 0, err
		}
	}
	all := make([]*total, 0, len(totals))
	for _, t := range totals {
		all = append(all, t)
	}
	slices.SortFunc(all, func(a, b *total) int {
		return cmp.Or(cmp.Compare(b.sums.CostNano, a.sums.CostNano), cmp.Compare(b.sums.Requests, a.sums.Requests), cmp.Compare(a.name, b.name))
	})
	for _, t := range all[:min(len(all), q.Top)] {
		top = append(top, t.name)
	}
	return top, len(all) - len(top), nil
}

// readSeries makes the points of the series, and of all others together.
func readSeries(ctx context.Context, tx *sql.Tx, q *SeriesQuery, top []string) (s Series, err error) {
	builders := make([]lineBuilder, len(top)+2) // the series, the others, all
	other, all := &builders[len(top)], &builders[len(top)+1]
	byName := make(map[string]*lineBuilder, len(top))
	for i, name := range top {
		builders[i].line.Name = name
		byName[name] = &builders[i]
	}
	l := &hours
	if q.Step == days.unit {
		l = &days
	}
	current := int64(math.MinInt64)
	next := func() {
		for i := range builders {
			builders[i].next(time.Unix(0, current*l.unit).UTC())
		}
	}
	err = q.rows(ctx, tx, span{l, q.From.UnixNano() / l.unit, q.To.UnixNano() / l.unit}, func(start int64, name []byte, sums *Sums, hists []byte) error {
		if start != current {
			next()
			current = start
		}
		b := byName[string(name)]
		if b == nil {
			b = other
		}
		if sums.Errors > 0 && !q.byCode() { // how long refusals and failures take hides how long answers do
			hists = nil
		}
		return errors.Join(b.add(sums, hists), all.add(sums, hists))
	})
	if err != nil {
		return Series{}, err
	}
	next()
	for i := range top {
		s.Series = append(s.Series, builders[i].end(q.From))
	}
	if line := other.end(q.From); line.Total.Requests > 0 {
		s.Other = &line
	}
	s.All = all.end(q.From)
	return s, nil
}

// span is a part of a time that one table has: from start to before end.
type span struct {
	*level
	start, end int64
}

// parts returns the tables that together have a time between whole hours: whole days, and the hours
// before and after them.
func parts(from, to time.Time) (all []span) {
	perDay := days.unit / hours.unit
	start, end := from.UnixNano()/hours.unit, to.UnixNano()/hours.unit
	firstDay, lastDay := (start+perDay-1)/perDay, end/perDay
	if firstDay >= lastDay {
		return []span{{&hours, start, end}}
	}
	for _, s := range []span{{&hours, start, firstDay * perDay}, {&days, firstDay, lastDay}, {&hours, lastDay * perDay, end}} {
		if s.start < s.end {
			all = append(all, s)
		}
	}
	return all
}

package activity

import (
	"cmp"
	"context"
	"math"
	"slices"
	"time"
)

// series are sums over time, one for each value of a field. Those with the least cost are added up in
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
	hists histograms
}

func (a *accumulator) merge(b *accumulator) {
	a.sums.add(&b.sums)
	for i := range a.hists {
		a.hists[i].merge(&b.hists[i])
	}
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

// next ends a point: it is added to the total, and to the point of all series.
func (b *lineBuilder) next(start time.Time, all *accumulator) {
	if b.now.sums.Requests == 0 {
		return
	}
	b.total.merge(&b.now)
	if all != nil {
		all.merge(&b.now)
	}
	b.line.Points = append(b.line.Points, b.now.point(start))
}

func (b *lineBuilder) end(start time.Time) Line {
	b.line.Total = b.total.point(start)
	return b.line
}

// series sums over time. Errors: *ParamError, the store's, context.DeadlineExceeded after
// ten seconds.
func (u sumReader) series(ctx context.Context, q SeriesQuery) (Series, error) {
	if err := q.check(); err != nil {
		return Series{}, err
	}
	if s, ok := u.recent.find(&q); ok {
		return s, nil
	}
	var s Series
	err := u.log.snapshot(ctx, func(ctx context.Context, at snapshot) error {
		top, others, err := topNames(ctx, at, &q)
		if err != nil {
			return err
		}
		s, err = readSeries(ctx, at, &q, top)
		s.Query, s.Others, s.Complete = q, others, at.state().complete()
		return err
	})
	if err == nil {
		u.recent.keep(&q, s)
	}
	return s, err
}

// topNames returns the names of the series with the greatest cost, and how many there are besides.
func topNames(ctx context.Context, at snapshot, q *SeriesQuery) (top []string, others int, err error) {
	type total struct {
		name string
		sums Sums
	}
	totals := map[string]*total{}
	rows := q.rows()
	for _, part := range spans(q.From, q.To) {
		err = at.sums(ctx, &rows, part, func(r *rollupSums) (*histograms, error) {
			t := totals[string(r.names[0])]
			if t == nil {
				t = &total{name: string(r.names[0])}
				totals[t.name] = t
			}
			t.sums.add(&r.sums)
			return nil, nil
		})
		if err != nil {
			return nil, 0, err
		}
	}
	all := make([]*total, 0, len(totals))
	for _, t := range totals {
		if t.sums.Requests > 0 {
			all = append(all, t)
		}
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
func readSeries(ctx context.Context, at snapshot, q *SeriesQuery, top []string) (s Series, err error) {
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
		start := time.Unix(0, current*l.unit).UTC()
		for i := range builders[:len(top)+1] {
			builders[i].next(start, &all.now)
		}
		all.next(start, nil)
	}
	rows := q.rows()
	err = at.sums(ctx, &rows, span{l, q.From.UnixNano() / l.unit, q.To.UnixNano() / l.unit}, func(r *rollupSums) (*histograms, error) {
		if r.start != current {
			next()
			current = r.start
		}
		b := byName[string(r.names[0])]
		if b == nil {
			b = other
		}
		b.now.sums.add(&r.sums)
		if r.sums.Errors > 0 && !q.byCode() { // how long refusals and failures take hides how long answers do
			return nil, nil
		}
		return &b.now.hists, nil
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

package activity

import (
	"cmp"
	"context"
	"math"
	"slices"
	"time"
)

// Series are sums over time, one for each value of a field. Those with the least cost are added up
// in Other.
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

// Point is a minute, an hour or a day, or the whole time of a query.
type Point struct {
	Start time.Time // UTC
	Sums
	// Durations are of calls that were sent to a provider, and ended without a code unless the
	// query is by code or for a code.
	Duration, FirstToken, PerToken, Overhead Percentiles
}

// accumulator sums rows of the roll-up.
type accumulator struct {
	sums  Sums
	hists histograms
}

func (a *accumulator) merge(b *accumulator) {
	a.sums.Add(&b.sums)
	for i := range a.hists {
		a.hists[i].merge(&b.hists[i])
	}
}

// read sets sums, and adds histograms, from the data of a row.
func (a *accumulator) read(data []byte, failed bool) (unnamed int64, err error) {
	unnamed, hists, err := a.sums.Read(data, failed)
	if err == nil {
		_, err = a.hists.add(hists)
	}
	return unnamed, err
}

func (a *accumulator) reset() {
	a.sums = Sums{}
	for i := range a.hists {
		a.hists[i].reset()
	}
}

// point returns what was added, and begins again.
func (a *accumulator) point(start time.Time) Point {
	p := Point{Start: start, Sums: a.sums}
	for i, to := range []*Percentiles{histDuration: &p.Duration, histFirstToken: &p.FirstToken, histPerToken: &p.PerToken, histOverhead: &p.Overhead} {
		*to = a.hists[i].percentiles()
	}
	a.reset()
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

// Series implements Log. Errors: *ParamError, the store's, context.DeadlineExceeded after
// ten seconds.
func (u Reader) Series(ctx context.Context, q SeriesQuery) (Series, error) {
	if err := q.check(); err != nil {
		return Series{}, err
	}
	if s, ok := u.recent.find(&q); ok {
		return s, nil
	}
	var s Series
	err := u.engine.Snapshot(ctx, func(ctx context.Context, at Snapshot) (err error) {
		if q.rolledUp() {
			s, err = u.rolledUp(ctx, at, &q)
		} else {
			s, err = u.recordSeries(ctx, at, &q)
		}
		s.Query = q
		return err
	})
	if err == nil {
		u.recent.add(&q, s)
	}
	return s, err
}

// rolledUp makes a series by the hour or the day.
func (u Reader) rolledUp(ctx context.Context, at Snapshot, q *SeriesQuery) (Series, error) {
	top, others, err := topNames(ctx, at, q)
	if err != nil {
		return Series{}, err
	}
	s, err := readSeries(ctx, at, q, top)
	s.Others = others
	s.Complete, _ = at.State()
	return s, err
}

// topNames returns the names of the series with the greatest cost, by the roll-up, and how many
// there are besides.
func topNames(ctx context.Context, at Snapshot, q *SeriesQuery) (top []string, others int, err error) {
	all := totals{}
	rows := q.rows()
	for _, part := range spans(q.From, q.To) {
		err = readSums(ctx, at, &rows, part, func(r *rollupSums) (*histograms, error) {
			all.of(r.Names[0]).Add(&r.sums)
			return nil, nil
		})
		if err != nil {
			return nil, 0, err
		}
	}
	top, others = all.top(q.Top)
	return top, others, nil
}

// greatestFirst is the order of series: by cost, then by requests.
func (s *Sums) greatestFirst(other *Sums) int {
	return cmp.Or(cmp.Compare(other.CostNano, s.CostNano), cmp.Compare(other.Requests, s.Requests))
}

// totals are the sums of a whole time, by name.
type totals map[string]*Sums

func (t totals) of(name []byte) *Sums {
	s := t[string(name)]
	if s == nil {
		s = new(Sums)
		t[string(name)] = s
	}
	return s
}

// top returns the names with the greatest cost, and how many there are besides.
func (t totals) top(most int) (top []string, others int) {
	for name, sums := range t {
		if sums.Requests > 0 {
			top = append(top, name)
		}
	}
	slices.SortFunc(top, func(a, b string) int {
		return cmp.Or(t[a].greatestFirst(t[b]), cmp.Compare(a, b))
	})
	all := len(top)
	top = top[:min(all, most)]
	return top, all - len(top)
}

// seriesBuilder makes the points of the series, and of all others together. Rows come in the order
// of time, or against it.
type seriesBuilder struct {
	lines  []lineBuilder // the series, the others, all
	byName map[string]*lineBuilder
	others map[string]bool // the names of the others; nil: they are not counted
}

func newSeriesBuilder(top []string) *seriesBuilder {
	b := &seriesBuilder{lines: make([]lineBuilder, len(top)+2), byName: make(map[string]*lineBuilder, len(top))}
	for i, name := range top {
		b.lines[i].line.Name = name
		b.byName[name] = &b.lines[i]
	}
	return b
}

func (b *seriesBuilder) all() *lineBuilder   { return &b.lines[len(b.lines)-1] }
func (b *seriesBuilder) other() *lineBuilder { return &b.lines[len(b.lines)-2] }

// of is the line of a name.
func (b *seriesBuilder) of(name []byte) *lineBuilder {
	if line := b.byName[string(name)]; line != nil {
		return line
	}
	if b.others != nil && !b.others[string(name)] {
		b.others[string(name)] = true
	}
	return b.other()
}

// add adds a record. Failed ones are in the histograms only if each series is of one outcome.
func (b *seriesBuilder) add(name string, r *Record, byCode bool) {
	line := b.byName[name]
	if line == nil {
		line = b.of([]byte(name))
	}
	now, sums := &line.now, SumsOf(r)
	now.sums.Add(&sums)
	if sums.Errors > 0 && !byCode {
		return
	}
	for i, d := range r.durations() {
		if d >= 0 {
			now.hists[i].one(int(bucketOf(d)))
		}
	}
}

// next ends the points of all lines.
func (b *seriesBuilder) next(start time.Time) {
	all := b.all()
	for i := range b.lines[:len(b.lines)-1] {
		b.lines[i].next(start, &all.now)
	}
	all.next(start, nil)
}

// series is what was made of a time that begins at from.
func (b *seriesBuilder) series(from time.Time) (s Series) {
	for i := range b.lines[:len(b.lines)-2] {
		s.Series = append(s.Series, b.lines[i].end(from))
	}
	if line := b.other().end(from); line.Total.Requests > 0 {
		s.Other = &line
	}
	s.All = b.all().end(from)
	return s
}

// readSeries makes series from the roll-up.
func readSeries(ctx context.Context, at Snapshot, q *SeriesQuery, top []string) (Series, error) {
	b := newSeriesBuilder(top)
	l := &Hours
	if q.Step == Days.Unit {
		l = &Days
	}
	current := int64(math.MinInt64)
	rows := q.rows()
	err := readSums(ctx, at, &rows, Span{l, q.From.UnixNano() / l.Unit, q.To.UnixNano() / l.Unit}, func(r *rollupSums) (*histograms, error) {
		if r.Start != current {
			b.next(time.Unix(0, current*l.Unit).UTC())
			current = r.Start
		}
		now := &b.of(r.Names[0]).now
		now.sums.Add(&r.sums)
		if r.sums.Errors > 0 && !q.byCode() { // how long refusals and failures take hides how long answers do
			return nil, nil
		}
		return &now.hists, nil
	})
	if err != nil {
		return Series{}, err
	}
	b.next(time.Unix(0, current*l.Unit).UTC())
	return b.series(q.From), nil
}

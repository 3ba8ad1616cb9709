package activity

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"time"
)

// MaxMinutes bounds the points of a series by the minute: six hours.
const MaxMinutes = 360

// A series by the minute, and one of a field that the roll-up does not have, is read from the
// records: every call would pay for more sums, and few people look at them. maxMinuteRows and
// maxRecordRows bound how many are read: a fifth of a second, and half a second for each of two
// passes.
const maxMinuteRows, maxRecordRows = 120_000, 300_000

// series is how many records a series may read.
func (b *Bounds) series(q *SeriesQuery) int {
	if q.Step == int64(time.Minute) {
		return b.MinuteRows
	}
	return b.RecordRows
}

// recordSeries makes a series from the records. By the roll-up too many are refused before any is
// read. Complete is false if records of the time may be deleted.
func (u Reader) recordSeries(ctx context.Context, at Snapshot, q *SeriesQuery) (Series, error) {
	hourly := *q
	hourly.From, hourly.To = q.From.Truncate(time.Hour), q.To.Add(time.Hour-1).Truncate(time.Hour)
	most := u.Bounds.series(q)
	if err := boundRecords(ctx, at, q, &hourly, most); err != nil {
		return Series{}, err
	}
	top, err := topRecorded(ctx, at, q, &hourly, most)
	if err != nil {
		return Series{}, err
	}
	b := newSeriesBuilder(top)
	b.others = map[string]bool{}
	current := int64(math.MinInt64)
	err = readRecords(ctx, at, q, most, func(name string, created int64, r *Record) {
		if step := created / q.Step; step != current {
			b.next(time.Unix(0, current*q.Step).UTC())
			current = step
		}
		b.add(name, r, q.byCode())
	})
	if err != nil {
		return Series{}, err
	}
	b.next(time.Unix(0, current*q.Step).UTC())
	s := b.series(q.From)
	s.Others = len(b.others)
	s.reverse()
	slices.SortStableFunc(s.Series, func(a, b Line) int {
		return cmp.Or(a.Total.greatestFirst(&b.Total.Sums), cmp.Compare(a.Name, b.Name))
	})
	s.Series = slices.DeleteFunc(s.Series, func(l Line) bool { return l.Total.Requests == 0 })
	_, pruned := at.State()
	s.Complete = q.From.UnixNano()/Days.Unit > pruned
	return s, nil
}

// topRecorded returns the names of the series with the greatest cost. By the minute they are those
// of the whole hours.
func topRecorded(ctx context.Context, at Snapshot, q, hourly *SeriesQuery, most int) (top []string, err error) {
	if seriesFields[q.field()].rolledUp {
		top, _, err = topNames(ctx, at, hourly)
		return top, err
	}
	all := totals{}
	err = readRecords(ctx, at, q, most, func(name string, _ int64, r *Record) {
		sums := SumsOf(r)
		all.of([]byte(name)).Add(&sums)
	})
	top, _ = all.top(q.Top)
	return top, err
}

// readRecords calls visit with the records of a query, newest first, and the name of the series of
// each. More than most are refused.
func readRecords(ctx context.Context, at Snapshot, q *SeriesQuery, most int, visit func(name string, created int64, r *Record)) error {
	f := Filter{
		Tenant: q.Tenant, AllTenants: q.AllTenants, From: q.From, To: q.To, Model: q.Model, Provider: q.Provider, Key: q.Key, Code: q.Code,
		EndUser: q.EndUser, App: q.App,
	}
	name, left := seriesFields[q.field()].of, most
	var r Record
	return at.Rows(ctx, &f, func(tenant []byte, created int64, data []byte) (bool, error) {
		if left--; left < 0 {
			return false, tooManyRecords(q, most)
		}
		if Borrow(data, &r) == nil && q.selects(&r) { // a damaged row is in no sum of the roll-up either
			visit(name(&r, tenant), created, &r)
		}
		return true, nil
	})
}

// boundRecords refuses a time with too many calls, as far as the roll-up says: of an hour that is
// only partly asked for, it takes an equal part.
func boundRecords(ctx context.Context, at Snapshot, q, hourly *SeriesQuery, most int) error {
	var calls float64
	rows := hourly.rows()
	rows.By = []string{"tenant"}
	for _, part := range spans(hourly.From, hourly.To) {
		err := readSums(ctx, at, &rows, part, func(r *rollupSums) (*histograms, error) {
			start := time.Unix(0, r.Start*part.Unit)
			end, from, to := start.Add(time.Duration(part.Unit)), q.From, q.To
			if q.Asked.After(start) && q.Asked.Before(end) { // it is not over
				end = q.Asked
			}
			if from.Before(start) {
				from = start
			}
			if to.After(end) {
				to = end
			}
			calls += float64(r.sums.Requests) * float64(max(to.Sub(from), 0)) / float64(end.Sub(start))
			return nil, nil
		})
		if err != nil {
			return err
		}
	}
	if calls > float64(most) {
		return tooManyRecords(q, most)
	}
	return nil
}

func tooManyRecords(q *SeriesQuery, most int) error {
	if q.Step == int64(time.Minute) {
		return &ParamError{"step", fmt.Sprintf("minute reads each call of the time, and these are more than %d: ask for a shorter time or for step=hour", most)}
	}
	return &ParamError{"by", fmt.Sprintf("end_user or app reads each call of the time, and these are more than %d: ask for a shorter time, or for one key or model", most)}
}

// selects reports whether a record is one of the query's, whose tenant and time it has.
func (q *SeriesQuery) selects(r *Record) bool {
	return (q.Model == "" || q.Model == r.summedModel()) && (q.Provider == "" || q.Provider == r.Provider) &&
		(q.Key == "" || q.Key == r.Key) && codeMatches(q.Code, r.Code) &&
		(q.EndUser == "" || q.EndUser == r.EndUser) && (q.App == "" || q.App == r.App)
}

// reverse turns the points of lines, which were made newest first.
func (s *Series) reverse() {
	for i := range s.Series {
		slices.Reverse(s.Series[i].Points)
	}
	if s.Other != nil {
		slices.Reverse(s.Other.Points)
	}
	slices.Reverse(s.All.Points)
}

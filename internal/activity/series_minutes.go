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

// maxMinuteRows bounds the records that a series by the minute reads: a fifth of a second. There are no
// sums by the minute: every call would pay for them, and few people look at them.
const maxMinuteRows = 120_000

// minuteSeries makes a series by the minute from the records. By the roll-up too many are refused before
// any is read. Complete is false if records of the time may be deleted.
func (u sumReader) minuteSeries(ctx context.Context, at snapshot, q *SeriesQuery) (Series, error) {
	hourly := *q
	hourly.From, hourly.To = q.From.Truncate(time.Hour), q.To.Add(time.Hour-1).Truncate(time.Hour)
	if err := u.boundMinutes(ctx, at, q, &hourly); err != nil {
		return Series{}, err
	}
	top, _, err := topNames(ctx, at, &hourly)
	if err != nil {
		return Series{}, err
	}
	b := newSeriesBuilder(top)
	b.others = map[string]bool{}
	current, left := int64(math.MinInt64), u.maxMinuteRows
	f := Filter{Tenant: q.Tenant, AllTenants: q.AllTenants, From: q.From, To: q.To, Model: q.Model, Provider: q.Provider, Key: q.Key, Code: q.Code}
	var r Record
	err = at.rows(ctx, &f, func(tenant []byte, created int64, data []byte) (bool, error) {
		if left--; left < 0 {
			return false, u.tooManyMinutes()
		}
		if readable := r.borrow(data) == nil; readable && q.selects(&r) { // a damaged row is in no sum of the roll-up either
			if minute := created / q.Step; minute != current {
				b.next(time.Unix(0, current*q.Step).UTC())
				current = minute
			}
			b.add(q.name(&r, tenant), &r, q.byCode())
		}
		return true, nil
	})
	if err != nil {
		return Series{}, err
	}
	b.next(time.Unix(0, current*q.Step).UTC())
	s := b.series(q.From)
	s.Others = len(b.others)
	s.reverse()
	slices.SortStableFunc(s.Series, func(a, b Line) int {
		return cmp.Or(cmp.Compare(b.Total.CostNano, a.Total.CostNano), cmp.Compare(b.Total.Requests, a.Total.Requests), cmp.Compare(a.Name, b.Name))
	})
	s.Series = slices.DeleteFunc(s.Series, func(l Line) bool { return l.Total.Requests == 0 })
	s.Complete = q.From.UnixNano()/days.unit > at.state().pruned
	return s, nil
}

// boundMinutes refuses a time with too many calls, as far as the roll-up says: of an hour that is only
// partly asked for, it takes an equal part.
func (u sumReader) boundMinutes(ctx context.Context, at snapshot, q, hourly *SeriesQuery) error {
	var calls float64
	rows := rollupQuery{tenant: hourly.Tenant, all: hourly.AllTenants, by: []string{"tenant"}}
	part := span{&hours, hourly.From.UnixNano() / hours.unit, hourly.To.UnixNano() / hours.unit}
	err := at.sums(ctx, &rows, part, func(r *rollupSums) (*histograms, error) {
		start := time.Unix(0, r.start*hours.unit)
		end, from, to := start.Add(time.Hour), q.From, q.To
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
	if err == nil && calls > float64(u.maxMinuteRows) {
		err = u.tooManyMinutes()
	}
	return err
}

func (u sumReader) tooManyMinutes() error {
	return &ParamError{"step", fmt.Sprintf("minute reads each call of the time, and these are more than %d: ask for a shorter time or for step=hour", u.maxMinuteRows)}
}

// selects reports whether a record is one of the query's, whose tenant and time it has.
func (q *SeriesQuery) selects(r *Record) bool {
	return (q.Model == "" || q.Model == r.summedModel()) && (q.Provider == "" || q.Provider == r.Provider) &&
		(q.Key == "" || q.Key == r.Key) && codeMatches(q.Code, r.Code)
}

// name is the value of the field that the series are of.
func (q *SeriesQuery) name(r *Record, tenant []byte) string {
	switch q.By {
	case "key":
		return r.Key
	case "tenant":
		return string(tenant)
	case "provider":
		return r.Provider
	case "code":
		return r.Code
	}
	return r.summedModel()
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

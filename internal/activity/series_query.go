package activity

import (
	"errors"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
)

const (
	// DefaultTop is how many series an answer has, MaxTop how many it can have.
	DefaultTop, MaxTop = 10, 50
	// MaxPoints bounds the points of a series: 400 days, or a month of hours.
	MaxPoints = 800
	// How many points a query without a time returns. The last one is now.
	defaultMinutes, defaultHours, defaultDays = 60, 24, 30
)

// seriesFields are the fields by which there are series. Those of the roll-up are its columns, and
// others are read from the records.
var seriesFields = []struct {
	name     string
	rolledUp bool
	of       func(r *Record, tenant []byte) string
}{
	{"model", true, func(r *Record, _ []byte) string { return r.summedModel() }},
	{"key", true, func(r *Record, _ []byte) string { return r.Key }},
	{"tenant", true, func(_ *Record, tenant []byte) string { return string(tenant) }},
	{"provider", true, func(r *Record, _ []byte) string { return r.Provider }},
	{"code", true, func(r *Record, _ []byte) string { return r.Code }},
	{"end_user", false, func(r *Record, _ []byte) string { return r.EndUser }},
	{"app", false, func(r *Record, _ []byte) string { return r.App }},
}

// field returns the place of By in seriesFields, -1 for none.
func (q *SeriesQuery) field() int {
	for i := range seriesFields {
		if seriesFields[i].name == q.By {
			return i
		}
	}
	return -1
}

// SeriesQuery says which series are asked for. Zero fields do not restrict, except that Tenant or
// AllTenants is required.
type SeriesQuery struct {
	Tenant     string
	AllTenants bool
	// By is model, key, tenant, provider, code, end_user or app. Default: model. The last two, and
	// what they select, are read from the records: see maxRecordRows.
	By string
	// Step is the length of a point in nanoseconds: a minute, an hour or a day. Default: a day.
	Step int64
	// From is the first instant, To the first one after the last. They are widened to whole steps.
	From, To                   time.Time
	Model, Provider, Key, Code string // Code as the Code of a Filter
	EndUser, App               string
	// Top is how many series there are, 1 to MaxTop; the others are added up. Default: DefaultTop.
	Top int
	// MaxAge is how old the answer may be, at most MaxSeriesAge, and Asked is when it is asked for.
	// Default: it has every call that has ended.
	MaxAge time.Duration
	Asked  time.Time
}

var seriesParsers = map[string]func(*SeriesQuery, string) string{
	"tenant":   func(q *SeriesQuery, v string) string { q.Tenant = v; return "" },
	"by":       parseBy,
	"step":     parseStep,
	"from":     func(q *SeriesQuery, v string) string { return parseInstant(&q.From, v, false) },
	"to":       func(q *SeriesQuery, v string) string { return parseInstant(&q.To, v, true) },
	"model":    func(q *SeriesQuery, v string) string { q.Model = v; return "" },
	"provider": func(q *SeriesQuery, v string) string { q.Provider = v; return "" },
	"key":      func(q *SeriesQuery, v string) string { q.Key = v; return "" },
	"code":     func(q *SeriesQuery, v string) string { q.Code = v; return "" },
	"end_user": func(q *SeriesQuery, v string) string { q.EndUser = v; return "" },
	"app":      func(q *SeriesQuery, v string) string { q.App = v; return "" },
	"top":      parseTop,
}

// SeriesParams are the names of the parameters of GET /api/v1/activity/series, sorted.
func SeriesParams() []string { return slices.Sorted(maps.Keys(seriesParsers)) }

// ParseSeries parses the query parameters of the series route as ParseFilter does those of the
// activity. Without from and to the time is the last 60 minutes, 24 hours or 30 days up to now.
func ParseSeries(q url.Values, now time.Time) (SeriesQuery, error) {
	var s SeriesQuery
	if err := parseParams(q, seriesParsers, &s); err != nil {
		return SeriesQuery{}, err
	}
	s.setDefaults(now)
	return s, s.checkTime()
}

func parseBy(q *SeriesQuery, v string) string {
	if q.By = v; q.field() >= 0 {
		return ""
	}
	var names []string
	for _, f := range seriesFields {
		names = append(names, f.name)
	}
	last := len(names) - 1
	return "must be " + strings.Join(names[:last], ", ") + " or " + names[last]
}

func parseStep(q *SeriesQuery, v string) string {
	for _, s := range steps {
		if s.name == v {
			q.Step = s.unit
			return ""
		}
	}
	return "must be minute, hour or day"
}

func parseTop(q *SeriesQuery, v string) string {
	n, err := strconv.Atoi(v)
	if err != nil || n < 1 || n > MaxTop {
		return fmt.Sprintf("must be a number from 1 to %d", MaxTop)
	}
	q.Top = n
	return ""
}

// setDefaults fills what was not given, and widens the time to whole steps.
func (q *SeriesQuery) setDefaults(now time.Time) {
	if q.By == "" {
		q.By = seriesFields[0].name
	}
	if q.Step == 0 {
		q.Step = Days.Unit
	}
	if q.Top == 0 {
		q.Top = DefaultTop
	}
	step := time.Duration(q.Step)
	if q.To.IsZero() {
		q.To = now.UTC()
	}
	if end := q.To.Truncate(step); end.Before(q.To) {
		q.To = end.Add(step)
	}
	if q.From.IsZero() {
		q.From = q.To.Add(-time.Duration(q.step().usual) * step)
	}
	q.From = q.From.Truncate(step)
}

// seriesStep is a length of points.
type seriesStep struct {
	name        string
	unit        int64 // nanoseconds
	usual, most int   // points: of a query without a time, of an answer
}

var steps = []seriesStep{
	{"minute", int64(time.Minute), defaultMinutes, MaxMinutes},
	{"hour", Hours.Unit, defaultHours, MaxPoints},
	{"day", Days.Unit, defaultDays, MaxPoints},
}

// step returns the step of the query, the zero value if there is none.
func (q *SeriesQuery) step() (found seriesStep) {
	for _, s := range steps {
		if s.unit == q.Step {
			found = s
		}
	}
	return found
}

// StepName is minute, hour or day.
func (q *SeriesQuery) StepName() string { return q.step().name }

// rolledUp reports whether the roll-up has all that the query asks for.
func (q *SeriesQuery) rolledUp() bool {
	return q.Step != int64(time.Minute) && seriesFields[q.field()].rolledUp && q.EndUser == "" && q.App == ""
}

// byCode reports whether each series is of one outcome.
func (q *SeriesQuery) byCode() bool { return q.By == "code" || q.Code != "" }

// check also checks queries made without ParseSeries.
func (q *SeriesQuery) check() error {
	switch {
	case q.Tenant == "" && !q.AllTenants:
		return &ParamError{"tenant", "must be set"}
	case q.field() < 0 || q.StepName() == "" || q.Top < 1 || q.Top > MaxTop:
		return errors.New("a series query without defaults")
	}
	for _, s := range []*string{&q.Model, &q.Provider, &q.Key, &q.Code, &q.EndUser, &q.App} {
		*s = clip(*s)
	}
	return q.checkTime()
}

func (q *SeriesQuery) checkTime() error {
	for param, t := range map[string]time.Time{"from": q.From, "to": q.To} {
		if !representable(t) {
			return &ParamError{param, "must be between 1970 and 2262"}
		}
	}
	if !q.From.Before(q.To) {
		return &ParamError{"to", "must be after from"}
	}
	if n, most := int64(q.To.Sub(q.From))/q.Step, q.step().most; n > int64(most) {
		return &ParamError{"step", fmt.Sprintf("%s would make %d points, and an answer has at most %d: ask for a shorter time or longer steps", q.StepName(), n, most)}
	}
	return nil
}

// rows is which rows of the roll-up the query sums, by the field that the series are of.
func (q *SeriesQuery) rows() SumQuery {
	return SumQuery{tenant: q.Tenant, all: q.AllTenants, model: q.Model, provider: q.Provider, key: q.Key, code: q.Code, By: []string{q.By}}
}

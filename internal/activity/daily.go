package activity

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"time"
)

// Day sums the calls of one UTC date to one model at one provider.
type Day struct {
	Date            string // YYYY-MM-DD
	Model, Provider string
	Sums
}

// maxDays bounds the rows of Daily: names of models come from clients.
const maxDays = 10_000

// ErrTooManyDays is returned by Daily when the answer would be longer than 10,000 rows.
var ErrTooManyDays = errors.New("more than 10000 daily rows: ask for fewer days or for one model")

// daySums collects days.
type daySums struct {
	sums map[daySubject]*Sums
	most int // days
}

type daySubject struct {
	day             int64
	model, provider string
}

// add reports whether there are not too many days.
func (d *daySums) add(s daySubject, sums *Sums) bool {
	sum := d.sums[s]
	if sum == nil {
		if len(d.sums) == d.most {
			return false
		}
		// The names are copied: they are parts of a whole row.
		s.model, s.provider = strings.Clone(s.model), strings.Clone(s.provider)
		sum = new(Sums)
		d.sums[s] = sum
	}
	sum.Add(sums)
	return true
}

// Daily implements Log. It takes the sums of the roll-up where they are those of the records, also
// of days whose records are deleted. What only records can answer reads every one of f's tenant and
// time, within the ten seconds of any query: filters that the roll-up does not have, parts of a
// day, and the calls of a day to models that no provider has, because the roll-up leaves out their
// names. If those days have too many records, the names of the older ones stay "".
func (u Reader) Daily(ctx context.Context, f Filter) ([]Day, error) {
	f.Limit, f.Cursor = 0, ""
	if err := f.check(); err != nil {
		return nil, err
	}
	var sums daySums
	rolledUp := f.wholeDays()
	if rolledUp {
		err := u.engine.Snapshot(ctx, func(ctx context.Context, at Snapshot) (err error) {
			sums = daySums{map[daySubject]*Sums{}, u.Bounds.Days}
			if rolledUp, _ = at.State(); rolledUp {
				err = u.sumDays(ctx, at, &f, &sums)
			}
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	if !rolledUp {
		sums = daySums{map[daySubject]*Sums{}, u.Bounds.Days}
		fits := true
		err := u.walk(ctx, f, func(_ int64, r *Record) bool {
			of := SumsOf(r)
			fits = sums.add(subjectOf(r), &of)
			return fits
		})
		if err != nil {
			return nil, err
		}
		if !fits {
			return nil, ErrTooManyDays
		}
	}
	days := make([]Day, 0, len(sums.sums))
	for s, sum := range sums.sums {
		if sum.Requests > 0 {
			days = append(days, Day{Date: Date(s.day), Model: s.model, Provider: s.provider, Sums: *sum})
		}
	}
	slices.SortFunc(days, func(a, b Day) int {
		return cmp.Or(cmp.Compare(b.Date, a.Date), cmp.Compare(a.Model, b.Model), cmp.Compare(a.Provider, b.Provider))
	})
	return days, nil
}

func subjectOf(r *Record) daySubject {
	return daySubject{r.CreatedAt.UnixNano() / Days.Unit, r.Model, r.Provider}
}

// Date is the date of a day since 1970.
func Date(day int64) string { return time.Unix(0, day*Days.Unit).UTC().Format(time.DateOnly) }

// wholeDays reports whether f has only filters of the roll-up, and a time of whole days.
func (f *Filter) wholeDays() bool {
	from, to := f.Span()
	rest := *f
	rest.Tenant, rest.AllTenants, rest.Date, rest.From, rest.To = "", false, "", time.Time{}, time.Time{}
	rest.Model, rest.Provider, rest.Key, rest.Code, rest.Daily = "", "", "", "", false
	return rest == Filter{} && from%Days.Unit == 0 && (f.To.IsZero() && f.Date == "" || to%Days.Unit == 0)
}

// sumDays adds the days of the roll-up that f selects, and from the records the calls whose model
// the roll-up does not name, except up to the day pruned.
func (u Reader) sumDays(ctx context.Context, at Snapshot, f *Filter, sums *daySums) error {
	part, err := dailySpan(ctx, at, f)
	_, pruned := at.State()
	if err != nil || part.Start >= part.End {
		return err
	}
	unnamed := map[int64]bool{} // days
	type refused struct {
		subject daySubject
		sums    Sums
	}
	var unrouted []refused // calls that were sent to no provider
	q := SumQuery{tenant: f.Tenant, all: f.AllTenants, provider: f.Provider, key: f.Key, code: f.Code, By: []string{"model", "provider"}}
	err = readSums(ctx, at, &q, part, func(r *rollupSums) (*histograms, error) {
		if r.unnamed > 0 && r.Start > pruned {
			unnamed[r.Start] = true
		}
		s := daySubject{r.Start, string(r.Names[0]), string(r.Names[1])}
		switch {
		case f.Model != "" && s.model != f.Model:
		case s.provider == "":
			unrouted = append(unrouted, refused{s, r.sums})
		case !sums.add(s, &r.sums):
			return nil, ErrTooManyDays
		}
		return nil, nil
	})
	if err == nil && len(unnamed) > 0 {
		err = u.dropLargeDays(ctx, at, f, part, unnamed)
	}
	for _, u := range unrouted {
		if err == nil && !unnamed[u.subject.day] && !sums.add(u.subject, &u.sums) {
			err = ErrTooManyDays
		}
	}
	for day := range unnamed {
		if err != nil {
			break
		}
		of := *f
		of.Date, of.From, of.To = Date(day), time.Time{}, time.Time{}
		fits := true
		err = at.Walk(ctx, &of, func(_ int64, r *Record) bool {
			of := SumsOf(r)
			fits = r.Provider != "" || sums.add(subjectOf(r), &of)
			return fits
		})
		if !fits {
			return ErrTooManyDays
		}
	}
	return err
}

// maxNamedRows bounds the records that Daily reads for the names of models that no provider has: half
// a second. A caller with one invented name a day must not make the daily sums of many calls fail.
const maxNamedRows = 300_000

// dropLargeDays removes days from a set until the others have at most maxRows records of f's
// tenants. The newest stay.
func (u Reader) dropLargeDays(ctx context.Context, at Snapshot, f *Filter, part Span, set map[int64]bool) error {
	records := map[int64]int64{}
	q := SumQuery{tenant: f.Tenant, all: f.AllTenants, By: []string{"tenant"}}
	err := readSums(ctx, at, &q, part, func(r *rollupSums) (*histograms, error) {
		records[r.Start] += r.sums.Requests
		return nil, nil
	})
	left := int64(u.Bounds.NamedRows)
	for _, day := range slices.Backward(slices.Sorted(maps.Keys(set))) {
		if left -= records[day]; left < 0 {
			delete(set, day)
		}
	}
	return err
}

// dailySpan returns the days of the roll-up within f's time.
func dailySpan(ctx context.Context, at Snapshot, f *Filter) (Span, error) {
	start, end, err := at.Days(ctx)
	from, to := f.Span()
	return Span{&Days, max(start, from/Days.Unit), min(end, to/Days.Unit)}, err
}

// Costs implements Log. It returns the sums of the days of a tenant, or of one of its keys unless that is "". They are of
// all models together, so that their number is bounded: Model and Provider are empty.
func (u Reader) Costs(ctx context.Context, tenant, key string) ([]Day, error) {
	sums := map[int64]*Sums{}
	add := func(day int64, s *Sums) {
		if sums[day] == nil {
			sums[day] = new(Sums)
		}
		sums[day].Add(s)
	}
	complete := false
	err := u.engine.Snapshot(ctx, func(ctx context.Context, at Snapshot) error {
		if complete, _ = at.State(); !complete {
			return nil
		}
		part, err := dailySpan(ctx, at, &Filter{})
		if err != nil || part.Start >= part.End {
			return err
		}
		q := SumQuery{tenant: tenant, key: key, By: []string{"key"}}
		return readSums(ctx, at, &q, part, func(r *rollupSums) (*histograms, error) {
			add(r.Start, &r.sums)
			return nil, nil
		})
	})
	if err == nil && !complete {
		err = u.walk(ctx, Filter{Tenant: tenant, Key: key}, func(_ int64, r *Record) bool {
			of := SumsOf(r)
			add(r.CreatedAt.UnixNano()/Days.Unit, &of)
			return true
		})
	}
	if err != nil {
		return nil, err
	}
	all := make([]Day, 0, len(sums))
	for _, day := range slices.Sorted(maps.Keys(sums)) {
		all = append(all, Day{Date: Date(day), Sums: *sums[day]})
	}
	return all, nil
}

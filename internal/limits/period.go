package limits

import (
	"fmt"
	"time"
)

// Period is a calendar period in UTC. A week begins on Monday.
type Period uint8

// Periods.
const (
	Daily Period = iota + 1
	Weekly
	Monthly
	Total // begins with the first call and never ends
)

var periodNames = [...]string{Daily: "day", Weekly: "week", Monthly: "month", Total: "total"}

// String returns the period as configuration and database spell it.
func (p Period) String() string {
	if p < Daily || p > Total {
		return "unknown"
	}
	return periodNames[p]
}

const (
	// maxUnix is the end of the year 9999: dates after it do not sort as text.
	maxUnix = 253_402_300_799
	// allTime is the name of Total in a database. It sorts after all dates.
	allTime = "all"
)

// Span returns the period that contains a time, from begins to before ends. Total has no bounds:
// both are zero.
func (p Period) Span(at time.Time) (begins, ends time.Time) {
	year, month, day := at.UTC().Date()
	switch p {
	case Daily:
		begins = time.Date(year, month, day, 0, 0, 0, 0, time.UTC)
		return begins, begins.AddDate(0, 0, 1)
	case Weekly:
		ends = time.Date(year, month, day+7-(int(at.UTC().Weekday())+6)%7, 0, 0, 0, 0, time.UTC)
		if begins = ends.AddDate(0, 0, -7); begins.Unix() < 0 {
			begins = time.Unix(0, 0).UTC()
		}
		return begins, ends
	case Monthly:
		begins = time.Date(year, month, 1, 0, 0, 0, 0, time.UTC)
		return begins, begins.AddDate(0, 1, 0)
	}
	return time.Time{}, time.Time{}
}

// Name is how databases name the period with that beginning: "2026-05-13", "all".
func (p Period) Name(begins time.Time) string {
	if p == Total {
		return allTime
	}
	return begins.UTC().Format(time.DateOnly)
}

// ParseName reads what Name wrote.
func (p Period) ParseName(name string) (begins, ends time.Time, err error) {
	if p == Total && name == allTime {
		return time.Time{}, time.Time{}, nil
	}
	day, err := time.Parse(time.DateOnly, name)
	if begins, ends = p.Span(day); err != nil || p == Total || day.Unix() < 0 || !begins.Equal(day) {
		return time.Time{}, time.Time{}, fmt.Errorf("%q is not the beginning of a %s", name, p)
	}
	return begins, ends, nil
}

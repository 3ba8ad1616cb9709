package limits

import (
	"fmt"
	"math"
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
	daySeconds = 86_400
	// maxUnix is the end of the year 9999: dates after it do not sort as text.
	maxUnix = 253_402_300_799
	// forever is the end of Total.
	forever = math.MaxInt64
	// allTime is the name of Total in the database. It sorts after all dates.
	allTime = "all"
)

// span returns the period that contains at (Unix seconds, not negative): from start to before end.
func (p Period) span(at int64) (start, end int64) {
	day := at / daySeconds
	switch p {
	case Daily:
		return day * daySeconds, (day + 1) * daySeconds
	case Weekly:
		monday := day - (day+3)%7 // day 0 was a Thursday
		return max(monday, 0) * daySeconds, (monday + 7) * daySeconds
	case Monthly:
		year, month, _ := time.Unix(at, 0).UTC().Date()
		first := time.Date(year, month, 1, 0, 0, 0, 0, time.UTC)
		return first.Unix(), first.AddDate(0, 1, 0).Unix()
	}
	return 0, forever
}

// periodName returns the database's name of the period that begins at start: its first day.
func (p Period) periodName(start int64) string {
	if p == Total {
		return allTime
	}
	return time.Unix(start, 0).UTC().Format(time.DateOnly)
}

// parsePeriod parses a result of periodName.
func (p Period) parsePeriod(name string) (start, end int64, err error) {
	if p == Total && name == allTime {
		return 0, forever, nil
	}
	day, err := time.Parse(time.DateOnly, name)
	if err != nil || p == Total || day.Unix() < 0 {
		return 0, 0, fmt.Errorf("%q is not the beginning of a %s", name, p)
	}
	start, end = p.span(day.Unix())
	if start != day.Unix() {
		return 0, 0, fmt.Errorf("%q is not the beginning of a %s", name, p)
	}
	return start, end, nil
}

// date returns Unix seconds as a time, and forever as the zero time.
func date(sec int64) time.Time {
	if sec == forever {
		return time.Time{}
	}
	return time.Unix(sec, 0).UTC()
}

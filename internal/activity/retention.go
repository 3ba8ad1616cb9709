package activity

import "time"

// Retention says how long records are kept. Zero fields mean the defaults.
type Retention struct {
	// Age is counted from CreatedAt. Default: 30 days.
	Age time.Duration
	// Size bounds the database in bytes, without free pages; the oldest records are deleted first.
	// The file does not shrink, but its free pages are used again. Default: 10 GiB.
	Size int64
	// Series is how long the hourly and daily sums are kept. Default: 400 days, or Age if that is
	// more. It is never less than Age.
	Series time.Duration
}

// Defaults of Retention.
const (
	DefaultAge    = 30 * 24 * time.Hour
	DefaultSize   = 10 << 30
	DefaultSeries = 400 * 24 * time.Hour
)

// OrDefault returns the retention with the default for what is not set.
func (r Retention) OrDefault() Retention {
	if r.Age <= 0 {
		r.Age = DefaultAge
	}
	if r.Size <= 0 {
		r.Size = DefaultSize
	}
	if r.Series <= 0 {
		r.Series = DefaultSeries
	}
	r.Series = max(r.Series, r.Age)
	return r
}

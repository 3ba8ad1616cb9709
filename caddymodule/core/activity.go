package core

import (
	"cmp"
	"fmt"
	"time"

	"github.com/caddyserver/caddy/v2"

	"github.com/gatehouse-proxy/gatehouse/internal/activity"
)

// Retention is how long activity rows, and their sums, are kept, and what rows leave out; 0 takes
// the default.
type Retention struct {
	// Age is how long a row is kept. Default: 30d.
	Age caddy.Duration `json:"age,omitempty"`
	// Size bounds the database, in bytes; the oldest rows are deleted first. Default: 10 GiB.
	Size int64 `json:"size,omitempty"`
	// Series is how long the hourly and daily sums of the rows are kept, at least as long as the
	// rows. Default: 400d, or Age if that is more.
	Series caddy.Duration `json:"series,omitempty"`
	// NoEndUser keeps out of rows what callers say of their end users and apps.
	NoEndUser bool `json:"no_end_user,omitempty"`
}

// build checks the retention.
func (r Retention) build() (activity.Retention, error) {
	keep := activity.Retention{Age: time.Duration(r.Age), Size: r.Size, Series: time.Duration(r.Series)}
	if age := cmp.Or(keep.Age, activity.DefaultAge); keep.Series > 0 && keep.Series < age {
		return keep, fmt.Errorf("activity: keep_series %v is less than keep, which is %v: rows without their sums would be missing in series", keep.Series, age)
	}
	return keep, nil
}

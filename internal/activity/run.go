package activity

import (
	"strings"
	"time"
)

// Run is the sum of the rows of one trace: what an agent did, call by call and desktop by desktop.
type Run struct {
	Steps int64
	// Begun is when the first step began, Ended when the last one ended.
	Begun, Ended time.Time
	CostNano     int64
	// Unpriced is how many steps used something without a known price, Failed how many were
	// refused, failed, or called a tool that failed.
	Unpriced, Failed int64
}

// IsTrace reports whether a text is the id of a trace.
func IsTrace(id string) bool { return len(id) == 32 && strings.Trim(id, "0123456789abcdef") == "" }

// Add adds a row.
func (u *Run) Add(r *Record) {
	if u.Steps++; u.Steps == 1 || r.CreatedAt.Before(u.Begun) {
		u.Begun = r.CreatedAt
	}
	if end := r.CreatedAt.Add(r.Latency); end.After(u.Ended) {
		u.Ended = end
	}
	u.CostNano += r.CostNano
	if !r.Priced && r.UsageSource != UsageNone {
		u.Unpriced++
	}
	if r.Code != "" || r.IsError {
		u.Failed++
	}
}

package console

import (
	"html/template"
	"time"
)

// retention is how long rows of the activity are kept.
type retention struct {
	Keep struct {
		Rows int64 `json:"rows_seconds"`
		Size int64 `json:"size_bytes"`
	}
	now time.Time
}

// readRetention asks how long rows are kept. A page without the answer says nothing of it.
func readRetention(v *visit) (r retention) {
	if isPoll(v.r) || v.get("/v1/about", nil, &r) != nil {
		return retention{}
	}
	r.now = v.now
	return r
}

// Age is how long a row is kept, in words; "" is unknown.
func (r retention) Age() string {
	if r.Keep.Rows <= 0 {
		return ""
	}
	return inWords(time.Duration(r.Keep.Rows) * time.Second)
}

// Since is when the oldest rows that may be there were made.
func (r retention) Since() template.HTML {
	return at(r.now.Add(-time.Duration(r.Keep.Rows) * time.Second))
}

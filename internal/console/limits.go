package console

import (
	"math"
	"net/url"
	"strings"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/keys"
)

// limitsPage is what its template shows.
type limitsPage struct {
	Rows      []limitRow
	Next      string
	Filter    url.Values
	Filtered  bool
	Own       bool // the key sees only its own
	Tenants   bool // the key sees limits of all tenants
	Exhausted int64
	Near      int64
}

// ExhaustedText says how many limits are used up, "" if none is.
func (p *limitsPage) ExhaustedText() string {
	switch p.Exhausted {
	case 0:
		return ""
	case 1:
		return "1 limit is used up: the next call is refused, or waits."
	}
	return count(p.Exhausted) + " limits are used up: the next call is refused, or waits."
}

// NearText says how many limits are nearly used up, "" if none is.
func (p *limitsPage) NearText() string {
	if p.Near == 0 {
		return ""
	}
	return "Used to 80 % or more: " + plural(p.Near, "limit") + "."
}

// limitRow is a limit of GET /api/v1/limits. An amount that is nil is not shown to the key.
type limitRow struct {
	Subject, Type, Configured, Unit string
	Tenant, Period                  string
	Limit                           float64
	Remaining                       *float64
	Used                            *float64 `json:"used_ratio"`
	Exhausted, Soft                 bool
	ResetsAt                        time.Time `json:"resets_at"`
	Spent, Reserved                 *float64  // of a budget
	Counted                         *float64  `json:"used"`   // of a rate
	InUse                           *float64  `json:"in_use"` // of calls at once
	Queued                          *float64

	Manages bool   // the key may look at the subject's page
	Label   string // the name of a key that was made at run time, if that is known
}

// Kind is what the subject is: key, tenant, model or gateway.
func (r *limitRow) Kind() string {
	kind, _, _ := strings.Cut(r.Subject, ":")
	return kind
}

// Name is the subject's name, "" for the gateway.
func (r *limitRow) Name() string {
	_, name, _ := strings.Cut(r.Subject, ":")
	switch {
	case r.Label != "":
		return r.Label
	case r.Made():
		return short12(name)
	}
	return name
}

// Made reports whether the subject is a key that was made at run time.
func (r *limitRow) Made() bool {
	kind, name, _ := strings.Cut(r.Subject, ":")
	return kind == "key" && isMadeKey(name)
}

// Href is the page of a key, "" for other subjects.
func (r *limitRow) Href() string {
	if kind, key, _ := strings.Cut(r.Subject, ":"); r.Manages && kind == "key" {
		return pageOfKey(key)
	}
	return ""
}

// Percent is what is used, of a hundred.
func (r *limitRow) Percent() float64 { return 100 * *r.Used }

// Share is Percent in whole numbers. What is not quite full is not shown as full.
func (r *limitRow) Share() string {
	whole := math.Round(r.Percent())
	if whole == 100 && !r.Exhausted {
		whole = 99
	}
	return count(int64(whole)) + " %"
}

// amount is a number in the unit of the limit.
func (r *limitRow) amount(n *float64) string {
	switch {
	case n == nil:
		return unknown
	case r.Unit == "usd":
		return usd(*n)
	case r.Unit == "tokens":
		return plural(int64(*n), "token")
	}
	return count(int64(*n))
}

// Use is what is used, in words.
func (r *limitRow) Use() string {
	switch r.Type {
	case "budget":
		text := r.amount(r.Spent) + " spent"
		if r.Reserved != nil && *r.Reserved > 0 {
			text += ", " + r.amount(r.Reserved) + " reserved"
		}
		return text
	case "rate":
		if r.Unit == "tokens" {
			return r.amount(r.Counted)
		}
		return r.amount(r.Counted) + " " + r.Unit
	}
	text := r.amount(r.InUse) + " under way"
	if r.Queued != nil && *r.Queued > 0 {
		text += ", " + r.amount(r.Queued) + " waiting"
	}
	return text
}

// Budget is what is used and reserved of a budget, and its limit.
func (r *limitRow) Budget() string {
	used := *r.Spent + *r.Reserved
	if r.Unit == "usd" {
		return usd(used) + " of " + usd(r.Limit)
	}
	return short(int64(used)) + " of " + short(int64(r.Limit)) + " tokens"
}

// Left is what remains.
func (r *limitRow) Left() string { return r.amount(r.Remaining) }

// nearlyFull is the share from which a limit is near its end.
const nearlyFull = 0.8

// limitFilters are the parameters that the page and the route have in common.
var limitFilters = []string{"subject", "type", "min_used", "tenant", "cursor"}

// limits shows every limit that the key may see, and what is used of it.
func limits(v *visit) error {
	q := url.Values{"limit": {"200"}}
	p := limitsPage{Filter: url.Values{}, Own: !v.has(keys.LimitsRead), Tenants: v.has(keys.LimitsRead) && v.caller.AllTenants}
	for _, name := range limitFilters {
		value := strings.TrimSpace(v.query.Get(name))
		if value == "" {
			continue
		}
		if name == "subject" && value != "gateway" && !strings.Contains(value, ":") {
			value = "key:" + value // most are keys
		}
		q.Set(name, value)
		p.Filter.Set(name, value)
		p.Filtered = p.Filtered || name != "cursor"
	}
	var answer struct {
		Data []limitRow
		Next string `json:"next_cursor"`
	}
	if err := v.get("/api/v1/limits", q, &answer); err != nil {
		return err
	}
	p.Rows, p.Next = answer.Data, answer.Next
	for i := range p.Rows {
		r := &p.Rows[i]
		r.Manages = v.has(keys.KeysManage)
		_, name, _ := strings.Cut(r.Subject, ":")
		r.Label = labelOf(v, name)
		switch {
		case r.Exhausted:
			p.Exhausted++
		case r.Used != nil && *r.Used >= nearlyFull:
			p.Near++
		}
	}
	return v.render("limits", &p)
}

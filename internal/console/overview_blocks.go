package console

import (
	"cmp"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/keys"
)

// overviewRows is how many rows a block has. Its own page has all.
const overviewRows = 6

// budgetsBlock has the budgets of which the least is left.
type budgetsBlock struct {
	block
	Rows      []budgetRow
	Own       bool     // the key sees only its own
	Exhausted []string // whose budgets, besides the key's own, keep its calls out
}

// budgetRow is a budget of GET /api/v1/limits.
type budgetRow struct {
	Subject, Configured, Unit string
	Limit, Spent, Reserved    float64
	Used                      *float64  `json:"used_ratio"` // nil: not shown to this key
	ResetsAt                  time.Time `json:"resets_at"`
	Exhausted                 bool
}

// Percent is what is used, of a hundred.
func (r *budgetRow) Percent() float64 { return 100 * *r.Used }

// Text is what is used of the budget.
func (r *budgetRow) Text() string {
	used := r.Spent + r.Reserved
	if r.Unit == "usd" {
		return usd(used) + " of " + usd(r.Limit)
	}
	return short(int64(used)) + " of " + short(int64(r.Limit)) + " tokens"
}

// nearlySpent is what share of a budget is used if a gateway has more budgets than a page.
const nearlySpent = "0.8"

func (b *budgetsBlock) read(v *visit) error {
	if err := b.readRows(v); err != nil {
		return err
	}
	return b.readExhausted(v)
}

func (b *budgetsBlock) readRows(v *visit) error {
	b.Own = !v.has(keys.LimitsRead)
	var answer struct {
		Data []budgetRow
		Next *string `json:"next_cursor"`
	}
	q := url.Values{"type": {"budget"}, "limit": {"200"}}
	if err := v.get("/api/v1/limits", q, &answer); err != nil {
		return err
	}
	if answer.Next != nil {
		q.Set("min_used", nearlySpent)
		q.Set("limit", "1000")
		if err := v.get("/api/v1/limits", q, &answer); err != nil {
			return err
		}
	}
	rows := slices.DeleteFunc(answer.Data, func(r budgetRow) bool { return r.Used == nil })
	slices.SortStableFunc(rows, func(x, y budgetRow) int { return cmp.Compare(*y.Used, *x.Used) })
	b.Rows = rows[:min(len(rows), overviewRows)]
	for i := range b.Rows {
		if kind, name, _ := strings.Cut(b.Rows[i].Subject, ":"); kind == "key" {
			b.Rows[i].Subject = kind + ":" + keyName(v, name)
		}
	}
	return nil
}

func (b *budgetsBlock) readExhausted(v *visit) error {
	var key struct{ Data struct{ Exhausted []string } }
	err := v.get("/api/v1/key", nil, &key)
	b.Exhausted = slices.DeleteFunc(key.Data.Exhausted, func(subject string) bool { return strings.HasPrefix(subject, "key:") })
	return err
}

// providersBlock has the providers, those that fail first.
type providersBlock struct {
	block
	Rows    []providerRow
	Failing int
	More    int
}

// providerRow is a provider of GET /v1/providers, with what the series say of it.
type providerRow struct {
	ID               string
	Targets          []providerTarget
	State            string
	Model            string // whose state is the worst
	Until            time.Time
	Requests, Errors int64 // of the day; none without activity:read
}

type providerTarget struct {
	Model, State string
	Until        time.Time `json:"cooldown_until"`
}

// stateHealthy is one of the states of GET /v1/providers.
const stateHealthy = "healthy"

// providerStates are the states of targets in words, the worst first.
var providerStates = []struct{ state, Text, Tone string }{
	{"failing", "failing", "bad"},
	{"cooling", "cooling down", "bad"},
	{"probing", "being tried again", "warn"},
	{stateHealthy, "healthy", "good"},
	{"", "no calls lately", ""},
}

// rank is the place of the state in providerStates.
func (r *providerRow) rank() int {
	for i, s := range providerStates {
		if s.state == r.State {
			return i
		}
	}
	return len(providerStates) - 1
}

// Text is the state in words, Tone its colour.
func (r *providerRow) Text() string { return providerStates[r.rank()].Text }

// Tone is the colour of the state.
func (r *providerRow) Tone() string { return providerStates[r.rank()].Tone }

// Failing reports whether calls to some model fail.
func (r *providerRow) Failing() bool { return r.State != "" && r.State != stateHealthy }

// FailedShare is the part of the calls of the day that failed.
func (r *providerRow) FailedShare() float64 { return float64(r.Errors) / float64(max(r.Requests, 1)) }

// Rows is the list of the calls of the day that failed.
func (r *providerRow) Rows() string {
	return activityLink(&span{Choice: "24h"}, url.Values{"provider": {r.ID}, "code": {anyCode}})
}

// sums may be nil.
func (b *providersBlock) read(v *visit, sums *seriesAnswer) error {
	if !v.has(keys.ProvidersRead) {
		b.Needs = keys.ProvidersRead.String()
		return nil
	}
	var answer struct{ Data []providerRow }
	if err := v.get("/v1/providers", nil, &answer); err != nil {
		return err
	}
	for i := range answer.Data {
		r := &answer.Data[i]
		for _, t := range r.Targets {
			if candidate := (providerRow{State: t.State}); r.State == "" || candidate.rank() < r.rank() {
				r.State, r.Model, r.Until = t.State, t.Model, t.Until
			}
		}
		r.count(sums)
		if r.Failing() {
			b.Failing++
		}
	}
	slices.SortStableFunc(answer.Data, func(x, y providerRow) int {
		return cmp.Or(cmp.Compare(x.rank(), y.rank()), cmp.Compare(y.Requests, x.Requests))
	})
	b.Rows = answer.Data[:min(len(answer.Data), overviewRows)]
	b.More = len(answer.Data) - len(b.Rows)
	return nil
}

// count sets the calls of the day.
func (r *providerRow) count(sums *seriesAnswer) {
	if sums == nil {
		return
	}
	for i := range sums.Data {
		if sums.Data[i].Name == r.ID {
			day := sumUp(sums.Data[i].Points, sums.lastDay(), sums.To)
			r.Requests, r.Errors = day.Requests, day.Errors
		}
	}
}

// desktopsBlock has the open sessions, and workstations that can be opened.
type desktopsBlock struct {
	block
	Hidden   bool // the gateway has no workstations
	Sessions []desktopSession
	More     int
	Free     []overviewDesktop
	Own      bool // the key sees only its own sessions
}

// desktopSession is a session of GET /v1/sessions.
type desktopSession struct {
	Workstation string `json:"workstation_id"`
	rowKey
	Since time.Time `json:"started_at"`
}

// overviewDesktop is a workstation of GET /v1/workstations.
type overviewDesktop struct {
	ID     string `json:"workstation_id"`
	Tenant string
	State  string
}

// Href is the page that shows the desktop.
func (d *overviewDesktop) Href() string {
	return Prefix + "/workstations/" + url.PathEscape(d.ID) + "/desktop"
}

func (b *desktopsBlock) read(v *visit) error {
	b.Own = !v.has(keys.WorkstationsManage)
	if b.Own && !v.has(keys.WorkstationsConnect) {
		b.Needs = keys.WorkstationsConnect.String()
		return nil
	}
	var sessions struct{ Data []desktopSession }
	if err := v.get("/v1/sessions", nil, &sessions); err != nil {
		b.Hidden = isUnknownURL(err)
		return err
	}
	b.Sessions = sessions.Data[:min(len(sessions.Data), overviewRows)]
	b.More = len(sessions.Data) - len(b.Sessions)
	for i := range b.Sessions {
		b.Sessions[i].Label = labelOf(v, b.Sessions[i].Key)
	}
	if !v.has(keys.WorkstationsConnect) {
		return nil
	}
	var desktops struct{ Data []overviewDesktop }
	if err := v.get("/v1/workstations", nil, &desktops); err != nil {
		return err
	}
	for _, d := range desktops.Data { // an address is only issued for workstations of the key's tenant
		if d.State == "available" && d.Tenant == v.caller.Tenant && len(b.Free) < overviewRows {
			b.Free = append(b.Free, d)
		}
	}
	return nil
}

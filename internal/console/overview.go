package console

import (
	"errors"
	"html/template"
	"net/url"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/chart"
	"github.com/gatehouse-proxy/gatehouse/internal/keys"
)

// overviewPage is what its template shows: blocks, each for a scope.
type overviewPage struct {
	Needs     needsBlock
	Traffic   trafficBlock
	Budgets   budgetsBlock
	Providers providersBlock
	Tools     toolsBlock
	Desktops  desktopsBlock
	Used      usedBlock
	First     firstCall
}

// block is a part of the page that can be missing.
type block struct {
	Needs  string // the scope without which it is not shown
	Failed string // why it cannot be shown now
}

// lacks records why a block is not shown. Another error is an error of the whole page.
func (b *block) lacks(err error) error {
	var failure *Failure
	if !errors.As(err, &failure) {
		return err
	}
	b.Failed = failure.Message
	return nil
}

// overview shows the state of all at a glance.
func overview(v *visit) error {
	var p overviewPage
	var day map[string]callsOfDay
	for _, read := range []func() error{
		func() (err error) { day, err = p.Traffic.read(v); return p.Traffic.lacks(err) },
		func() error { return p.Budgets.lacks(p.Budgets.read(v)) },
		func() error { return p.Providers.lacks(p.Providers.read(v, day)) },
		func() error { return p.Tools.lacks(p.Tools.read(v, day)) },
		func() error { return p.Desktops.lacks(p.Desktops.read(v)) },
		func() error {
			if p.Traffic.Empty || p.Traffic.Needs != "" || p.Traffic.Failed != "" {
				return nil // there is nothing to add up, or no right to it
			}
			return p.Used.lacks(p.Used.read(v, p.Tools.all))
		},
	} {
		if err := read(); err != nil {
			return err
		}
	}
	p.Needs.read(v, &p)
	p.First = newFirstCall(v)
	if p.First.Open = p.Traffic.Empty; p.First.Open && len(p.Desktops.Free) > 0 {
		p.First.Desktop = &p.Desktops.Free[0]
	}
	return v.render("overview", &p)
}

// trafficHours is the time of the figures; as much before it is what they are compared with.
const trafficHours = 24

// trafficBlock has the sums of a day.
type trafficBlock struct {
	block
	Tiles []trafficTile
	Since template.HTML
	Empty bool // no call in the day nor in the one before
	Chart template.HTML
}

// trafficTile is a figure of the day, what it was the day before, and how it went.
type trafficTile struct {
	Name, Href, Figure, Note, Rows string // Rows is where the calls are listed, or ""
	Spark                          template.HTML
}

// read asks for the sums of two days by provider, and returns the calls of the last day by provider and
// server: other blocks show from them which fail.
func (b *trafficBlock) read(v *visit) (map[string]callsOfDay, error) {
	if !v.has(keys.ActivityRead) {
		b.Needs = keys.ActivityRead.String()
		return nil, nil
	}
	to := v.now.UTC().Truncate(time.Hour).Add(time.Hour)
	q := url.Values{
		"by": {"provider"}, "step": {"hour"}, "top": {"50"},
		"from": {to.Add(-2 * trafficHours * time.Hour).Format(time.RFC3339)}, "to": {to.Format(time.RFC3339)},
	}
	a, err := sumsOf(v, q)
	if err != nil {
		return nil, err
	}
	b.Empty = a.Total.Total.Requests == 0
	b.Since = minute(to.Add(-trafficHours * time.Hour))
	day := a.lastDay()
	before, now := sumUp(a.Total.Points, a.From, day), sumUp(a.Total.Points, day, a.To)
	tile := func(name, href, class, figure, note string, of func(*seriesPoint) float64) *trafficTile {
		values := a.sums(&a.Total, of)
		spark := chart.Sparkline{ID: "spark-" + href, Title: name + " of each of the last 24 hours", Values: values[len(values)-min(trafficHours, len(values)):], Class: class}
		b.Tiles = append(b.Tiles, trafficTile{Name: name, Href: Prefix + "/" + href, Figure: figure, Note: note, Spark: spark.SVG()})
		return &b.Tiles[len(b.Tiles)-1]
	}
	tile("Requests", "usage?metric=requests", "s1", count(now.Requests), change(float64(now.Requests), float64(before.Requests)), func(p *seriesPoint) float64 { return float64(p.Requests) })
	failed := tile("Refused or failed", "refusals", "error", count(now.Errors), failedShare(&now, &before),
		func(p *seriesPoint) float64 { return float64(p.Errors) })
	if now.Errors > 0 {
		failed.Rows = activityLink(&span{Choice: "24h"}, url.Values{"code": {anyCode}})
	}
	cost := tile("Cost", "usage", "s2", usd(now.Cost), change(now.Cost, before.Cost), func(p *seriesPoint) float64 { return p.Cost })
	if now.Unpriced > 0 {
		cost.Note += ", without " + plural(now.Unpriced, "call") + " of unknown price"
		if now.Cost == 0 {
			cost.Figure, cost.Note = unknown, "the price of "+plural(now.Unpriced, "call")+" is unknown"
		}
	}
	tile("Tokens", "usage?metric=tokens", "s4", short(now.Tokens()), change(float64(now.Tokens()), float64(before.Tokens())), func(p *seriesPoint) float64 { return float64(p.Tokens()) })
	calls := a.day()
	return calls, readFailures(v, calls, "provider", nil)
}

// failedShare is what part of the requests failed, in words.
func failedShare(now, before *seriesPoint) string {
	if now.Requests == 0 {
		return "no requests"
	}
	text := percent(float64(now.Errors), float64(now.Requests)) + " of the requests"
	if before.Requests > 0 {
		text += ", " + percent(float64(before.Errors), float64(before.Requests)) + " the day before"
	}
	return text
}

// lastDay is when the day of the figures begins.
func (a *seriesAnswer) lastDay() time.Time { return a.To.Add(-trafficHours * time.Hour) }

// sumUp adds up the points of a time.
func sumUp(points []seriesPoint, from, to time.Time) (sum seriesPoint) {
	for i := range points {
		p := &points[i]
		if p.At.Before(from) || !p.At.Before(to) {
			continue
		}
		sum.add(p)
	}
	return sum
}

// change compares a figure with the figure of the day before, in words.
func change(now, before float64) string {
	switch {
	case before == 0 && now == 0:
		return "as the day before"
	case before == 0:
		return "none the day before"
	case now >= 10*before:
		return "more than ten times the day before"
	}
	by := percent(max(now-before, before-now), before)
	switch {
	case by == "0.0 %":
		return "as the day before"
	case now > before:
		return by + " more than the day before"
	}
	return by + " less than the day before"
}

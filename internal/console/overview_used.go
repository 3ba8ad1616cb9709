package console

import (
	"cmp"
	"html/template"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/chart"
)

// usedRows is how many models, tools and keys are shown. Usage has all.
const usedRows = 5

// usedBlock has the models, tools and keys that were used most in the last day.
type usedBlock struct {
	block
	Lists []usedList
}

// usedList has those of a kind, by what they cost, or by their requests where nothing has cost.
type usedList struct {
	Name, Of string
	All      string // all of them
	Rows     []usedRow
}

type usedRow struct {
	Name, Href, Figure, Calls string
	Note                      string // "alias"
	Share                     float64
	Bar                       template.HTML
}

// read asks for the sums of the last day. "server/tool" is a tool, and "server" its other requests.
func (b *usedBlock) read(v *visit, servers []serverRow) error {
	to := v.now.UTC().Truncate(time.Hour).Add(time.Hour)
	sums := map[string]*seriesAnswer{}
	for _, by := range []string{"model", "key"} {
		a, err := sumsOf(v, url.Values{
			"by": {by}, "step": {"hour"}, "top": {"50"},
			"from": {to.Add(-trafficHours * time.Hour).Format(time.RFC3339)}, "to": {to.Format(time.RFC3339)},
		})
		if err != nil {
			return err
		}
		sums[by] = a
	}
	var models, tools []seriesLine
	for _, line := range sums["model"].Data {
		server, tool, _ := strings.Cut(line.Name, "/")
		switch ofServer := slices.ContainsFunc(servers, func(s serverRow) bool { return s.ID == server }); {
		case ofServer && tool != "":
			tools = append(tools, line)
		case !ofServer && line.Name != "":
			models = append(models, line)
		}
	}
	for _, list := range []struct {
		name, by, next string
		lines          []seriesLine
	}{{"Models", "model", "key", models}, {"Tools", "model", "key", tools}, {"Keys", "key", "model", sums["key"].Data}} {
		if len(list.lines) > 0 {
			b.Lists = append(b.Lists, newUsedList(v, list.name, list.by, list.next, list.lines))
		}
	}
	if len(models) > 0 {
		notes, rows := notesOfModels(v), b.Lists[0].Rows
		for i := range rows {
			rows[i].Note = notes[rows[i].Name]
		}
	}
	return nil
}

func newUsedList(v *visit, name, by, next string, lines []seriesLine) usedList {
	var cost float64
	var requests int64
	for i := range lines {
		cost, requests = cost+lines[i].Total.Cost, requests+lines[i].Total.Requests
	}
	list := usedList{Name: name, Of: "cost", All: Prefix + "/usage?range=24h&by=" + by}
	share := func(p *seriesPoint) float64 { return p.Cost / cost }
	if cost == 0 {
		list.Of = "requests"
		share = func(p *seriesPoint) float64 { return float64(p.Requests) / float64(max(requests, 1)) }
	}
	slices.SortStableFunc(lines, func(x, y seriesLine) int { return cmp.Compare(share(&y.Total), share(&x.Total)) })
	for i := range lines[:min(len(lines), usedRows)] {
		p := &lines[i].Total
		q := url.Values{"range": {"24h"}, by: {lines[i].Name}, "by": {next}}
		row := usedRow{
			Name: seriesName(v, by, lines[i].Name), Href: Prefix + "/usage?" + q.Encode(), Calls: plural(p.Requests, "call"),
			Share: share(p), Bar: chart.Share(chart.Class(0), share(p)),
		}
		if p.Cost > 0 {
			row.Figure = p.Spent().Short
		}
		list.Rows = append(list.Rows, row)
	}
	return list
}

package console

import (
	"cmp"
	"fmt"
	"html/template"
	"math"
	"slices"
	"strconv"

	"github.com/gatehouse-proxy/gatehouse/internal/chart"
)

// usageTop is how many rows the table has. The chart has a colour for fewer.
const usageTop = 20

// usageMetric is what the page shows over time.
type usageMetric struct {
	value string // in the URL
	Name  string
	unit  chart.Unit
	of    func(*seriesPoint) float64
	text  func(float64) string
	total func(float64) string
}

var usageMetrics = []usageMetric{
	{"cost", "Cost", chart.USD, func(p *seriesPoint) float64 { return p.Cost }, usd, usd},
	{"tokens", "Tokens", chart.Count, func(p *seriesPoint) float64 { return float64(p.Tokens()) }, wholeNumber, func(v float64) string { return short(int64(v)) }},
	{"requests", "Requests", chart.Count, func(p *seriesPoint) float64 { return float64(p.Requests) }, wholeNumber, wholeNumber},
}

func wholeNumber(v float64) string { return count(int64(v)) }

// short is a number with k, M or B.
func short(n int64) string {
	const whole = 10_000 // below it all digits fit
	if n < whole {
		return count(n)
	}
	return chart.Count.Tick(float64(n))
}

// usageNext is by what the calls of a row are shown after a click on it.
var usageNext = map[string]string{
	"model": "key", "key": "model", "provider": "model", "tenant": "key", "end_user": "model", "app": "end_user",
}

// usagePage is what its template shows.
type usagePage struct {
	sumsPage
	Metrics        []usageTile
	Groups         []option
	By, Metric, Of string
	TooMany        bool // calls for sums of what callers say: sums by model are shown instead
	Chart          template.HTML
	Rows           []usageRow
	Total          usageRow
	More           int // series that have no row
	File           string
	FileRows       int64
}

// Subject is what the series are of.
func (p *usagePage) Subject() string { return inPlainWords(p.By) }

// saidNames are the fields that callers say of themselves. Sums by them, or of them, are read from
// the calls.
var saidNames = []string{"end_user", "app"}

// usageTile is a total, and a link to its chart.
type usageTile struct {
	option
	Figure, Note string
}

// usageRow is a row of the table.
type usageRow struct {
	Name, Href, Class string
	Note              string // "alias"
	Cost, CostNote    string
	Share             float64
	Bar               template.HTML
	*seriesPoint
}

// usage shows cost, tokens or requests over time.
func usage(v *visit) error {
	s := spanOf(v)
	by := v.query.Get("by")
	if usageNext[by] == "" {
		by = "model"
	}
	sums, err := readSums(v, &s, by, usageTop)
	tooMany := isAbout(err, "by") // the route had to read too many calls
	if tooMany {
		for _, name := range saidNames {
			v.query.Del(name)
		}
		by = "model"
		sums, err = readSums(v, &s, by, usageTop)
	}
	if err != nil {
		return err
	}
	p := usagePage{sumsPage: sums, By: by, TooMany: tooMany}
	metric := &usageMetrics[0]
	for i := range usageMetrics {
		if usageMetrics[i].value == v.query.Get("metric") {
			metric = &usageMetrics[i]
		}
	}
	p.Metric, p.Of = metric.Name, metric.value
	path := v.r.URL.RequestURI()
	if err := p.links(v, path, metric); err != nil {
		return err
	}
	p.File, p.FileRows = seriesFile(v, &s, p.Answer, by)
	p.Answer.joinHours()
	p.Time.Step = p.Answer.Step
	return v.render("usage", p.draw(v, metric, path))
}

// links makes the choices of what is shown, and of what the series are.
func (p *usagePage) links(v *visit, path string, current *usageMetric) error {
	for _, m := range usageMetrics {
		href, err := query(path, "metric", m.value)
		if err != nil {
			return err
		}
		total := &p.Answer.Total.Total
		tile := usageTile{option: option{m.Name, href, m.value == current.value}, Figure: m.total(m.of(total))}
		switch {
		case m.value == "cost" && total.Unpriced > 0:
			tile.Note = "without " + plural(total.Unpriced, "call") + " whose price is unknown"
			if total.Cost == 0 {
				tile.Figure = unknown
				tile.Note = "the price of " + plural(total.Unpriced, "call") + " is unknown"
			}
		case m.value == "tokens":
			tile.Note = short(total.Prompt) + " in, " + short(total.Completion) + " out"
		case m.value == "requests":
			tile.Note = count(total.Errors) + " failed or refused"
		}
		p.Metrics = append(p.Metrics, tile)
	}
	groups := []string{"model", "Model", "key", "Key", "provider", "Provider", "end_user", "End user", "app", "App"}
	if v.caller.AllTenants {
		groups = append(groups, "tenant", "Tenant")
	}
	var err error
	p.Groups, err = choices(path, "by", p.By, groups...)
	return err
}

// draw makes the chart and the rows, the greatest first.
func (p *usagePage) draw(v *visit, metric *usageMetric, path string) *usagePage {
	a := p.Answer
	name := func(n string) string { return seriesName(v, p.By, n) }
	shown, places := a.top(metric.of, name)
	desc := fmt.Sprintf("%s of each %s, stacked by %s; the table below has the totals.", metric.Name, a.Step, p.Subject())
	frame := a.frame("usage", metric.Name+" by "+p.Subject(), desc)
	frame.Unit, frame.Text = metric.unit, metric.text
	p.Chart = chart.Stack{Frame: frame, Series: shown}.SVG()

	lines := slices.Clone(a.Data)
	slices.SortStableFunc(lines, func(x, y seriesLine) int {
		return cmp.Or(cmp.Compare(metric.of(&y.Total), metric.of(&x.Total)), cmp.Compare(y.Total.Unpriced, x.Total.Unpriced))
	})
	whole, decimals := metric.of(&a.Total.Total), moneyDecimals(a.Total.Total.Cost)
	p.Total = usageRow{Name: "Total", seriesPoint: &a.Total.Total}
	p.Total.Cost, p.Total.CostNote = costCell(&a.Total.Total, decimals)
	var notes map[string]string
	if p.By == "model" {
		notes = notesOfModels(v)
	}
	row := func(name, href, class string, point *seriesPoint) {
		r := usageRow{Name: name, Href: href, Class: class, Note: notes[name], seriesPoint: point}
		r.Cost, r.CostNote = costCell(point, decimals)
		if whole > 0 {
			r.Share = metric.of(point) / whole
		}
		r.Bar = chart.Share(class, r.Share)
		p.Rows = append(p.Rows, r)
	}
	for i := range lines {
		line := &lines[i]
		place, coloured := places[line.Name]
		if !coloured {
			place = chart.MaxSeries
		}
		href := ""
		if line.Name != "" {
			href, _ = query(path, p.By, line.Name, "by", usageNext[p.By]) // the path was parsed before
		}
		row(name(line.Name), href, chart.Class(place), &line.Total)
	}
	if a.Other != nil {
		p.More = a.Other.Series
		row(plural(int64(p.More), "other "+p.Subject()), "", chart.Class(chart.MaxSeries), &a.Other.Total)
	}
	return p
}

// moneyDecimals is how many decimals the amounts of a column have, so that they can be compared.
func moneyDecimals(total float64) int {
	switch {
	case total >= 100:
		return 2
	case total >= 0.1:
		return 4
	}
	return 6
}

// costCell is the cost of a row. What is not known is never shown as nothing.
func costCell(p *seriesPoint, decimals int) (cost, note string) {
	least := math.Pow10(-decimals)
	switch {
	case p.Cost == 0 && p.Unpriced > 0:
		return "price unknown", ""
	case p.Cost == 0:
		return "$0", ""
	case p.Cost < least/2:
		cost = "< $" + strconv.FormatFloat(least, 'f', decimals, 64)
	default:
		cost = dollars(p.Cost, decimals)
	}
	if p.Unpriced > 0 {
		note = "+ " + plural(p.Unpriced, "unpriced call")
	}
	return cost, note
}

// seriesName names a series to a reader: the API has "" for calls that have no value.
func seriesName(v *visit, by, name string) string {
	switch {
	case by == "key" && name != "":
		return keyName(v, name)
	case name != "":
		return name
	case by == "code":
		return "no error"
	case slices.Contains(saidNames, by):
		return "not named"
	}
	return "sent to no provider"
}

// usageFile is the figures of the page as CSV.
func usageFile(v *visit) error {
	q := v.r.URL.Query()
	q.Set("format", "csv")
	return v.download(seriesRoute, q, "gatehouse-usage.csv")
}

// seriesFile is the address of the page's figures as CSV, and how many rows they have.
func seriesFile(v *visit, s *span, a *seriesAnswer, by string) (href string, rows int64) {
	for i := range a.Data {
		rows += int64(len(a.Data[i].Points))
	}
	if a.Other != nil {
		rows += int64(len(a.Other.Points))
	}
	return Prefix + "/usage.csv?" + seriesQuery(v, s, by, usageTop).Encode(), rows
}

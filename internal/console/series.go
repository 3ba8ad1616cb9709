package console

import (
	"cmp"
	"html/template"
	"maps"
	"math"
	"net/url"
	"slices"
	"strconv"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/activity"
	"github.com/gatehouse-proxy/gatehouse/internal/chart"
)

// seriesAnswer is the answer of GET /api/v1/activity/series.
type seriesAnswer struct {
	By, Step        string
	From, To        time.Time
	Complete        bool
	PercentileError float64 `json:"percentile_error"`
	Data            []seriesLine
	Other           *seriesLine
	Total           seriesLine
}

// seriesLine is one series. Points without requests are not there.
type seriesLine struct {
	Name   string
	Series int // how many the other ones are
	Total  seriesPoint
	Points []seriesPoint
}

// seriesPoint has the sums of a step, or of the whole time.
type seriesPoint struct {
	At                         time.Time
	Requests, Errors, Unpriced int64
	Cost                       float64
	Prompt                     int64 `json:"prompt_tokens"`
	Completion                 int64 `json:"completion_tokens"`
	Cached                     int64 `json:"cached_tokens"`
	Units                      map[string]int64
	Duration                   *percentiles `json:"duration_ms"`
	FirstToken                 *percentiles `json:"first_token_ms"`
	PerToken                   *percentiles `json:"per_token_ms"`
	Overhead                   *percentiles `json:"overhead_ms"`
}

// percentiles are of Count calls, in milliseconds.
type percentiles struct {
	Count         int64
	P50, P95, P99 float64
}

// Tokens are those that were read and written.
func (p *seriesPoint) Tokens() int64 { return p.Prompt + p.Completion }

// Spent is what the calls cost. Calls of unknown price are said, and alone they are not 0.
func (p *seriesPoint) Spent() cost {
	switch without := plural(p.Unpriced, "call") + " of unknown price"; {
	case p.Unpriced == 0:
		return cost{Amount: usd(p.Cost), Short: usd(p.Cost)}
	case p.Cost == 0:
		return cost{unknown, without, unknown}
	default:
		return cost{usd(p.Cost), "without " + without, usd(p.Cost)}
	}
}

// Also are the units besides tokens of text, as the page of a call names them.
func (p *seriesPoint) Also() (all []fact) {
	for i := range activity.Fields {
		if f := &activity.Fields[i]; p.Units[f.Name] > 0 {
			all = append(all, fact{f.Fact, count(p.Units[f.Name])})
		}
	}
	return all
}

// filterNames are the filters of the series route, which the pages pass on from their URL.
var filterNames = []string{"model", "provider", "key", "tenant", "code", "end_user", "app"}

// filterValues are the filters of the URL.
func filterValues(v *visit) url.Values {
	q := url.Values{}
	for _, name := range filterNames {
		setParam(q, name, v.query.Get(name))
	}
	return q
}

// seriesQuery asks for sums over time, with the filters of the URL.
func seriesQuery(v *visit, s *span, by string, top int) url.Values {
	q := s.query()
	q.Set("by", by)
	q.Set("top", strconv.Itoa(top))
	maps.Copy(q, filterValues(v))
	return q
}

// readSeries asks for sums over time, with the filters of the URL and others.
func readSeries(v *visit, s *span, by string, top int, others url.Values) (*seriesAnswer, error) {
	var answer seriesAnswer
	ask := func() error {
		q := seriesQuery(v, s, by, top)
		maps.Copy(q, others)
		return v.get(seriesRoute, q, &answer)
	}
	err := ask()
	if s.hourly(err) {
		err = ask()
	}
	return &answer, err
}

// length is the length of a step.
func (a *seriesAnswer) length() time.Duration { return stepLengths[a.Step] }

// steps is how many there are. The route bounds them.
func (a *seriesAnswer) steps() int {
	return min(max(int(a.To.Sub(a.From)/a.length()), 0), chart.MaxPoints)
}

// mostHourBars is how many hours are drawn as bars of their own: four days.
const mostHourBars = 96

// joinHours makes steps of six hours of more hours than that: bars of an hour would be hairlines.
// The sums stay, and percentiles are lost.
func (a *seriesAnswer) joinHours() {
	if a.Step != "hour" || a.steps() <= mostHourBars {
		return
	}
	a.Step = sixHours
	length := a.length()
	join := func(line *seriesLine) {
		var joined []seriesPoint
		for i := range line.Points {
			p := &line.Points[i]
			at := a.From.Add(p.At.Sub(a.From).Truncate(length))
			if n := len(joined); n == 0 || joined[n-1].At != at {
				joined = append(joined, seriesPoint{At: at})
			}
			joined[len(joined)-1].add(p)
		}
		line.Points = joined
	}
	for i := range a.Data {
		join(&a.Data[i])
	}
	if a.Other != nil {
		join(a.Other)
	}
	join(&a.Total)
	if rest := a.To.Sub(a.From) % length; rest > 0 { // the last step is shorter
		a.To = a.To.Add(length - rest)
	}
}

// frame is the frame of a chart over the time of the answer.
func (a *seriesAnswer) frame(id, title, desc string) chart.Frame {
	return chart.Frame{ID: id, Title: title, Desc: desc, From: a.From, Step: a.length()}
}

// strip shows how many requests each step has.
func (a *seriesAnswer) strip() template.HTML {
	requests := func(p *seriesPoint) float64 { return float64(p.Requests) }
	failed := func(p *seriesPoint) float64 { return float64(p.Errors) }
	return chart.Strip{
		Frame:    a.frame("requests", "Requests over time", "How many requests came in each "+a.Step+", and how many of them failed."),
		Requests: a.sums(&a.Total, requests), Errors: a.sums(&a.Total, failed),
	}.SVG()
}

// sums are the values of a line's steps, 0 where nothing was called.
func (a *seriesAnswer) sums(line *seriesLine, value func(*seriesPoint) float64) []float64 {
	return a.values(line, 0, value)
}

// values are the values of a line's steps; a step without a point has the value none.
func (a *seriesAnswer) values(line *seriesLine, none float64, value func(*seriesPoint) float64) []float64 {
	all := slices.Repeat([]float64{none}, a.steps())
	for i := range line.Points {
		p := &line.Points[i]
		if step := int(p.At.Sub(a.From) / a.length()); step >= 0 && step < len(all) {
			all[step] = value(p)
		}
	}
	return all
}

// gap is the value of a step that has none.
var gap = math.NaN()

// top returns the lines with the greatest values, at most as many as a chart has colours, and the sum
// of what is left of total. Lines whose value is 0 are left out.
func (a *seriesAnswer) top(value func(*seriesPoint) float64, name func(string) string) (shown []chart.Series, places map[string]int) {
	ordered := make([]*seriesLine, 0, len(a.Data))
	for i := range a.Data {
		if value(&a.Data[i].Total) > 0 {
			ordered = append(ordered, &a.Data[i])
		}
	}
	slices.SortStableFunc(ordered, func(x, y *seriesLine) int {
		return cmp.Compare(value(&y.Total), value(&x.Total))
	})
	rest := a.sums(&a.Total, value)
	places = map[string]int{}
	for i, line := range ordered[:min(len(ordered), chart.MaxSeries)] {
		values := a.sums(line, value)
		for step, v := range values {
			rest[step] = max(rest[step]-v, 0)
		}
		shown = append(shown, chart.Series{Name: name(line.Name), Values: values})
		places[line.Name] = i
	}
	if others := len(ordered) - len(shown); others > 0 || a.Other != nil && value(&a.Other.Total) > 0 {
		if a.Other != nil {
			others += a.Other.Series
		}
		shown = append(shown, chart.Series{Name: plural(int64(others), "other"), Values: rest, Other: true})
	}
	return shown, places
}

// sumsPage is what pages of sums over time have in common.
type sumsPage struct {
	Answer   *seriesAnswer
	Time     timeChoice
	Filters  []activeFilter
	Activity string // the list of the calls
}

// readSums reads the sums of a page, with so many series by a field.
func readSums(v *visit, s *span, by string, top int) (p sumsPage, err error) {
	if p.Answer, err = readSeries(v, s, by, top, nil); err != nil {
		return p, err
	}
	if p.Time, err = chooseTime(v, s, p.Answer); err != nil {
		return p, err
	}
	p.Activity = activityLink(s, filterValues(v))
	p.Filters, err = activeFilters(v, filterNames)
	return p, err
}

// activityLink leads to the rows of a time.
func activityLink(s *span, filters url.Values) string {
	q := s.shared()
	maps.Copy(q, filters)
	return Prefix + "/activity?" + q.Encode()
}

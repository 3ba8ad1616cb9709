package console

import (
	"cmp"
	"html/template"
	"slices"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/chart"
	"github.com/gatehouse-proxy/gatehouse/internal/desktop"
)

// refusalsTop is how many codes are asked for: more than there are in use.
const refusalsTop = 50

// refusalsPage is what its template shows.
type refusalsPage struct {
	sumsPage
	Failed, Requests int64
	Chart            template.HTML
	Rows             []refusalRow
	Docs             string
}

// refusalRow is a code.
type refusalRow struct {
	Code, Class string
	Status      int // 0: not known, or the provider's
	Count       int64
	Share       float64
	Bar         template.HTML
	Href        string // its calls
	explanation
}

// refusals shows which calls were refused or failed.
func refusals(v *visit) error {
	s := spanOf(v)
	sums, err := readSums(v, &s, "code", refusalsTop)
	if err != nil {
		return err
	}
	answer := sums.Answer
	answer.joinHours()
	sums.Time.Step = answer.Step
	p := refusalsPage{sumsPage: sums, Requests: answer.Total.Total.Requests, Failed: answer.Total.Total.Errors, Docs: codesLink}
	failures := func(p *seriesPoint) float64 { return float64(p.Errors) }
	shown, places := answer.top(failures, func(code string) string { return code })
	frame := answer.frame("refusals", "Refused and failed calls by code", "How many calls of each "+answer.Step+" were refused or failed; the table below has the totals.")
	frame.Unit, frame.Text = chart.Count, wholeNumber
	p.Chart = chart.Stack{Frame: frame, Series: shown}.SVG()
	for i := range answer.Data {
		line := &answer.Data[i]
		if line.Total.Errors == 0 {
			continue
		}
		place, coloured := places[line.Name]
		if !coloured {
			place = chart.MaxSeries
		}
		filters := filterValues(v)
		filters.Set("code", line.Name)
		p.Rows = append(p.Rows, refusal(line, place, p.Failed, activityLink(&s, filters)))
	}
	slices.SortStableFunc(p.Rows, func(x, y refusalRow) int { return cmp.Compare(y.Count, x.Count) })
	return v.render("refusals", &p)
}

// FailedShare is the part of all calls that failed.
func (p *refusalsPage) FailedShare() float64 { return float64(p.Failed) / float64(max(p.Requests, 1)) }

// refusal is the row of a code.
func refusal(line *seriesLine, place int, failed int64, href string) refusalRow {
	code := apierror.Code(line.Name)
	row := refusalRow{Code: line.Name, Class: chart.Class(place), Count: line.Total.Errors, Share: float64(line.Total.Errors) / float64(max(failed, 1)), Href: href}
	row.Bar = chart.Share(row.Class, row.Share)
	meaning := code.Meaning()
	switch viewer := desktop.RefusalCode(line.Name).Meaning(); {
	case meaning.Text != "":
		row.Status = code.Status()
	case viewer.Text != "":
		meaning = viewer
	default:
		meaning = apierror.Meaning{Text: "The provider refused the request with this code of its own.", Advice: "Look for the code in the provider's documentation; the calls have the message."}
	}
	row.explanation = explanationOf(meaning)
	return row
}

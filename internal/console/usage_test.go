package console

import (
	"encoding/csv"
	"fmt"
	"html"
	"math"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/activity"
	"github.com/gatehouse-proxy/gatehouse/internal/chart"
	"github.com/gatehouse-proxy/gatehouse/internal/units"
)

// text is what a reader sees of a page or a part of it.
func text(page string) string {
	page = regexp.MustCompile(`(?s)<svg.*?</svg>`).ReplaceAllString(page, "")
	page = regexp.MustCompile(`<[^>]*>`).ReplaceAllString(page, " ")
	return strings.Join(strings.Fields(html.UnescapeString(page)), " ")
}

// rowsOf are the rows of the tables of a page, as text.
func rowsOf(page string) (rows []string) {
	for _, row := range regexp.MustCompile(`(?s)<tr>.*?</tr>`).FindAllString(page, -1) {
		rows = append(rows, text(row))
	}
	return rows
}

func wantRows(t *testing.T, page string, want ...string) {
	t.Helper()
	got := rowsOf(page)
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("the rows are\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// usageCalls are two calls with a price, one without, and a refusal.
var usageCalls = []activity.Record{
	chartsCall(func(r *activity.Record) { r.CostNano = 2_000_000_000 }),
	chartsCall(func(r *activity.Record) { r.Model, r.Key, r.CostNano = "acme/small", "ci", 500_000_000 }),
	chartsCall(func(r *activity.Record) { r.Model, r.Provider, r.Priced, r.CostNano = "home/llama", "home", false, 0 }),
	chartsCall(func(r *activity.Record) {
		r.Provider, r.Status, r.Code, r.CostNano, r.PromptTokens, r.CompletionTokens, r.UsageSource = "", 429, "rate_limit_exceeded", 0, 0, 0, activity.UsageNone
	}),
}

// An unknown price is never shown as nothing, and a refusal costs nothing.
func TestUsageHasTheSumsOfTheCalls(t *testing.T) {
	a := newChartsAPI(t, usageCalls...)
	a.answers["/v1/models"] = `{"data":[{"id":"acme/large","owned_by":"acme"},{"id":"acme/small","owned_by":"gatehouse"}]}`
	body := a.visit("/console/usage").Body.String()
	wantRows(t, body,
		"Model Cost Share of cost Requests Errors Input tokens of them cached Output tokens",
		"acme/large $2.0000 80.0 % 1 0 1,000 0 200",
		"acme/small alias $0.5000 20.0 % 1 0 1,000 0 200",
		"home/llama price unknown 0.0 % 1 0 1,000 0 200",
		"sent to no provider $0 0.0 % 1 1 0 0 0",
		"Total $2.5000 + 1 unpriced call 4 1 3,000 0 600",
	)
	if !strings.Contains(text(body), "Cost $2.50 without 1 call whose price is unknown Tokens 3,600 3,000 in, 600 out Requests 4 1 failed or refused") {
		t.Errorf("the totals are wrong: %s", text(body))
	}
	if got := strings.Join(a.asked, " "); got != "/api/v1/activity/series /v1/models" {
		t.Errorf("the page asked %s", got)
	}
}

// What is no token of text has a column where there is any.
func TestUsageShowsUnits(t *testing.T) {
	calls := append(slices.Clip(usageCalls[:1]), chartsCall(func(r *activity.Record) {
		r.Model, r.CostNano, r.Units = "acme/draw", 500_000_000, units.Counts{units.Images: 1_200, units.Millis: 9_000}
	}))
	wantRows(t, newChartsAPI(t, calls...).visit("/console/usage").Body.String(),
		"Model Cost Share of cost Requests Errors Input tokens of them cached Output tokens Also used",
		"acme/large $2.0000 80.0 % 1 0 1,000 0 200",
		"acme/draw $0.5000 20.0 % 1 0 1,000 0 200 Pictures 1,200 Sound (ms) 9,000",
		"Total $2.5000 2 0 2,000 0 400 Pictures 1,200 Sound (ms) 9,000",
	)
}

func TestUsageByKeyShowsTokensOfOneModel(t *testing.T) {
	body := newChartsAPI(t, usageCalls...).visit("/console/usage?by=key&metric=tokens&provider=acme").Body.String()
	wantRows(t, body,
		"Key Cost Share of tokens Requests Errors Input tokens of them cached Output tokens",
		"dev $2.0000 50.0 % 1 0 1,000 0 200", "ci $0.5000 50.0 % 1 0 1,000 0 200", "Total $2.5000 2 0 2,000 0 400",
	)
	for _, want := range []string{
		`href="/console/usage?by=model&amp;key=ci&amp;metric=tokens&amp;provider=acme"`, `href="/console/usage?by=key&amp;metric=tokens">provider <b>acme</b>`,
		`href="/console/activity?provider=acme&amp;range=24h"`, "2,400",
	} {
		if !strings.Contains(body, want) {
			t.Errorf("no %s in %s", want, body)
		}
	}
}

// The link says how many rows the file has.
func TestUsageCanBeDownloaded(t *testing.T) {
	a := newChartsAPI(t, usageCalls...)
	link := regexp.MustCompile(`href="(/console/usage\.csv[^"]*)" download>Download these sums as CSV \((\d+) rows\)`).FindStringSubmatch(a.visit("/console/usage").Body.String())
	if link == nil {
		t.Fatal("no link")
	}
	w := a.visit(html.UnescapeString(link[1]))
	rows, err := csv.NewReader(w.Body).ReadAll()
	if err != nil || fmt.Sprint(len(rows)-1) != link[2] || len(rows) != 5 {
		t.Errorf("%d rows, %s are announced, %v", len(rows)-1, link[2], err)
	}
	if got := w.Header().Get("Content-Disposition"); got != `attachment; filename="gatehouse-usage.csv"` {
		t.Errorf("Content-Disposition is %s", got)
	}
}

func TestUsageWithoutCallsSaysWhatToDo(t *testing.T) {
	body := newChartsAPI(t).visit("/console/usage").Body.String()
	if !strings.Contains(text(body), "No calls in this time Choose a longer time above") || strings.Contains(body, "<table") {
		t.Error(text(body))
	}
}

// Only costs that are known are a sum.
func TestACostThatNobodyKnowsIsNotZero(t *testing.T) {
	body := newChartsAPI(t, usageCalls[2]).visit("/console/usage").Body.String()
	if !strings.Contains(text(body), "Cost — the price of 1 call is unknown") || strings.Contains(text(body), "$") {
		t.Error(text(body))
	}
}

func TestAmountsOfAColumnCanBeCompared(t *testing.T) {
	for _, c := range []struct {
		cost, total float64
		want        string
	}{
		{1234.5, 2000, "$1,234.50"}, {0.001, 2000, "< $0.01"}, {0.5, 3, "$0.5000"}, {0.00001, 3, "< $0.0001"}, {0.0000125, 0.01, "$0.000013"}, {0, 3, "$0"},
	} {
		if got, _ := costCell(&seriesPoint{Cost: c.cost}, moneyDecimals(c.total)); got != c.want {
			t.Errorf("%v of %v is %s, want %s", c.cost, c.total, got, c.want)
		}
	}
}

// The series of a chart, with the one of all others, are the sums of all calls, for each metric.
func TestSeriesOfAChartAreTheSumOfAllCalls(t *testing.T) {
	a := newChartsAPI(t, livelyCalls(600)...)
	for _, q := range []string{"?range=7d", "?range=30d&by=key", "?range=30d&by=provider"} {
		for _, metric := range usageMetrics {
			v := visiting(t, nil)
			v.r.URL.RawQuery, v.now = q[1:], chartsNow
			v.query = v.r.URL.Query()
			v.console.config.API, v.caller.Key = a.api, a.key
			s := spanOf(v)
			answer, err := readSeries(v, &s, "model", 9, nil) // of eleven models
			if err != nil {
				t.Fatal(err)
			}
			shown, places := answer.top(metric.of, func(name string) string { return name })
			if len(shown) != chart.MaxSeries+1 || len(places) != chart.MaxSeries || !shown[chart.MaxSeries].Other {
				t.Fatalf("%d series, %d places", len(shown), len(places))
			}
			var sum float64
			for _, line := range shown {
				for _, v := range line.Values {
					sum += v
				}
			}
			if want := metric.of(&answer.Total.Total); math.Abs(sum-want) > 1e-6*want || want == 0 {
				t.Errorf("%s %s: the chart has %v, the calls %v", q, metric.value, sum, want)
			}
		}
	}
}

func TestUsageIsSummedByWhatCallersSay(t *testing.T) {
	a := newChartsAPI(t,
		chartsCall(func(r *activity.Record) { r.EndUser, r.App, r.CostNano = "ada", "Acme Chat", 2_000_000_000 }),
		chartsCall(func(r *activity.Record) { r.EndUser, r.CostNano = "bob", 500_000_000 }),
		chartsCall(func(r *activity.Record) { r.CostNano = 1 }),
	)
	body := a.visit("/console/usage?by=end_user").Body.String()
	wantRows(t, body,
		"End user Cost Share of cost Requests Errors Input tokens of them cached Output tokens",
		"ada $2.0000 80.0 % 1 0 1,000 0 200",
		"bob $0.5000 20.0 % 1 0 1,000 0 200",
		"not named < $0.0001 0.0 % 1 0 1,000 0 200",
		"Total $2.5000 3 0 3,000 0 600")
	if !strings.Contains(body, `href="/console/usage?by=model&amp;end_user=ada"`) {
		t.Error("an end user does not lead to its models")
	}
	body = a.visit("/console/usage?by=model&end_user=ada").Body.String()
	if !strings.Contains(text(body), "Only calls with end user ada") || !strings.Contains(text(body), "Total $2.0000 1 0") {
		t.Errorf("the calls of an end user: %s", text(body))
	}
	a.busy = true
	for _, path := range []string{"/console/usage?by=end_user", "/console/usage?by=key&end_user=ada"} {
		body = a.visit(path).Body.String()
		if !strings.Contains(text(body), "too many calls to add up by end user or app") || !strings.Contains(text(body), "Total $2.5000 3 0") {
			t.Errorf("%s, with too many calls: %s", path, text(body))
		}
	}
}

// Bars of 168 hours would be hairlines. The table below has the same sums.
func TestSevenDaysAreDrawnBySixHours(t *testing.T) {
	a := newChartsAPI(t,
		chartsCall(func(r *activity.Record) { r.CostNano = 1_000_000_000 }),
		chartsCall(func(r *activity.Record) { r.CreatedAt = r.CreatedAt.Add(-time.Hour); r.CostNano = 2_000_000_000 }),
		chartsCall(func(r *activity.Record) { r.CreatedAt = r.CreatedAt.Add(-100 * time.Hour); r.CostNano = 4_000_000_000 }),
	)
	a.answers["/api/v1/activity"] = `{"data":[]}`
	for path, want := range map[string][2]string{"/console/usage?range=7d": {`data-step="21600"`, "by 6 hours"},
		"/console/activity?range=7d": {`data-step="21600"`, "by 6 hours"}, "/console/usage?range=24h": {`data-step="3600"`, "by the hour"}} {
		body := a.visit(path).Body.String()
		if !strings.Contains(body, want[0]) || !strings.Contains(text(body), want[1]) {
			t.Errorf("%s: not %q", path, want)
		}
	}
	if body := text(a.visit("/console/usage?range=7d").Body.String()); !strings.Contains(body, "Total $7.0000 3 0") {
		t.Errorf("the table has other sums: %s", body)
	}
	answer := &seriesAnswer{Step: "hour", From: chartsNow.Add(-170 * time.Hour), To: chartsNow}
	for i := range 170 {
		answer.Total.Points = append(answer.Total.Points, seriesPoint{At: answer.From.Add(time.Duration(i) * time.Hour), Requests: 1, Cost: 0.5})
	}
	answer.joinHours()
	if n := len(answer.Total.Points); n != 29 || answer.steps() != 29 || answer.Total.Points[0].Requests != 6 || answer.Total.Points[28].Requests != 2 || answer.Total.Points[28].Cost != 1 {
		t.Errorf("%d points, %d steps: %+v", n, answer.steps(), answer.Total.Points)
	}
}

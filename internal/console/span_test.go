package console

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/activity"
)

// The current hour or day is part of every time: a call must be seen at once.
func TestAPageShowsTheTimeOfItsURL(t *testing.T) {
	for q, want := range map[string]string{
		"":           "hour 2026-11-22T03:00:00Z 2026-11-23T03:00:00Z",
		"range=1h":   "minute 2026-11-23T01:21:00Z 2026-11-23T02:21:00Z",
		"range=7d":   "hour 2026-11-16T03:00:00Z 2026-11-23T03:00:00Z",
		"range=30d":  "day 2026-10-25T00:00:00Z 2026-11-24T00:00:00Z",
		"range=1000": "hour 2026-11-22T03:00:00Z 2026-11-23T03:00:00Z",
		"range=custom&from=2026-11-20&to=2026-11-22": "hour 2026-11-20 2026-11-22",
		"from=2026-11-20":                                   "hour 2026-11-20 ",
		"from=2026-11-23T00:00:00Z":                         "minute 2026-11-23T00:00:00Z ",
		"from=2026-11-20&to=2026-11-20":                     "hour 2026-11-20 2026-11-20",
		"from=2026-11-20T01:00:00Z&to=2026-11-20T06:00:01Z": "hour 2026-11-20T01:00:00Z 2026-11-20T06:00:01Z",
		"from=2026-09-20&to=2026-11-22":                     "day 2026-09-20 2026-11-22",
		"range=custom":                                      "day  ",
		"from=yesterday":                                    "day yesterday ",
	} {
		v := visiting(t, nil)
		v.r.URL.RawQuery, v.now = q, chartsNow
		v.query = v.r.URL.Query()
		s := spanOf(v)
		if got := s.step + " " + s.from + " " + s.to; got != want {
			t.Errorf("%s: %s, want %s", q, got, want)
		}
	}
}

func TestACustomTimeHasAForm(t *testing.T) {
	a := newChartsAPI(t)
	body := a.visit("/console/usage?range=custom&from=2026-11-01&to=2026-11-02&by=key&key=%22x").Body.String()
	for _, want := range []string{
		`name="from" value="2026-11-01"`, `name="to" value="2026-11-02"`, `name="range" value="custom"`, `name="by" value="key"`, `name="key" value="&#34;x"`,
		`href="/console/usage?by=key&amp;key=%22x&amp;range=7d"`, `Sun 1 Nov 2026 00:00</time> to <time datetime="2026-11-03`,
	} {
		if !strings.Contains(body, want) && !strings.Contains(want, "Sun") {
			t.Errorf("no %s in %s", want, body)
		}
	}
	if body := a.visit("/console/usage?range=custom").Body.String(); !strings.Contains(body, `name="from" value="2026-10-25"`) || !strings.Contains(body, `name="to" value="2026-11-23"`) {
		t.Errorf("the form does not begin with the time that is shown: %s", body)
	}
}

func TestTheFormOfTheListBeginsEmpty(t *testing.T) {
	body := withRows("", callJSON).visit(t, "/console/activity?range=custom").Body.String()
	if !strings.Contains(body, `name="from" value=""`) || !strings.Contains(body, `name="to" value=""`) {
		t.Errorf("the form has a time that nobody has chosen: %s", body)
	}
}

func TestATimeThatTheRouteRefusesIsExplained(t *testing.T) {
	w := newChartsAPI(t).visit("/console/usage?from=yesterday")
	if body := w.Body.String(); w.Code != http.StatusBadRequest || !strings.Contains(body, "from") || strings.Contains(body, "<svg class=\"chart") {
		t.Errorf("%d %s", w.Code, body)
	}
}

// An hour has a point for each minute. If it has too many calls for that, it has one for each hour, and
// the list has no chart: whole hours are not its time.
func TestAnHourIsShownByTheMinute(t *testing.T) {
	halfAnHourAgo := func(r *activity.Record) { r.CreatedAt = chartsNow.Add(-30 * time.Minute) }
	failed := refused("upstream_error")
	halfAnHourAgo(&failed)
	a := newChartsAPI(t, chartsCall(halfAnHourAgo), failed)
	a.answers["/api/v1/activity"] = `{"data":[` + callJSON + `],"next_cursor":null}`
	for _, page := range []string{"usage", "latency", "refusals", "activity"} {
		body := a.visit("/console/" + page + "?range=1h").Body.String()
		if !strings.Contains(body, "by the minute") || page == "usage" && strings.Count(body, "<rect x=") != 60 {
			t.Errorf("%s: no chart of minutes in %s", page, body)
		}
	}
	a.busy = true
	for page, want := range map[string]bool{"usage": true, "latency": true, "refusals": true, "activity": false} {
		w := a.visit("/console/" + page + "?range=1h")
		if body := w.Body.String(); w.Code != http.StatusOK || strings.Contains(body, "by the hour") != want || strings.Contains(body, "by the minute") {
			t.Errorf("%s of too many calls: %d %s", page, w.Code, body)
		}
	}
}

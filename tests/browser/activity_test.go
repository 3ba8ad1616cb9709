package browser

import (
	"regexp"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/emulation"
)

// callEcho makes one call of a model that the built-in provider has.
func (s *site) callEcho(t *testing.T) {
	t.Helper()
	s.call(t, "POST", "/v1/chat/completions", map[string]any{
		"model": "test/echo", "messages": []map[string]string{{"role": "user", "content": "hello"}},
	}, nil)
}

// New calls appear in the list by themselves, with the filters of the page, and where the reader has
// scrolled to.
func TestNewCallsAppearInTheActivity(t *testing.T) {
	s := ownSite(t, "")
	b := newTab(t, s)
	b.signIn("ops")
	b.look(600, "light") // the rows are no cards
	b.open("/console/activity")
	evaluate[string](b, `document.querySelector("main").style.width = "320px"`) // the table is wider than its box
	b.eventually("the first call is explained", `document.querySelector("#activity .empty pre")`, pageTimeout)
	s.callEcho(t)
	b.eventually("the first call appears", `document.querySelectorAll("#activity tbody tr").length === 1`, pageTimeout)

	evaluate[bool](b, `(document.querySelector("#activity .scroll").scrollLeft = 60) > 0`)
	s.callEcho(t)
	b.eventually("the second call appears", `document.querySelectorAll("#activity tbody tr").length === 2`, pageTimeout)
	if at := evaluate[float64](b, `document.querySelector("#activity .scroll").scrollLeft`); at != 60 {
		t.Errorf("the table has scrolled back to %v", at)
	}
}

// Times change to the zone of the browser and back, and stay so in what is read again.
func TestTimesAreShownInTheZoneOfTheBrowser(t *testing.T) {
	s := ownSite(t, "")
	b := newTab(t, s)
	call(b, emulation.SetTimezoneOverride, emulation.SetTimezoneOverrideParams{TimezoneID: "Asia/Kolkata"})
	b.signIn("ops")
	s.callEcho(t)
	b.open("/console/activity")
	const first = `document.querySelector("#activity tbody time[data-form=time]")`
	// half an hour apart from UTC: the minutes differ
	const local = `(() => { const t = ` + first + `; return t && Number(t.textContent.split(":")[1]) === (new Date(t.dateTime).getUTCMinutes() + 30) % 60; })()`
	b.eventually("the switch is shown", `document.getElementById("times")?.hidden === false`, pageTimeout)
	if evaluate[bool](b, local) {
		t.Errorf("times begin in local time: %s", b.text("#activity tbody time"))
	}
	evaluate[bool](b, `(document.getElementById("times").click(), true)`)
	b.eventually("times are local", local, pageTimeout)
	if zone := b.text("#activity thead [data-zone]"); zone != "GMT+5:30" && zone != "IST" {
		t.Errorf("the zone is called %q", zone)
	}
	// A label where a day begins is its date.
	const charted = `(() => {
		const label = document.querySelector("#activity .times .time:not(.major) [data-at]"), tooltip = document.querySelector("#activity .hits title");
		return label.textContent + " " + tooltip.textContent.split("\n")[0] + " " + document.querySelector("#activity figcaption [data-zone]").textContent;
	})()`
	if chart := evaluate[string](b, charted); !regexp.MustCompile(`^\d\d:30 \w{3} \d+ \w+ \d{4} \d\d:30–\d\d:30 (GMT\+5:30|IST) (GMT\+5:30|IST)$`).MatchString(strings.ReplaceAll(chart, ",", "")) {
		t.Errorf("the chart says %q", chart)
	}
	s.callEcho(t)
	b.eventually("a row that was read again is local", `document.querySelectorAll("#activity tbody tr").length === 2 && `+local, pageTimeout)
	b.open("/console/activity")
	b.eventually("the browser keeps the choice", local, pageTimeout)
	evaluate[bool](b, `(document.getElementById("times").click(), true)`)
	b.eventually("times are in UTC again", `!(`+local+`) && document.querySelector("#activity [data-zone]").textContent === "UTC"`, pageTimeout)
	if chart := evaluate[string](b, charted); !regexp.MustCompile(`^\d\d:00 \w{3} \d+ \w+ \d{4} \d\d:00–\d\d:00 UTC UTC$`).MatchString(strings.ReplaceAll(chart, ",", "")) {
		t.Errorf("the chart says %q", chart)
	}
}

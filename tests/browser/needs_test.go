package browser

import (
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
)

// What needs a person is at the top of the overview in every look, leads to where something can be done, and goes when it is
// done.
func TestTheOverviewSaysWhatNeedsAPerson(t *testing.T) {
	const timeout = 2 * time.Minute
	s := ownSite(t, "")
	calm := s.file
	s.reload(t, s.change(t, "\t\tprovider test {\n", `		budget 3tok/total
		provider acme {
			dialect openai
			base_url http://127.0.0.1:9
			models *
			discover 10m
		}
		provider test {
`))
	s.chat(t, s.secrets["ops"], "test/echo", false)
	b := newLongTab(t, s, timeout)
	b.signIn("ops")
	b.inEveryLook("/console/")
	if got := b.text("#overview > section:first-child"); got != "" {
		t.Log(got)
	}
	for _, line := range []string{"acme: its list of models has never come"} {
		if got := b.text("#overview > section:first-child"); !strings.Contains(got, line) {
			t.Errorf("no %q in %s", line, got)
		}
	}
	run(b, chromedp.Click(chromedp.CSS(`#overview > section:first-child a`)))
	s.reload(t, calm)
	b.open("/console/")
	if got := b.text("#overview"); strings.Contains(got, "Needs a person") {
		t.Errorf("the lines stay: %s", got)
	}
}

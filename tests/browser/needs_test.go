//go:build linux

package browser

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
)

// What needs a person is at the top of the overview in every look, and goes when that is mended.
func TestTheOverviewSaysWhatNeedsAPerson(t *testing.T) {
	const timeout, lines = 2 * time.Minute, "#overview > section:first-child"
	s := ownSite(t, "\t\t\tworkstation "+station+" {\n\t\t\t\ttest_card\n\t\t\t}\n")
	calm := s.file
	s.reload(t, strings.NewReplacer("\t\t\tmcp away\n", "\t\t\tmcp away\n\t\t\tbudget 150 tokens/total soft\n\t\t\tbudget 300 tokens/day soft\n", "\t\tprovider test {\n", `		provider acme {
			dialect openai
			base_url http://127.0.0.1:9
			api_key none
			discover 10m
		}
		provider test {
`).Replace(s.file))
	s.call(t, http.MethodPost, "/v1/chat/completions", map[string]any{
		"model": "test/echo", "max_tokens": 10, "messages": []map[string]string{{"role": "user", "content": strings.Repeat("a ", 200)}},
	}, nil)
	if status, answer := askAsAgent(t, s, "control", `{"action":"request_help"}`); status != http.StatusOK {
		t.Fatal(status, answer)
	}
	b := newLongTab(t, s, timeout)
	b.signIn("ops")
	b.inEveryLook("/console/")
	for _, line := range []string{"acme: its list of models has never come", "key:ops: nothing is left of the budget 150 tokens/total soft.", station + ": an agent waits for a person"} {
		if got := b.text(lines); !strings.Contains(got, line) {
			t.Errorf("no %q in %s", line, got)
		}
	}
	s.reload(t, calm)
	b.open("/console/")
	if got := b.text(lines); strings.Contains(got, "acme") || strings.Contains(got, "key:ops") || !strings.Contains(got, station) {
		t.Errorf("after two were mended: %s", got)
	}
	run(b, chromedp.Click(chromedp.CSS(lines+" a")))
	b.eventually("the desktop that asks for help", `location.pathname === `+quote(stationPath), pageTimeout)
}

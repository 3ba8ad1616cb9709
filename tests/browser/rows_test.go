package browser

import (
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"slices"
	"testing"
	"time"
)

var rows = flag.Int("rows", 1_000_000, "how many calls the pages of a long test are made of")

// mostOfAPage is how long the gateway may take for a page.
const mostOfAPage = 300 * time.Millisecond

// Pages are as fast with the calls of a month as they are with none.
func TestLongManyRows(t *testing.T) {
	s, err := startSite("", nil, func(dir string) error {
		began := time.Now()
		cmd := exec.CommandContext(t.Context(), *manyrows, "-dir", dir, "-rows", fmt.Sprint(*rows))
		cmd.Stderr = os.Stderr
		defer func() { t.Logf("%d rows made in %v", *rows, time.Since(began)) }()
		return cmd.Run()
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.process.Stop)
	const timeout = 10 * time.Minute
	b := newLongTab(t, s, timeout)
	b.signIn("ops")
	cookie := b.session()
	paths := b.crawl(func(string) {})
	for _, path := range slices.Concat(paths, []string{
		"/console/usage?range=30d", "/console/usage?range=30d&by=key", "/console/latency?range=30d", "/console/refusals?range=30d",
		"/console/activity?range=30d", "/console/activity?range=30d&model=provider-1%2Fmodel-5", "/console/activity?range=30d&code=upstream_error",
		"/console/activity?range=30d&key=key-3&status=429",
	}) {
		const times = 5
		var took [times]time.Duration
		for i := range took {
			took[i] = s.fetch(t, path, cookie.Name, cookie.Value)
		}
		slices.Sort(took[:])
		t.Logf("%-60s median %v (%v to %v)", path, took[times/2].Round(time.Millisecond), took[0].Round(time.Millisecond), took[times-1].Round(time.Millisecond))
		if took[times/2] > mostOfAPage {
			t.Errorf("%s takes %v, more than %v", path, took[times/2], mostOfAPage)
		}
	}
}

// fetch returns how long the gateway takes for a page.
func (s *site) fetch(t *testing.T, path, cookie, value string) time.Duration {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.url(path), nil)
	if err != nil {
		t.Fatal(err)
	}
	r.AddCookie(&http.Cookie{Name: cookie, Value: value})
	began := time.Now()
	answer, err := http.DefaultTransport.RoundTrip(r)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	if _, err := io.Copy(io.Discard, answer.Body); err != nil || answer.StatusCode != http.StatusOK {
		t.Fatalf("%s: %s (%v)", path, answer.Status, err)
	}
	return time.Since(began)
}

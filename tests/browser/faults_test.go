package browser

import (
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
)

// A tab that saw no faults would pass every test.
func TestATabSeesWhatMustNotHappen(t *testing.T) {
	inEachBrowser(t, sharedSite(t), func(t *testing.T, b *tab) {
		other := httptest.NewServer(http.NotFoundHandler())
		t.Cleanup(other.Close)
		b.open("/console/sign-in")
		for _, words := range []string{"Content Security Policy", "Content-Security-Policy", "TrustedHTML"} { // of the browsers
			b.expect(words)
		}
		for _, c := range []struct{ script, fault string }{
			{`console.error("said by a script")`, "said by a script"},
			{`void setTimeout(() => { throw new Error("thrown by a script") })`, "thrown by a script"},
			{`document.body.setAttribute("style", "color: red")`, "policy: style-src-attr inline"},
			{`void fetch("` + other.URL + `/").catch(() => {})`, "policy: connect-src " + other.URL},
			{`(() => { try { document.body.innerHTML = "text" } catch {} })()`, "policy: require-trusted-types-for"},
		} {
			b.expect(c.fault)
			evaluate[any](b, c.script)
			b.sees(c.fault)
		}
		b.expect("404")
		b.mayAsk(strings.TrimPrefix(other.URL, "http://"))
		if status, err := b.driver.navigate(other.URL + "/elsewhere"); status != http.StatusNotFound {
			t.Errorf("another host: status %d, %v", status, err)
		}
		b.mu.Lock()
		defer b.mu.Unlock()
		if !slices.Contains(b.requests, other.URL+"/elsewhere") {
			t.Errorf("the requests are %q", b.requests)
		}
	})
}

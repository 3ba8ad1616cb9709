package browser

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"
)

// pageTimeout is how long a page may take with everything that it loads, on a busy machine.
const pageTimeout = 15 * time.Second

// signIn signs in with a key of the site.
func (b *tab) signIn(key string) {
	b.t.Helper()
	b.open("/console/sign-in")
	run(b, chromedp.SendKeys(chromedp.CSS("input[name=key]"), b.site.secrets[key]))
	if status := b.follow(click("form.fields button.main")); status != http.StatusOK {
		b.t.Fatalf("signing in as %s: status %d", key, status)
	}
}

// sibling is another tab of the same person.
func (b *tab) sibling() *tab {
	b.t.Helper()
	other := &tab{t: b.t, site: b.site}
	ctx, cancel := chromedp.NewContext(b.ctx, chromedp.WithListener(other.listen))
	b.t.Cleanup(cancel)
	other.ctx = ctx
	other.prepare()
	return other
}

// session is the cookie of the one who has signed in.
func (b *tab) session() *network.Cookie {
	b.t.Helper()
	for _, cookie := range call(b, network.GetCookies, network.GetCookiesParams{URLs: []string{b.site.url("/console/")}}).Cookies {
		if strings.HasSuffix(cookie.Name, "gatehouse") {
			return cookie
		}
	}
	b.t.Fatal("there is no cookie of a session")
	return nil
}

func TestSigningOutEndsTheSessionAndItsDesktop(t *testing.T) {
	s := sharedSite(t)
	b := newTab(t, s)
	b.signIn("ops")
	cookie := b.session()
	if !cookie.HTTPOnly || cookie.SameSite != network.CookieSameSiteLax || cookie.Domain != "127.0.0.1" {
		t.Errorf("the cookie is %+v", cookie)
	}
	if stored := evaluate[string](b, `JSON.stringify([localStorage, sessionStorage, document.cookie])`); stored != `[{},{},""]` {
		t.Errorf("scripts can read %s", stored)
	}
	b.openDesktop(demoPath)
	other := b.sibling()
	other.open("/console/about")
	other.follow(click(`form[action="/console/sign-out"] button`))
	b.says("Signed out", endTimeout)
	if where := other.open("/console/about"); where != http.StatusOK || !strings.HasPrefix(run(other, chromedp.Location()), s.url("/console/sign-in")) {
		t.Errorf("signed out, a page is at %s", run(other, chromedp.Location()))
	}

	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.url("/console/about"), nil)
	if err != nil {
		t.Fatal(err)
	}
	r.AddCookie(&http.Cookie{Name: cookie.Name, Value: cookie.Value})
	answer, err := http.DefaultTransport.RoundTrip(r)
	if err != nil {
		t.Fatal(err)
	}
	answer.Body.Close()
	if location := answer.Header.Get("Location"); answer.StatusCode != http.StatusSeeOther || !strings.HasPrefix(location, "/console/sign-in") {
		t.Errorf("the old cookie: %s, to %q", answer.Status, location)
	}
}

func TestAKeyThatIsDroppedEndsItsSessionAndItsDesktop(t *testing.T) {
	s := ownSite(t, "")
	b := newTab(t, s)
	b.signIn("desks")
	b.openDesktop(demoPath)
	key := "\t\tkey desks {\n\t\t\tsecret {env.BROWSER_DESKS}\n\t\t\tscopes workstations:connect workstations:automate\n\t\t}\n"
	s.reload(t, s.change(t, key, ""))
	b.says("Signed out", endTimeout)
	b.choose("Sign in")
	b.eventually("the sign-in", fmt.Sprintf(`location.href.startsWith(%s)`, quote(s.url("/console/sign-in"))), pageTimeout)
}

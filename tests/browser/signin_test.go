package browser

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"
)

// pageTimeout is how long a page may take with everything that it loads, on a busy machine.
const pageTimeout = 15 * time.Second

// signIn signs in with a key of the site.
func (b *tab) signIn(key string) {
	b.t.Helper()
	b.open("/console/sign-in")
	clickOn(b, "input[name=key]")
	enter(b, b.site.secrets[key])
	if status := clickThrough(b, "form.fields button.main"); status != http.StatusOK {
		b.t.Fatalf("signing in as %s: status %d", key, status)
	}
}

// sibling is another tab of the same person.
func (b *tab) sibling() *tab { return b.driver.sibling(b) }

// where is the path of the page, with its query.
func where(b *tab) string { return evaluate[string](b, "location.pathname + location.search") }

// session is the cookie of the one who has signed in.
func (b *tab) session() *http.Cookie {
	b.t.Helper()
	list, err := b.driver.cookies(b.site.url("/console/"))
	for _, cookie := range list {
		if strings.HasSuffix(cookie.Name, "gatehouse") {
			return cookie
		}
	}
	b.t.Fatalf("there is no cookie of a session among %v (%v)", list, err)
	return nil
}

func TestSigningInAndOut(t *testing.T) {
	s := sharedSite(t)
	inEachBrowser(t, s, func(t *testing.T, b *tab) {
		b.expect("status of 403") // as Chromium says it
		b.open("/console/activity?range=7d")
		clickOn(b, "input[name=key]")
		enter(b, "gh-not-a-key")
		if status := clickThrough(b, "form.fields button.main"); status != http.StatusForbidden || !strings.Contains(b.text(`main [role="alert"]`), "key") {
			t.Errorf("a wrong key: status %d: %q", status, b.text("main"))
		}
		clickOn(b, "input[name=key]")
		enter(b, s.secrets["ops"])
		if status := clickThrough(b, "form.fields button.main"); status != http.StatusOK || where(b) != "/console/activity?range=7d" {
			t.Errorf("the right one: status %d, at %s", status, where(b))
		}
		cookie := b.session()
		if !cookie.HttpOnly || cookie.SameSite != http.SameSiteLaxMode || cookie.Domain != "127.0.0.1" {
			t.Errorf("the cookie is %+v", cookie)
		}
		if stored := evaluate[string](b, `JSON.stringify([localStorage, sessionStorage, document.cookie])`); stored != `[{},{},""]` {
			t.Errorf("scripts can read %s", stored)
		}
		b.openDesktop(demoPath)
		other := b.sibling()
		other.open("/console/about")
		clickThrough(other, `form[action="/console/sign-out"] button`)
		b.says("Signed out", endTimeout)
		if status := other.open("/console/about"); status != http.StatusOK || !strings.HasPrefix(where(other), "/console/sign-in") {
			t.Errorf("signed out, a page is at %s", where(other))
		}
		refusesCookie(t, s, cookie)
	})
}

// refusesCookie checks that a session has ended.
func refusesCookie(t *testing.T, s *site, cookie *http.Cookie) {
	t.Helper()
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

package console

import (
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// live is the header that console.js sends while a page is visible.
var live = []string{"Gatehouse-Live", "1"}

// A page that is left open reads itself again without end: that must not keep its session.
func TestAPollIsNoUseOfTheSession(t *testing.T) {
	for name, c := range map[string]struct {
		door func() door
		user []string // header fields
	}{
		"key":  {func() door { return open() }, nil},
		"user": {func() door { return withUsers() }, []string{"Test-User", "alice@example.com"}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				d := c.door()
				var cookie string
				if c.user == nil {
					cookie = d.signIn(t, opsSecret)
				} else {
					cookie = cookieOf(t, d.ask(http.MethodGet, "/console/about", "", c.user...))
				}
				ask := func(header ...string) (status int, location string) {
					w := d.ask(http.MethodGet, "/console/about?range=7d", cookie, append(header, c.user...)...)
					return w.Code, w.Header().Get("Location")
				}
				idle := d.config.Life.Idle
				time.Sleep(idle / 2)
				if status, _ := ask(); status != http.StatusOK {
					t.Fatalf("a visit: %d", status)
				}
				for range 359 {
					time.Sleep(idle / 360)
					if status, _ := ask(live...); status != http.StatusOK {
						t.Fatalf("a poll: %d", status)
					}
				}
				time.Sleep(idle / 360)
				status, at := ask(live...)
				if want := "/console/sign-in?done=session-ended&return=%2Fconsole%2Fabout%3Frange%3D7d"; status != http.StatusSeeOther || at != want {
					t.Fatalf("a poll an hour after the last visit: %d to %q, want %q", status, at, want)
				}
				for _, header := range [][]string{live, nil} { // the browser follows, and then the page does
					w := d.ask(http.MethodGet, at, "", append(header, c.user...)...)
					if w.Code != http.StatusOK || !strings.Contains(w.Body.String(), "Your session has ended.") || !strings.Contains(w.Body.String(), "/console/about?range=7d") {
						t.Errorf("there: %d %s", w.Code, w.Body)
					}
				}
				if d.gateway.store.Len() != 0 || d.gateway.signedIn != 1 {
					t.Errorf("%d sessions, %d sign-ins", d.gateway.store.Len(), d.gateway.signedIn)
				}
			})
		})
	}
}

// A user who has signed out in one tab stays so, though another is open.
func TestAPollSignsNoUserIn(t *testing.T) {
	d := withUsers()
	user := []string{"Test-User", "alice@example.com"}
	wantSignIn(t, "a poll without a session", d.ask(http.MethodGet, "/console/about", "", append(live, user...)...))
	if d.gateway.store.Len() != 0 {
		t.Error("a poll has signed alice in")
	}
	wantSignIn(t, "a page that orders its desktop again", d.ask(http.MethodPost, "/console/workstations/one/desktop", "", slices.Concat(sameOrigin, live, user)...))
	wantSignIn(t, "its socket", d.ask(http.MethodGet, "/console/socket", "", user...))
	wantSignIn(t, "a picture in a list", d.ask(http.MethodGet, "/console/workstations/one/screenshot", "", user...))
	if d.gateway.store.Len() != 0 {
		t.Error("a desktop that connects again has signed alice in")
	}
}

// The answer to a poll may come after that to a new sign-in in another tab, whose cookie it must leave.
func TestAPollTakesNoCookieAway(t *testing.T) {
	for name, door := range map[string]func() door{"key": func() door { return open() }, "user": func() door { return withUsers() }} {
		d := door()
		for _, user := range []string{"alice@example.com", ""} { // "": the other system names nobody
			w := d.ask(http.MethodGet, "/console/about", "of-a-session-that-has-ended", append(live, "Test-User", user)...)
			if w.Code == http.StatusOK || len(w.Result().Cookies()) != 0 {
				t.Errorf("%s %q: %d, cookies %v", name, user, w.Code, w.Result().Cookies())
			}
		}
	}
}

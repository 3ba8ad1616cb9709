package console

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/request"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/keys"
)

// withUsers returns a console whose users another system signs in. It says who in a header that only
// this test sets.
func withUsers(change ...func(*Config)) door {
	return open(append([]func(*Config){func(c *Config) {
		c.OnlyNamed, c.Named = true, &Users{
			Holder: c.Gateway.(*fakeGateway).CallerNamed,
			Of:     func(r *http.Request) string { return r.Header.Get("Test-User") },
			Keys:   map[string]string{"alice@example.com": "ops", "bob": "dev", "carol": "gone"},
		}
	}}, change...)...)
}

func TestAUserHasTheKeyOfTheConfiguration(t *testing.T) {
	var callers []request.Caller
	d := withUsers(func(c *Config) {
		api := c.API
		c.API = func(caller request.Caller) http.Handler {
			callers = append(callers, caller)
			return api(caller)
		}
	})
	w := d.ask(http.MethodGet, "/console/about", "", "Test-User", "alice@example.com")
	if w.Code != http.StatusOK || !strings.Contains(w.Body.String(), "alice@example.com as <b>ops</b>") {
		t.Fatalf("%d %s", w.Code, w.Body)
	}
	cookie := cookieOf(t, w)
	w = d.ask(http.MethodGet, "/console/about", cookie, "Test-User", "alice@example.com")
	if w.Code != http.StatusOK || w.Header().Get("Set-Cookie") != "" || d.gateway.store.Len() != 1 || d.gateway.signedIn != 1 {
		t.Errorf("the next request: %d %v, %d sessions", w.Code, w.Header(), d.gateway.store.Len())
	}
	for _, caller := range callers {
		if caller.Name != "ops" || caller.User != "alice@example.com" {
			t.Errorf("a route is called by %q of %q", caller.Name, caller.User)
		}
	}
}

func TestASessionEndsWhenAnotherUserComes(t *testing.T) {
	d := withUsers()
	alice := cookieOf(t, d.ask(http.MethodGet, "/console/about", "", "Test-User", "alice@example.com"))
	w := d.ask(http.MethodGet, "/console/about", alice, "Test-User", "bob")
	bob := cookieOf(t, w)
	if w.Code != http.StatusOK || !strings.Contains(w.Body.String(), "bob as <b>dev</b>") || bob == alice || d.gateway.store.Len() != 1 {
		t.Errorf("%d %s, %d sessions", w.Code, w.Body, d.gateway.store.Len())
	}
	w = d.ask(http.MethodGet, "/console/about", bob, "Test-User", "mallory")
	if w.Code != http.StatusForbidden || d.gateway.store.Len() != 0 || !strings.Contains(w.Header().Get("Set-Cookie"), "Max-Age=0") {
		t.Errorf("%d %v, %d sessions", w.Code, w.Header(), d.gateway.store.Len())
	}
}

func TestASessionEndsWhenNobodyIsNamed(t *testing.T) {
	d := withUsers()
	alice := cookieOf(t, d.ask(http.MethodGet, "/console/about", "", "Test-User", "alice@example.com"))
	w := d.ask(http.MethodGet, "/console/about", alice)
	if w.Code != http.StatusForbidden || d.gateway.store.Len() != 0 || !strings.Contains(w.Header().Get("Set-Cookie"), "Max-Age=0") {
		t.Errorf("%d %v, %d sessions", w.Code, w.Header(), d.gateway.store.Len())
	}
}

func TestAPartOfAnotherSiteSignsNobodyIn(t *testing.T) {
	for dest, want := range map[string]int{"image": http.StatusForbidden, "iframe": http.StatusForbidden, "document": http.StatusOK} {
		d := withUsers()
		w := d.ask(http.MethodGet, "/console/about", "", "Test-User", "alice@example.com", "Sec-Fetch-Site", "cross-site", "Sec-Fetch-Dest", dest)
		if signedIn := d.gateway.store.Len() == 1; w.Code != want || signedIn != (want == http.StatusOK) {
			t.Errorf("%s: %d, signed in: %t", dest, w.Code, signedIn)
		}
	}
}

func TestAUserNeedsAKey(t *testing.T) {
	d := withUsers()
	for user, want := range map[string]string{
		"": "names nobody", "mallory": "mallory may not use this console", "carol": "carol may not", "Alice@example.com": "may not", "alice@example.com,bob": "may not",
		"<img src=x onerror=alert(1)>": "&lt;img", "*": "may not",
	} {
		everyRoute(func(method, path string) {
			w := d.ask(method, path, "", append(sameOrigin, "Test-User", user)...)
			if w.Code != http.StatusForbidden || !strings.Contains(w.Body.String(), want) || w.Header().Get("Set-Cookie") != "" {
				t.Errorf("%q: %s %s: %d %s", user, method, path, w.Code, w.Body)
			}
		})
	}
	if d.gateway.store.Len() != 0 || !slices.Contains(d.gateway.users, "mallory") {
		t.Errorf("%d sessions; refused %v", d.gateway.store.Len(), d.gateway.users)
	}
	d.gateway.change(func(m map[string]*keys.Key) { delete(m, opsSecret) })
	if w := d.ask(http.MethodGet, "/console/about", "", "Test-User", "alice@example.com"); w.Code != http.StatusForbidden {
		t.Errorf("a user whose key is gone: %d", w.Code)
	}
}

func TestAUserIsNotRefusedWhileKeysCannotBeRead(t *testing.T) {
	d := withUsers()
	d.gateway.err = apierror.New(apierror.LedgerUnavailable, "keys cannot be read now")
	w := d.ask(http.MethodGet, "/console/about", "", "Test-User", "alice@example.com")
	if w.Code != http.StatusServiceUnavailable || !strings.Contains(w.Body.String(), "keys cannot be read now") || len(d.gateway.users) != 0 {
		t.Errorf("%d %s; refused %v", w.Code, w.Body, d.gateway.users)
	}
}

func TestOtherUsersMayHaveAKeyToo(t *testing.T) {
	d := withUsers(func(c *Config) { c.Named.(*Users).Others = "dev" })
	if w := d.ask(http.MethodGet, "/console/about", "", "Test-User", "mallory"); w.Code != http.StatusOK || !strings.Contains(w.Body.String(), "mallory as <b>dev</b>") {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	if w := d.ask(http.MethodGet, "/console/about", "", "Test-User", ""); w.Code != http.StatusForbidden {
		t.Errorf("nobody: %d", w.Code)
	}
}

func TestUsersDoNotSignInWithAKey(t *testing.T) {
	d := withUsers()
	w := d.do(newTestRequest(http.MethodPost, "/console/sign-in", url.Values{"key": {opsSecret}}, sameOrigin...))
	if w.Code != http.StatusSeeOther || w.Header().Get("Set-Cookie") != "" || d.gateway.store.Len() != 0 {
		t.Errorf("%d %v", w.Code, w.Header())
	}
	if w := d.ask(http.MethodGet, "/console/sign-in", ""); w.Code != http.StatusSeeOther || w.Header().Get("Location") != "/console/" {
		t.Errorf("%d %v", w.Code, w.Header())
	}
	// What another system signs in is no proof for a program that sends its credentials with everything.
	if w := d.ask(http.MethodPost, "/console/theme", "", "Test-User", "alice@example.com"); w.Code != http.StatusForbidden {
		t.Errorf("a change without an origin: %d", w.Code)
	}
	cookie := cookieOf(t, d.ask(http.MethodGet, "/console/about", "", "Test-User", "alice@example.com"))
	w = d.ask(http.MethodPost, "/console/sign-out", cookie, append(sameOrigin, "Test-User", "alice@example.com")...)
	if w.Code != http.StatusOK || !strings.Contains(w.Body.String(), "sign out there") || d.gateway.store.Len() != 0 {
		t.Errorf("sign-out: %d %s", w.Code, w.Body)
	}
}

func TestASessionOfOneKindIsNoneOfTheOther(t *testing.T) {
	users, withKey := withUsers(), open()
	withKey.gateway.store = users.gateway.store
	ofUser := cookieOf(t, users.ask(http.MethodGet, "/console/about", "", "Test-User", "alice@example.com"))
	wantSignIn(t, "a user's session after the reload", withKey.ask(http.MethodGet, "/console/about", ofUser))
	ofKey := withKey.signIn(t, opsSecret)
	if w := users.ask(http.MethodGet, "/console/about", ofKey, "Test-User", ""); w.Code != http.StatusForbidden {
		t.Errorf("a key's session after the reload: %d", w.Code)
	}
}

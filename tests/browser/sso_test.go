//go:build linux

package browser

import (
	"net/http"
	"strings"
	"testing"
)

// singleSignOn has Caddy sign people in by itself. The password of both is console-password.
const singleSignOn = `	basic_auth /console* {
		alice $2a$04$fwv4uEtjFgoG5YjFuDiQfOq9W7yWb5CpVXSZlfQgjJClLhoWhaMZK
		bob $2a$04$fwv4uEtjFgoG5YjFuDiQfOq9W7yWb5CpVXSZlfQgjJClLhoWhaMZK
	}
	gatehouse_console {
		sign_in user {http.auth.user.id} {
			alice as ops
			* refuse
		}
	}
`

// as opens a page as somebody who enters name and password when the browser asks for them.
func (b *tab) as(user, path string) (status int64) {
	b.t.Helper()
	named := *b.site
	named.host = user + ":console-password@" + b.site.host
	plain := b.site
	b.site = &named
	b.open(path)
	b.site = plain
	return b.open(path) // as a link would, without them in the address
}

// Nobody types a key: who Caddy has signed in has the key that the configuration names.
func TestSingleSignOn(t *testing.T) {
	s := ownSite(t, "")
	s.reload(t, s.change(t, "\tgatehouse_console\n", singleSignOn))
	alice, bob := newTab(t, s), newTab(t, s)
	if status := alice.as("alice", "/console/about"); status != http.StatusOK {
		t.Fatalf("alice: status %d: %s", status, alice.text("main"))
	}
	if who := alice.text(".who"); !strings.Contains(who, "alice as ops") {
		t.Errorf("alice is %q", who)
	}
	bob.expect("403")
	if status := bob.as("bob", "/console/about"); status != http.StatusForbidden || !strings.Contains(bob.text("main"), "bob may not use this console") {
		t.Errorf("bob: status %d: %s", status, bob.text("main"))
	}

	alice.openDesktop(demoPath)
	s.reload(t, s.change(t, "\t\t\talice as ops\n", "\t\t\tcarol as ops\n"))
	alice.says("Signed out", endTimeout)
	alice.expect("403")
	alice.choose("Sign in")
	alice.eventually("a refusal", `document.body.textContent.includes("alice may not use this console")`, pageTimeout)
}

// A sign-out under a single sign-on ends the session, also for another tab that reads itself again.
func TestASingleSignOnIsEndedElsewhere(t *testing.T) {
	s := ownSite(t, "")
	s.reload(t, s.change(t, "\tgatehouse_console\n", singleSignOn))
	b := newTab(t, s)
	b.as("alice", "/console/sessions")
	other := b.sibling()
	other.open("/console/about")
	other.follow(click(`form[action="/console/sign-out"] button`))
	if text := other.text("main"); !strings.Contains(text, "sign out there") {
		t.Errorf("the sign-out says %q", text)
	}
	b.eventually("the other tab says so", `document.querySelector("main").textContent.includes("Your session has ended")`, pageTimeout)
	if status := b.follow(click("main a.button")); status != http.StatusOK || !strings.Contains(b.text("h1"), "Open sessions") {
		t.Errorf("the way back: status %d, to %q", status, b.text("h1"))
	}
}

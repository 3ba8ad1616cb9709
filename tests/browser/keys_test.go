package browser

import (
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

// answered is the status of a call with a key.
func (s *site) answered(t *testing.T, secret string) int {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.url("/v1/chat/completions"),
		strings.NewReader(`{"model":"test/echo","messages":[{"role":"user","content":"hello"}]}`))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+secret)
	r.Header.Set("Content-Type", "application/json")
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	answer.Body.Close()
	return answer.StatusCode
}

var secretOfAKey = regexp.MustCompile(`^gh-[0-9A-Za-z_-]{32,}$`)

// The life of a key, by clicks alone: what a page says of it is what the API does with it.
func TestAKeyFromItsIssueToItsEnd(t *testing.T) {
	s := ownSite(t, "")
	b := newTab(t, s)
	b.signIn("ops")
	step := func(what, selector string, status int64) {
		t.Helper()
		if got := b.follow(click(selector)); got != status {
			t.Fatalf("%s: status %d: %s", what, got, b.text("main"))
		}
	}
	says := func(what, text string) {
		t.Helper()
		if got := b.text("main"); !strings.Contains(got, text) {
			t.Errorf("%s: the page says %q, not %q", what, got, text)
		}
	}
	works := func(what, secret string, want int) {
		t.Helper()
		if got := s.answered(t, secret); got != want {
			t.Errorf("%s: a call is answered %d, want %d", what, got, want)
		}
	}

	b.open("/console/keys")
	step("the form", `a[href="/console/keys/new"]`, http.StatusOK)
	offered := evaluate[string](b, `[...document.querySelectorAll("input[name=scopes]")].map(e => e.value).join(" ")`)
	if offered != "chat:write models:read activity:read" {
		t.Errorf("the form offers the scopes %q", offered)
	}
	run(b, chromedp.SendKeys(chromedp.CSS("input[name=name]"), "Ada's laptop"))
	run(b, chromedp.Click(chromedp.CSS(`input[value="chat:write"]`)))
	step("the issue", "form.fields button.main", http.StatusCreated)
	secret := b.text("#secret")
	if !secretOfAKey.MatchString(secret) {
		t.Fatalf("the secret is %q", secret)
	}
	works("a new key", secret, http.StatusOK)

	step("its page", `main p.actions a.button`, http.StatusOK)
	says("the page of the key", "chat:write")
	if html := evaluate[string](b, "document.documentElement.outerHTML"); strings.Contains(html, secret) {
		t.Error("the secret is shown again")
	}

	says("its calls", "Newest calls")
	says("its calls", "test/echo")

	step("to disable it", `a[href$="/disable"]`, http.StatusOK)
	says("what ends", "UTC 1 call came from it.")
	says("what ends", "No desktop is open with it now.")
	works("before the confirmation", secret, http.StatusOK)
	step("the confirmation", "button.danger", http.StatusOK)
	says("disabled", "The key is disabled.")
	works("disabled", secret, http.StatusUnauthorized)
	step("to enable it", `form[action$="/enable"] button`, http.StatusOK)
	says("enabled", "The key is enabled.")
	works("enabled", secret, http.StatusOK)

	step("to rotate it", `a[href$="/rotate"]`, http.StatusOK)
	says("what ends", "UTC 3 calls came from it.")
	step("the rotation", "form.fields button.main", http.StatusCreated)
	next := b.text("#secret")
	if !secretOfAKey.MatchString(next) || next == secret {
		t.Fatalf("the other secret is %q", next)
	}
	works("the secret before", secret, http.StatusUnauthorized)
	works("the secret now", next, http.StatusOK)

	step("its page", `main p.actions a.button`, http.StatusOK)
	step("to delete it", `a[href$="/delete"]`, http.StatusOK)
	step("the deletion", "button.danger", http.StatusOK)
	says("deleted", "The key is deleted.")
	says("the list", "No key was made at run time yet")
	works("deleted", next, http.StatusUnauthorized)
}

// Before a key is disabled, the page says what is open with it, and that ends.
func TestThePageOfAKeySaysWhatEndsWithIt(t *testing.T) {
	s := ownSite(t, "")
	s.reload(t, s.change(t, "\t\t\tscopes chat:write models:read activity:read\n", "\t\t\tscopes chat:write workstations:connect\n"))
	var made struct {
		Key  string
		Data struct{ Hash string }
	}
	s.call(t, http.MethodPost, "/api/v1/keys", map[string]any{"name": "a desk of Ada's"}, &made)
	s.secrets["ada"] = made.Key
	person := newTab(t, s)
	person.signIn("ada")
	person.openDesktop(demoPath)

	b := newTab(t, s)
	b.signIn("ops")
	b.open("/console/sessions")
	if status := b.follow(click(`td a[href="/console/keys/` + made.Data.Hash + `"]`)); status != http.StatusOK {
		t.Fatalf("the session leads to %d: %s", status, b.text("main"))
	}
	b.follow(click(`a[href$="/disable"]`))
	if text := b.text("main"); !strings.Contains(text, "1 open desktop (demo)") {
		t.Errorf("the question says %q", text)
	}
	b.follow(click("button.danger"))
	person.says("Signed out", endTimeout)
	b.open("/console/keys/" + made.Data.Hash)
	if text := b.text("main"); !strings.Contains(text, "disabled") || !strings.Contains(text, "No desktop is open with it.") {
		t.Errorf("the page of the disabled key says %q", text)
	}
}

package console

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/keys"
	"github.com/gatehouse-proxy/gatehouse/internal/websession"
)

func (d door) submit(secret, back string, header ...string) *httptest.ResponseRecorder {
	return d.do(newTestRequest(http.MethodPost, "/console/sign-in", url.Values{"key": {secret}, "return": {back}}, append(header, sameOrigin...)...))
}

func TestAfterTheSignInComesThePageThatWasAskedFor(t *testing.T) {
	d := open()
	at := d.ask(http.MethodGet, "/console/about?x=a%26b&y=1", "").Header().Get("Location")
	form := d.ask(http.MethodGet, at, "").Body.String()
	if !strings.Contains(form, `name="return" value="/console/about?x=a%26b&amp;y=1"`) || !strings.Contains(form, `autocomplete="current-password"`) {
		t.Fatalf("%s: %s", at, form)
	}
	if back := d.submit(opsSecret, "/console/about?x=a%26b&y=1").Header().Get("Location"); back != "/console/about?x=a%26b&y=1" {
		t.Errorf("back to %q", back)
	}
	for _, elsewhere := range []string{
		"", "https://evil.example/console/", "//evil.example/console/", "/\\evil.example", "/console", "/v1/models", "console/", "/console/\\evil", "/console/\r\nX: y",
		"javascript:alert(1)", "/consolex/",
	} {
		if back := d.submit(opsSecret, elsewhere).Header().Get("Location"); back != "/console/" {
			t.Errorf("%q: back to %q", elsewhere, back)
		}
	}
	if at := d.ask(http.MethodPost, "/console/theme", "", sameOrigin...).Header().Get("Location"); at != "/console/sign-in" {
		t.Errorf("a form leads to %q", at) // its page cannot be asked for with GET
	}
}

func TestASignInHasANewID(t *testing.T) {
	d := open()
	planted, _ := d.gateway.store.Create(t.Context(), websession.Session{Key: "dev", Tenant: "acme"}, d.config.Life)
	w := d.submit(opsSecret, "", "Cookie", secureCookie+"="+planted)
	if id := cookieOf(t, w); id == planted || len(id) != 43 {
		t.Errorf("the ID is %q", id)
	}
	if _, ok, _ := d.gateway.store.Find(t.Context(), planted, d.config.Life); ok {
		t.Error("the session before it lives")
	}
	first, second := d.signIn(t, opsSecret), d.signIn(t, opsSecret)
	if first == second || strings.Contains(first+second, opsSecret) {
		t.Error("IDs are not random")
	}
}

func TestWhoIsSignedInDoesNotSeeTheForm(t *testing.T) {
	d := open()
	cookie := d.signIn(t, devSecret)
	if w := d.ask(http.MethodGet, "/console/sign-in?return=%2Fconsole%2Fabout", cookie); w.Code != http.StatusSeeOther || w.Header().Get("Location") != "/console/about" {
		t.Errorf("%d %v", w.Code, w.Header())
	}
	d.gateway.change(func(m map[string]*keys.Key) { delete(m, devSecret) })
	if w := d.ask(http.MethodGet, "/console/sign-in", cookie); w.Code != http.StatusOK {
		t.Errorf("%d %v", w.Code, w.Header())
	}
}

func TestEveryBadKeyHasTheSameAnswer(t *testing.T) {
	d := open(func(c *Config) { c.Client = func(*http.Request) string { return "2001:db8::7" } })
	var first string
	for i, secret := range []string{"gk-console-nobody-0123456789", "", "short", strings.Repeat("x", 10_000), "<script>alert(1)</script>-0123456789"} {
		w := d.submit(secret, "/console/about")
		if w.Code != http.StatusForbidden || w.Header().Get("Set-Cookie") != "" {
			t.Errorf("%.20q: %d %v", secret, w.Code, w.Header())
		}
		if i == 0 {
			first = w.Body.String()
		}
		if w.Body.String() != first || !strings.Contains(first, "This key is not valid") || secret != "" && strings.Contains(w.Body.String(), secret) {
			t.Errorf("%.20q: %s", secret, w.Body)
		}
	}
	if len(d.gateway.refused) != 5 || d.gateway.refused[0].String() != "2001:db8::7" || d.gateway.signedIn != 0 {
		t.Errorf("refused %v", d.gateway.refused)
	}
	if w := d.submit(" "+opsSecret+"\n", ""); w.Code != http.StatusSeeOther {
		t.Errorf("a key that was pasted with a blank: %d", w.Code)
	}
}

func TestARefusalWaitsForItsTurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := open()
		d.gateway.wait = 4 * time.Second
		start := time.Now()
		if w := d.submit("wrong", ""); w.Code != http.StatusForbidden || time.Since(start) != 4*time.Second {
			t.Errorf("%d after %v", w.Code, time.Since(start))
		}
		start = time.Now()
		if w := d.submit(opsSecret, ""); w.Code != http.StatusSeeOther || time.Since(start) != 0 {
			t.Errorf("a good key from there: %d after %v", w.Code, time.Since(start))
		}
		d.gateway.tooMany = true
		start = time.Now()
		w := d.submit("wrong", "")
		if w.Code != http.StatusTooManyRequests || w.Header().Get("Retry-After") != "10" || time.Since(start) != 0 {
			t.Errorf("%d after %v", w.Code, time.Since(start))
		}
		if w := d.submit(opsSecret, ""); w.Code != http.StatusSeeOther {
			t.Errorf("a good key is refused with them: %d", w.Code)
		}
	})
}

func TestTheSignInFormIsBounded(t *testing.T) {
	d := open()
	if w := d.submit(opsSecret, "/console/"+strings.Repeat("x", maxSignIn)); w.Code != http.StatusBadRequest || d.gateway.signedIn != 0 {
		t.Errorf("%d", w.Code)
	}
	w := d.do(newTestRequest(http.MethodPost, "/console/sign-in?key="+opsSecret, url.Values{"return": {""}}, sameOrigin...))
	if w.Code != http.StatusForbidden {
		t.Errorf("a key in the URL: %d", w.Code) // it would be in logs
	}
}

func TestNobodySignsInWhileTheGatewayIsNotReady(t *testing.T) {
	d := open()
	d.gateway.starts = apierror.New(apierror.ShuttingDown, "the gateway did not start")
	if w := d.submit(opsSecret, ""); w.Code != http.StatusServiceUnavailable || !strings.Contains(w.Body.String(), "The gateway did not start") {
		t.Errorf("%d %s", w.Code, w.Body)
	}
}

func TestSignOutEndsTheSessionAndDeletesTheCookie(t *testing.T) {
	d := open()
	cookie := d.signIn(t, opsSecret)
	if w := d.ask(http.MethodGet, "/console/sign-out", cookie); w.Code != http.StatusNotFound {
		t.Errorf("a link signs out: %d", w.Code)
	}
	w := d.ask(http.MethodPost, "/console/sign-out", cookie, sameOrigin...)
	if w.Code != http.StatusSeeOther || !strings.Contains(w.Header().Get("Set-Cookie"), "Max-Age=0") || d.gateway.store.Len() != 0 {
		t.Errorf("%d %v, %d sessions", w.Code, w.Header(), d.gateway.store.Len())
	}
	if page := d.ask(http.MethodGet, w.Header().Get("Location"), "").Body.String(); !strings.Contains(page, "You are signed out.") {
		t.Errorf("%s", page)
	}
}

func TestTheSecretIsInNoAnswer(t *testing.T) {
	d := open()
	w := d.submit(opsSecret, "/console/about")
	cookie := cookieOf(t, w)
	everyRoute(func(method, path string) {
		got := d.ask(method, path, cookie, sameOrigin...)
		for what, secret := range map[string]string{"the key": opsSecret, "the session's ID": cookie} {
			if strings.Contains(got.Body.String(), secret) || strings.Contains(got.Header().Get("Location"), secret) {
				t.Errorf("%s %s shows %s", method, path, what)
			}
		}
	})
	if strings.Contains(w.Header().Get("Location")+w.Header().Get("Set-Cookie"), opsSecret) {
		t.Errorf("%v", w.Header())
	}
}

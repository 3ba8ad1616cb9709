package operator

import (
	"io"
	"net/http"
	"net/http/cookiejar"
	"strings"
	"testing"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/testkit/enginetest"
	"github.com/gatehouse-proxy/gatehouse/internal/testkit/identitytest"
	"github.com/gatehouse-proxy/gatehouse/tests/harness"
)

// person is somebody at a browser, who follows all redirects.
type person struct {
	*http.Client
	h *harness.Gateway
}

func newPerson(h *harness.Gateway) person {
	h.T.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		h.T.Fatal(err)
	}
	return person{&http.Client{Jar: jar, Transport: h.Client.HTTP.Transport}, h}
}

// open returns where the browser is in the end, the status and the page.
func (p person) open(at string) (path string, status int, page string) {
	p.h.T.Helper()
	answer, err := p.Get(p.h.Client.Origin + at)
	if err != nil {
		p.h.T.Fatal(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		p.h.T.Fatal(err)
	}
	return answer.Request.URL.RequestURI(), answer.StatusCode, string(text)
}

// withProvider are options by which people sign in at an issuer. Each of them is asked for again
// after maxLife.
func withProvider(h *harness.Gateway, issuer *identitytest.Issuer, maxLife string) harness.Setup {
	return harness.Setup{Site: consoleSite, Options: `
		origin ` + h.Client.Origin + `
		encryption_secret a-secret-of-a-test-that-has-more-than-32-bytes
		role operator {
			scopes activity:read models:read
			rate 50/min
		}
		identity idp {
			issuer ` + issuer.URL + `
			client ` + identitytest.ClientID + ` "` + identitytest.ClientSecret + `"
			max_life ` + maxLife + `
			role operator {
				groups operators
			}
		}`}
}

func TestSomebodySignsInToTheConsoleAtAnIdentityProvider(t *testing.T) {
	issuer, h := identitytest.Start(t), harness.Start(t, harness.Setup{Site: consoleSite})
	h.Become(withProvider(h, issuer, "1h"))
	issuer.SignIn("ann", map[string]any{"groups": []string{"operators"}, "email": "ann@example.com", "email_verified": true})
	ann := newPerson(h)
	at, _, page := ann.open("/console/activity?limit=7")
	if !strings.HasPrefix(at, "/console/sign-in?") || !strings.Contains(page, `href="/console/sign-in/idp?return=%2fconsole%2factivity%3flimit%3d7"`) || !strings.Contains(page, "Sign in with idp") {
		t.Fatalf("%s: %s", at, page)
	}
	if at, status, page := ann.open("/console/sign-in/idp?return=%2Fconsole%2Factivity%3Flimit%3D7"); at != "/console/activity?limit=7" || status != 200 || !strings.Contains(page, "ann@example.com as <b>operator</b>") {
		t.Fatalf("%s: %d %s", at, status, page)
	}
	if _, status, page := ann.open("/console/you"); status != 200 || !strings.Contains(page, "idp-") || !strings.Contains(page, "50/min") {
		t.Errorf("%d %s", status, page)
	}
	if _, status, _ := ann.open("/console/keys"); status != http.StatusForbidden {
		t.Errorf("what the role does not allow: %d", status)
	}
	if at, _, _ := ann.open("/console/sign-in/idp?return=//evil.example/"); at != "/console/" {
		t.Errorf("another site: %s", at)
	}
	key := signIn(h, "full")
	h.Stop()
	h.Become(withProvider(h, issuer, "1h"))
	h.Client.HTTP.CloseIdleConnections()
	if at, status, page := ann.open("/console/you"); at != "/console/you" || status != 200 || !strings.Contains(page, "ann@example.com") {
		t.Errorf("after a restart: %s: %d", at, status)
	}
	if a := atConsole(h, http.MethodGet, "/console/about", nil, "Cookie", key); a.Status != 200 {
		t.Errorf("after a restart, with a key: %d", a.Status)
	}
	h.Become(withProvider(h, issuer, "2h")) // the block is another one
	if at, _, page := ann.open("/console/"); !strings.Contains(at, "done=sign-in-over") || !strings.Contains(page, "Your sign-in is over") {
		t.Errorf("after a reload that changes the block: %s", at)
	}
	ann.open("/console/sign-in/idp")
	h.Become(harness.Setup{Site: consoleSite})
	if at, _, page := ann.open("/console/"); !strings.HasPrefix(at, "/console/sign-in") || strings.Contains(page, "Sign in with") {
		t.Errorf("after a reload without the block: %s", at)
	}
}

func TestWhoIsNotLetIn(t *testing.T) {
	issuer, h := identitytest.Start(t), harness.Start(t, harness.Setup{Site: consoleSite})
	h.Become(withProvider(h, issuer, "1h"))
	refused := func(what string, p person, path string, status int, text string) {
		t.Helper()
		if at, got, page := p.open(path); got != status || !strings.Contains(page, text) || strings.Contains(page, "secret-group") {
			t.Errorf("%s: %s: %d %s", what, at, got, page)
		}
		if at, _, _ := p.open("/console/"); !strings.HasPrefix(at, "/console/sign-in") {
			t.Errorf("%s: in at %s", what, at)
		}
	}
	issuer.SignIn("eve", map[string]any{"groups": []string{"secret-group"}})
	refused("no role", newPerson(h), "/console/sign-in/idp", http.StatusForbidden, "no role of this gateway is for you")
	issuer.End("eve")
	refused("the provider refuses", newPerson(h), "/console/sign-in/idp", http.StatusUnauthorized, "access_denied")
	refused("nobody has begun", newPerson(h), "/.gatehouse/callback?code=1&state=0123456789", http.StatusUnauthorized, "this browser has begun no such sign-in")
	refused("no identity of this name", newPerson(h), "/console/sign-in/other", http.StatusUnauthorized, "not valid")
}

// Who has left is out when the identity provider is asked again.
func TestAPersonWhoIsEndedAtTheProvider(t *testing.T) {
	issuer, h := identitytest.Start(t), harness.Start(t, harness.Setup{Site: consoleSite})
	h.Become(withProvider(h, issuer, "1s"))
	issuer.SignIn("ann", map[string]any{"groups": "operators"})
	ann := newPerson(h)
	if at, _, page := ann.open("/console/sign-in/idp"); at != "/console/" {
		t.Fatalf("%s: %s", at, page)
	}
	asked := issuer.Asked()
	enginetest.Within(t, 10*time.Second, "the provider is asked again", func() bool {
		if at, status, page := ann.open("/console/you"); at != "/console/you" {
			t.Fatalf("%s: %d %s", at, status, page)
		}
		return issuer.Asked() > asked+1
	})
	issuer.End("ann")
	enginetest.Within(t, 10*time.Second, "the end", func() bool {
		at, _, _ := ann.open("/console/you")
		return strings.HasPrefix(at, "/console/sign-in?done=sign-in-over")
	})
}

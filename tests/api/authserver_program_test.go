package api

import (
	"encoding/json"
	"html"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/testkit/identitytest"
	"github.com/gatehouse-proxy/gatehouse/tests/harness"
)

// signInOptions let people of an issuer sign in to programs.
func signInOptions(issuer, origin, more string) string {
	return `
		origin ` + origin + `
		encryption_secret {env.SIGN_IN_SECRET}
		role developer {
			scopes chat:write models:read limits:read activity:read
			all_tenants
			models fake/echo fake/usage-all
			rate 5/min
		}
		role operator {
			scopes activity:read limits:read
		}
		identity idp {
			issuer ` + issuer + `
			client ` + identitytest.ClientID + ` {env.SIGN_IN_CLIENT}
			role developer {
				groups ai-users
			}
			role operator {
				groups ops
			}
		}
		authorization_server {
			` + more + `
		}`
}

// program is one that people sign in to, and the browser of its person.
type program struct {
	t      *testing.T
	origin string
	http   *http.Client
	person *http.Client // in the browser
}

func newProgram(t *testing.T, origin string) *program {
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	// A reload closes kept connections, also below a request that is on its way.
	own := harness.NewClient(t, nil)
	transport := own.Transport.(*http.Transport)
	transport.DisableKeepAlives = true
	return &program{t, origin, own, &http.Client{Jar: jar, Transport: own.Transport}}
}

// post sends a form and reads the JSON of the answer.
func (p *program) post(path string, form url.Values) (status int, answer map[string]any) {
	p.t.Helper()
	resp, err := p.http.PostForm(p.origin+path, form)
	if err != nil {
		p.t.Fatal(err)
	}
	defer resp.Body.Close()
	if err := json.NewDecoder(resp.Body).Decode(&answer); err != nil {
		p.t.Fatal(err)
	}
	return resp.StatusCode, answer
}

var goOn = regexp.MustCompile(`content="0;url=([^"]+)"`)

// approve does what the person does in the browser. It returns the last page.
func (p *program) approve(link string) string {
	p.t.Helper()
	u, err := url.Parse(link)
	if err != nil {
		p.t.Fatal(err)
	}
	page := p.browse(http.MethodGet, link, nil)
	if !strings.Contains(page, u.Query().Get("user_code")) {
		p.t.Fatalf("no code: %s", page)
	}
	page = p.browse(http.MethodPost, p.origin+"/oauth/device", url.Values{"user_code": u.Query()["user_code"], "do": {"idp"}})
	next := goOn.FindStringSubmatch(page)
	if next == nil {
		p.t.Fatalf("nowhere to go: %s", page)
	}
	return p.browse(http.MethodGet, html.UnescapeString(next[1]), nil)
}

func (p *program) browse(method, link string, form url.Values) string {
	p.t.Helper()
	r, err := http.NewRequestWithContext(p.t.Context(), method, link, strings.NewReader(form.Encode()))
	if err != nil {
		p.t.Fatal(err)
	}
	if form != nil {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		r.Header.Set("Origin", p.origin)
	}
	resp, err := p.person.Do(r)
	if err != nil {
		p.t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		p.t.Fatal(err)
	}
	return string(body)
}

// signIn signs in the person at the browser.
func (p *program) signIn() (access, refresh string) {
	p.t.Helper()
	status, begun := p.post("/oauth/device_authorization", url.Values{"surface": {"claude_code"}})
	if status != 200 {
		p.t.Fatalf("%d %v", status, begun)
	}
	if page := p.approve(begun["verification_uri_complete"].(string)); !strings.Contains(page, "You are signed in") {
		p.t.Fatalf("%s", page)
	}
	status, got := p.post("/oauth/token", url.Values{"grant_type": {"urn:ietf:params:oauth:grant-type:device_code"}, "device_code": {begun["device_code"].(string)}})
	if status != 200 {
		p.t.Fatalf("%d %v", status, got)
	}
	refresh, _ = got["refresh_token"].(string)
	return got["access_token"].(string), refresh
}

func (p *program) renew(refresh string) (status int, answer map[string]any) {
	p.t.Helper()
	return p.post("/oauth/token", url.Values{"grant_type": {"refresh_token"}, "refresh_token": {refresh}})
}

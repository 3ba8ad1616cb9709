//go:build unix && !race

package clustertest_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"html"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/testkit/identitytest"
	"github.com/gatehouse-proxy/gatehouse/tests/clustertest"
)

// people is a person of an identity provider: the browser, and the programs.
type people struct {
	t       *testing.T
	at      *proof
	browser *http.Client
}

// browse sends a form, or reads a page, and returns the answer and where it leads.
func (p *people) browse(link string, form url.Values) (page, next string) {
	p.t.Helper()
	method := http.MethodGet
	if form != nil {
		method = http.MethodPost
	}
	r, err := http.NewRequestWithContext(p.t.Context(), method, link, strings.NewReader(form.Encode()))
	if err != nil {
		p.t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	if form != nil {
		r.Header.Set("Sec-Fetch-Site", "same-origin")
	}
	resp, err := p.browser.Do(r)
	if err != nil {
		p.t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		p.t.Fatal(err)
	}
	return string(text), resp.Header.Get("Location")
}

// program sends a form to gateway i for a program.
func (p *people) program(i int, path string, form url.Values) (status int, answer map[string]any, err error) {
	r, err := http.NewRequestWithContext(p.t.Context(), http.MethodPost, p.at.Gateways[i].Origin+path, strings.NewReader(form.Encode()))
	if err != nil {
		return 0, nil, err
	}
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		return 0, nil, err
	}
	defer resp.Body.Close()
	return resp.StatusCode, answer, json.NewDecoder(resp.Body).Decode(&answer)
}

var goOn = regexp.MustCompile(`content="0;url=([^"]+)"`)

// signIn signs in to a program: it begins at the first gateway, and each step is at another one.
func (p *people) signIn() (access, refresh string) {
	p.t.Helper()
	status, begun, err := p.program(0, "/oauth/device_authorization", url.Values{"surface": {"claude_code"}})
	if err != nil || status != 200 {
		p.t.Fatalf("%d %v, %v", status, begun, err)
	}
	code := begun["user_code"].(string)
	p.browse(p.at.Gateways[1].Origin+"/oauth/device?user_code="+code, nil)
	page, _ := p.browse(p.at.Gateways[1].Origin+"/oauth/device", url.Values{"user_code": {code}, "do": {"idp"}})
	link := goOn.FindStringSubmatch(page)
	if link == nil {
		p.t.Fatalf("nowhere to go: %s", page)
	}
	_, back := p.browse(html.UnescapeString(link[1]), nil)
	u, err := url.Parse(back)
	if err != nil || u.Path == "" {
		p.t.Fatalf("nowhere to come back to: %q", back)
	}
	if page, _ = p.browse(p.at.Gateways[0].Origin+u.RequestURI(), nil); !strings.Contains(page, "You are signed in") {
		p.t.Fatalf("%s", page)
	}
	status, got, err := p.program(1, "/oauth/token", url.Values{
		"grant_type": {"urn:ietf:params:oauth:grant-type:device_code"}, "device_code": {begun["device_code"].(string)},
	})
	if err != nil || status != 200 {
		p.t.Fatalf("%d %v, %v", status, got, err)
	}
	return got["access_token"].(string), got["refresh_token"].(string)
}

func (p *people) renew(i int, refresh string) (access, next string, err error) {
	status, got, err := p.program(i, "/oauth/token", url.Values{"grant_type": {"refresh_token"}, "refresh_token": {refresh}})
	if err != nil || status != 200 {
		return "", "", fmt.Errorf("%d %v: %w", status, got, err)
	}
	return got["access_token"].(string), got["refresh_token"].(string), nil
}

// works returns the status of a call at gateway i.
func (p *people) works(i int, token string) int {
	p.t.Helper()
	return p.at.chat(clustertest.Client{Origin: p.at.Gateways[i].Origin, Key: token}, "fake/echo").Status
}

// A person signs in at one gateway and refreshes at the other; the end at one closes at the other
// what the person has open, and ends the keys that the person has made.
func TestASignInIsOfAllGateways(t *testing.T) {
	issuer := identitytest.Start(t)
	options := keys + `
		origin http://127.0.0.1:1
		encryption_secret {env.PROOF_SECRET}
		role developer {
			scopes chat:write workstations:connect keys:manage
		}
		identity idp {
			issuer ` + issuer.URL + `
			audience gatehouse
			client ` + identitytest.ClientID + ` {env.PROOF_CLIENT}
			role developer {
				groups ai-users
			}
		}
		authorization_server`
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	p := &people{t, newProof(t, clustertest.Start(t, clustertest.Config{
		Caddy: caddy(t), Gateways: 2, Engines: clustertest.StartEngines(t), Options: options, Alone: true,
		Environment: slices.Concat(environment, []string{"PROOF_SECRET=" + strings.Repeat("s", 32), "PROOF_CLIENT=" + identitytest.ClientSecret}),
	})), &http.Client{Jar: jar, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}}
	ann := map[string]any{"groups": []string{"ai-users"}, "email": "ann@example.com", "email_verified": true}
	issuer.SignIn("ann", ann)
	access, refresh := p.signIn()
	// Both refresh at once: the identity provider takes each of its tokens once.
	for round := range 5 {
		type got struct {
			access, refresh string
			err             error
		}
		answers := make(chan got)
		for i := range p.at.Gateways {
			go func() {
				access, next, err := p.renew(i, refresh)
				answers <- got{access, next, err}
			}()
		}
		for range p.at.Gateways {
			a := <-answers
			if a.err != nil {
				t.Fatalf("round %d: %v", round, a.err)
			}
			access, refresh = a.access, a.refresh
		}
		if here, there := p.works(0, access), p.works(1, access); here != 200 || there != 200 {
			t.Fatalf("round %d: %d, %d", round, here, there)
		}
	}
	for name, command := range map[string][]string{
		"end": {"gatehouse", "sign-ins", "end", "ann@example.com"}, "block": {"gatehouse", "sign-ins", "block", "ann@example.com"},
	} {
		t.Run(name, func(t *testing.T) {
			access, refresh := p.signIn()
			there := clustertest.Client{Origin: p.at.Gateways[1].Origin, Key: access}
			host, err := there.Issue(t.Context(), "demo")
			if err != nil {
				t.Fatal(err)
			}
			desktop, err := p.at.View(t.Context(), p.at.Gateways[1].VNC, host)
			if err != nil {
				t.Fatal(err)
			}
			manager := clustertest.Client{Origin: p.at.Gateways[1].Origin, Key: issuer.Token("ann", "gatehouse", ann)}
			var made struct{ Key string }
			a, err := manager.Do(t.Context(), http.MethodPost, "/api/v1/keys", `{"name":"ann's"}`)
			if err = errors.Join(err, json.Unmarshal(a.Body, &made)); err != nil || a.Status != 201 || p.works(0, made.Key) != 200 {
				t.Fatalf("%s, %v", a, err)
			}
			if text, err := p.at.Gateways[0].Command(command...); err != nil {
				t.Fatalf("%s: %v", text, err)
			}
			began := time.Now()
			end, err := desktop.Ended(waitLimit)
			if took := end.Sub(began); err != nil || took > time.Second {
				t.Errorf("the desktop ended after %v: %v", took, err)
			}
			took := p.at.within(time.Second, "the end at the other gateway", func() error {
				if token, key := p.works(1, access), p.works(1, made.Key); token != 401 || key != 401 {
					return fmt.Errorf("the token: %d, the key: %d", token, key)
				}
				return nil
			})
			t.Logf("token and key ended at the other gateway after %v", took)
			if _, _, err := p.renew(1, refresh); err == nil {
				t.Error("the refresh token is still good")
			}
		})
		if name == "block" {
			if text, err := p.at.Gateways[1].Command("gatehouse", "sign-ins", "list"); err != nil || strings.Contains(text, "ann@example.com") || !strings.Contains(text, "BLOCKED") {
				t.Errorf("%s, %v", text, err)
			}
			if p.works(1, issuer.Token("ann", "gatehouse", ann)) != 401 {
				t.Error("a JWT of somebody who is kept out")
			}
		}
		id := regexp.MustCompile(`idp-[0-9a-f]{20}`)
		text, _ := p.at.Gateways[0].Command("gatehouse", "sign-ins", "list")
		if key := id.FindString(text); key != "" {
			if text, err := p.at.Gateways[0].Command("gatehouse", "sign-ins", "unblock", key); err != nil {
				t.Fatalf("%s: %v", text, err)
			}
			p.at.soon("the person may come again", func() error {
				if status := p.works(1, issuer.Token("ann", "gatehouse", ann)); status != 200 {
					return fmt.Errorf("%d", status)
				}
				return nil
			})
		}
	}
}

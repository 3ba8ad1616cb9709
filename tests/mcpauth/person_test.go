//go:build linux && mcpauth

package mcpauth

import (
	"fmt"
	"html"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/tests/harness"
)

// person is somebody at a browser, who agrees to what a client asks for. Clients open a page by a
// request with its address as url. The answer is where the browser goes back to; with open=1 it
// goes there, as a browser does.
type person struct {
	origin string // of the gateway
	URL    string
}

func startPerson(t *testing.T, origin string) *person {
	p := &person{origin: origin}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		back, err := p.agree(r.FormValue("url"))
		if err == nil && r.FormValue("open") != "" { // a client may not listen yet: a person is slower
			harness.Eventually(func() bool { _, err = read(http.DefaultClient, http.MethodGet, back, nil, ""); return err == nil })
		}
		if err != nil {
			t.Errorf("the person at the browser: %v", err)
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		_, _ = io.WriteString(w, back)
	}))
	t.Cleanup(server.Close)
	p.URL = server.URL
	return p
}

var (
	requestField = regexp.MustCompile(`name="request" value="([^"]+)"`)
	goOn         = regexp.MustCompile(`content="0;url=([^"]+)"`)
)

// agree goes from the page that a client opens to the client's address.
func (p *person) agree(link string) (back string, err error) {
	jar, err := cookiejar.New(nil)
	if err != nil {
		return "", err
	}
	browser := &http.Client{Jar: jar, CheckRedirect: func(r *http.Request, _ []*http.Request) error {
		if r.URL.Query().Get("iss") != "" {
			back = r.URL.String()
			return http.ErrUseLastResponse
		}
		return nil
	}}
	page, err := read(browser, http.MethodGet, link, nil, "")
	if err != nil {
		return "", err
	}
	request := requestField.FindStringSubmatch(page)
	if request == nil {
		return "", fmt.Errorf("nothing to agree to at %s: %s", link, page)
	}
	form := url.Values{"request": {html.UnescapeString(request[1])}, "do": {"idp"}}
	if page, err = read(browser, http.MethodPost, p.origin+"/oauth/authorize", form, p.origin); err != nil {
		return "", err
	}
	next := goOn.FindStringSubmatch(page)
	if next == nil {
		return "", fmt.Errorf("nowhere to go: %s", page)
	}
	if page, err = read(browser, http.MethodGet, html.UnescapeString(next[1]), nil, ""); err == nil && back == "" {
		err = fmt.Errorf("the browser does not come back: %s", page)
	}
	return back, err
}

func read(browser *http.Client, method, link string, form url.Values, origin string) (string, error) {
	r, err := http.NewRequest(method, link, strings.NewReader(form.Encode()))
	if err != nil {
		return "", err
	}
	if form != nil {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		r.Header.Set("Origin", origin)
	}
	resp, err := browser.Do(r)
	if err != nil {
		return "", err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	return string(body), err
}

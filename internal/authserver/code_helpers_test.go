package authserver

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"html"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
)

const (
	callback = "http://127.0.0.1:4711/callback"
	github   = origin + "/mcp/github"
	verifier = "a-verifier-of-at-least-forty-three-characters-0"
)

// register registers a client, which returns to the callback.
func (b *bench) register(redirects ...string) (id string) {
	b.t.Helper()
	if redirects == nil {
		redirects = []string{callback}
	}
	body, _ := json.Marshal(map[string]any{"client_name": "A client", "redirect_uris": redirects})
	a := b.registration(string(body))
	b.want(a, 201, "")
	return a.text("client_id")
}

func (b *bench) registration(body string) answer {
	a := answer{httptest.NewRecorder(), map[string]any{}}
	b.ServeRegister(a, httptest.NewRequest(http.MethodPost, RegisterPath, strings.NewReader(body)))
	_ = json.Unmarshal(a.Body.Bytes(), &a.fields)
	return a
}

// query is an authorization request; pairs replace its parameters, "" takes one out.
func query(client string, pairs ...string) url.Values {
	sum := sha256.Sum256([]byte(verifier))
	q := url.Values{
		"response_type": {"code"}, "client_id": {client}, "redirect_uri": {callback}, "state": {"xyz"}, "resource": {github},
		"code_challenge": {base64.RawURLEncoding.EncodeToString(sum[:])}, "code_challenge_method": {"S256"},
	}
	for i := 0; i < len(pairs); i += 2 {
		if q.Set(pairs[i], pairs[i+1]); pairs[i+1] == "" {
			q.Del(pairs[i])
		}
	}
	return q
}

// look opens the page of a request.
func (b *bench) look(q url.Values) *httptest.ResponseRecorder {
	w := httptest.NewRecorder()
	b.pages.ServeAuthorize(w, httptest.NewRequest(http.MethodGet, AuthorizePath+"?"+q.Encode(), nil))
	return w
}

var leadsBack = regexp.MustCompile(`class="button" href="([^"]+)"`)

// backOf returns where a page leads the person back to, "" for nowhere.
func backOf(page string) url.Values {
	m := leadsBack.FindStringSubmatch(page)
	if m == nil {
		return nil
	}
	u, err := url.Parse(html.UnescapeString(m[1]))
	if err != nil {
		return nil
	}
	return u.Query()
}

// press presses a button of the page of a request.
func (b *bench) press(q url.Values, do string) answer {
	b.t.Helper()
	return b.post(b.pages.ServeAuthorize, url.Values{"request": {q.Encode()}, "do": {do}})
}

// agree signs ann in for a request, and returns what the browser brings back to the client.
func (b *bench) agree(q url.Values) url.Values {
	b.t.Helper()
	on := b.press(q, "okta")
	if on.Code != 200 || len(on.Result().Cookies()) != 1 {
		b.t.Fatalf("%d %s", on.Code, on.Body)
	}
	w := b.approve(on.Result().Cookies()[0].Value, ann, "upstream-0")
	u, err := url.Parse(w.Header().Get("Location"))
	if w.Code != http.StatusSeeOther || err != nil || !strings.HasPrefix(u.String(), q.Get("redirect_uri")) {
		b.t.Fatalf("%d %v %s", w.Code, w.Header(), w.Body)
	}
	return u.Query()
}

// exchange brings a code; pairs replace the parameters.
func (b *bench) exchange(client, code string, pairs ...string) answer {
	b.t.Helper()
	form := url.Values{
		"grant_type": {codeGrant}, "client_id": {client}, "code": {code}, "code_verifier": {verifier}, "redirect_uri": {callback}, "resource": {github},
	}
	for i := 0; i < len(pairs); i += 2 {
		if form.Set(pairs[i], pairs[i+1]); pairs[i+1] == "" {
			form.Del(pairs[i])
		}
	}
	return b.post(b.ServeToken, form)
}

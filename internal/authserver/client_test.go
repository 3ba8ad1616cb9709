package authserver

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
)

func TestALoopbackAddressHasAnyPort(t *testing.T) { // RFC 8252, 7.3
	b := start(t, programs)
	client := b.register("http://127.0.0.1/callback", "http://[::1]/callback", "http://localhost:1/callback?a=b")
	for _, address := range []string{"http://127.0.0.1/callback", "http://127.0.0.1:5/callback", "http://[::1]:6/callback", "http://localhost:7/callback?a=b"} {
		got := b.agree(query(client, "redirect_uri", address))
		b.want(b.exchange(client, got.Get("code"), "redirect_uri", address), 200, "")
	}
}

func TestAHostThatLooksLikeAnotherIsRefused(t *testing.T) {
	b := start(t, programs)
	for _, address := range []string{
		"https://claude.ai%E2%81%84.evil.example/", "https://claude.ai\u2044.evil.example/", "https://cl%D0%B0ude.ai/", "https://[fe80::1%25 claude.ai]/",
	} {
		a := b.registration(`{"redirect_uris":["` + address + `"]}`)
		b.want(a, 400, "invalid_redirect_uri")
	}
}

func TestAProgramOfTheConfigurationHasASchemeOfItsOwn(t *testing.T) {
	b := start(t, programs)
	got := b.agree(query("studio", "redirect_uri", "studio://signed-in"))
	b.want(b.exchange("studio", got.Get("code"), "redirect_uri", ""), 200, "")
	for name, c := range map[string]map[string][]string{
		"nowhere":   {"studio": {}},
		"a script":  {"studio": {"javascript:alert(1)"}},
		"a text":    {"studio": {"data:text/html,x"}},
		"http":      {"studio": {"http://app.example.com/"}},
		"no scheme": {"studio": {"/callback"}},
		"a URL":     {"https://app.example.com/client": {callback}},
		"no name":   {"": {callback}},
	} {
		if _, err := New(Config{Origin: origin, Keys: []string{key}, Clients: c}); err == nil {
			t.Errorf("%s is possible", name)
		}
	}
}

// noNetwork is a transport that reaches nothing.
type noNetwork struct{}

func (noNetwork) RoundTrip(*http.Request) (*http.Response, error) { return nil, http.ErrHandlerTimeout }

func FuzzAuthorize(f *testing.F) {
	b := start(f, programs, func(c *Config) { c.Documents = &http.Client{Transport: noNetwork{}} })
	client := b.register(callback, "https://app.example.com/")
	f.Add(query(client).Encode())
	f.Add(query("studio", "redirect_uri", "studio://signed-in", "scope", "chat:write").Encode())
	f.Add(query(client, "redirect_uri", "https://app.example.com/", "code_challenge_method", "plain", "state", "\"<>&%").Encode())
	f.Add("client_id=https%3A%2F%2F127.0.0.1%2Fclient&x=%zz")
	f.Fuzz(func(t *testing.T, text string) {
		b.t = t
		b.state.bounds = newBounds()
		r := httptest.NewRequest(http.MethodGet, AuthorizePath, nil)
		r.URL.RawQuery = text
		w := httptest.NewRecorder()
		b.pages.ServeAuthorize(w, r)
		if w.Code >= 500 || w.Header().Get("Location") != "" || strings.Contains(w.Body.String(), "http-equiv") {
			t.Errorf("%d %v for %q", w.Code, w.Header(), text)
		}
		a := b.post(b.pages.ServeAuthorize, url.Values{"request": {text}, "do": {"okta"}})
		if a.Code >= 500 || a.Header().Get("Location") != "" || (a.Header().Get("Set-Cookie") != "") != (w.Code == 200) {
			t.Errorf("%d %v for %q, whose page is %d", a.Code, a.Header(), text, w.Code)
		}
	})
}

func FuzzRegister(f *testing.F) {
	b := start(f, programs)
	f.Add(`{"client_name":"A","redirect_uris":["` + callback + `","https://app.example.com/x?y=z"]}`)
	f.Add(`{"redirect_uris":["javascript:alert(1)"]}`)
	f.Add(`{"client_name":"\u0000<","redirect_uris":["http://[::1]:1/%41"],"token_endpoint_auth_method":"client_secret_post"}`)
	f.Fuzz(func(t *testing.T, body string) {
		b.t = t
		a := b.registration(body)
		if a.Code != 201 {
			if a.Code != 400 {
				t.Errorf("%d for %q", a.Code, body)
			}
			return
		}
		found, err := b.clients.find(t.Context(), a.text("client_id"), addresses{})
		if err != nil || len(found.redirects) == 0 {
			t.Fatalf("%+v, %v for %q", found, err, body)
		}
		for _, address := range found.redirects {
			u, err := url.Parse(address)
			if err != nil || u.Scheme != "https" && (u.Scheme != "http" || !isLoopback(u.Hostname())) {
				t.Errorf("a browser can be sent to %q", address)
			}
			if to, err := found.redirect(address); err != nil || to != address {
				t.Errorf("%q: %q, %v", address, to, err)
			}
		}
	})
}

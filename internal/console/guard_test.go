package console

import (
	"crypto/tls"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/keys"
)

// everyRoute calls f for each page, with a path that fits its pattern, and for one that does not exist.
func everyRoute(f func(method, path string)) {
	for _, p := range pages {
		path := p.path
		for strings.Contains(path, "{") {
			before, rest, _ := strings.Cut(path, "{")
			name, after, _ := strings.Cut(rest, "}")
			if name == "$" {
				name = ""
			}
			path = before + strings.TrimSuffix(name, "...") + after
		}
		f(p.method, Prefix+path)
	}
	f(http.MethodGet, "/console/no-such-page")
	f(http.MethodDelete, "/console/")
}

func TestNoRouteIsServedWithoutASession(t *testing.T) {
	d := open()
	old := d.signIn(t, opsSecret)
	if w := d.do(newTestRequest(http.MethodPost, "/console/sign-out", nil, append(sameOrigin, "Cookie", secureCookie+"="+old)...)); w.Code != http.StatusSeeOther {
		t.Fatalf("sign-out: %d", w.Code)
	}
	for what, cookie := range map[string]string{"none": "", "bad": "nonsense", "of the right size": strings.Repeat("A", 43), "after sign-out": old} {
		everyRoute(func(method, path string) {
			wantSignIn(t, what+" cookie: "+method+" "+path, d.ask(method, path, cookie, sameOrigin...))
		})
	}
	everyRoute(func(method, path string) {
		wantSignIn(t, "Authorization: "+method+" "+path, d.ask(method, path, "", append(sameOrigin, "Authorization", "Bearer "+opsSecret)...))
		wantSignIn(t, "query: "+method+" "+path, d.ask(method, path+"?key="+opsSecret, "", sameOrigin...))
		wantSignIn(t, "cookie of plain HTTP: "+method+" "+path, d.ask(method, path, "", append(sameOrigin, "Cookie", plainCookie+"="+d.signIn(t, opsSecret))...))
	})
}

func TestASessionEndsWithItsKey(t *testing.T) {
	for what, change := range map[string]func(map[string]*keys.Key){
		"dropped":  func(m map[string]*keys.Key) { delete(m, opsSecret) },
		"re-keyed": func(m map[string]*keys.Key) { m["gk-console-other-0123456789"] = m[opsSecret]; delete(m, opsSecret) },
		"of another tenant": func(m map[string]*keys.Key) {
			m[opsSecret] = &keys.Key{Name: "ops", Tenant: "other", Scopes: keys.ActivityRead}
		},
	} {
		everyRoute(func(method, path string) {
			d := open()
			cookie := d.signIn(t, opsSecret)
			d.gateway.change(change)
			w := d.ask(method, path, cookie, sameOrigin...)
			wantSignIn(t, what+": "+method+" "+path, w)
			set := w.Header().Get("Set-Cookie")
			if deleted := strings.HasPrefix(set, secureCookie+"=;") && strings.Contains(set, "Max-Age=0"); deleted == (path == Prefix+socketPath || strings.HasSuffix(path, thumbnailPath)) {
				t.Errorf("%s: %s: the cookie is deleted: %v: %q", what, path, deleted, set)
			}
			if n := d.gateway.store.Len(); n != 0 {
				t.Errorf("%s: %d sessions are left", what, n)
			}
		})
	}
}

func TestAPageIsServedAsTheKeyIsNow(t *testing.T) {
	d := open()
	cookie := d.signIn(t, opsSecret)
	if w := d.ask(http.MethodGet, "/console/about", cookie); w.Code != http.StatusOK || !strings.Contains(w.Body.String(), "<b>ops</b>") {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	var scoped string
	for _, p := range pages {
		if len(p.scopes) > 0 && p.method == http.MethodGet && !strings.Contains(p.path, "{") && !p.allows(&keys.Key{}) {
			scoped = Prefix + p.path
		}
	}
	d.gateway.change(func(m map[string]*keys.Key) { m[opsSecret] = &keys.Key{Name: "ops", Tenant: "default"} })
	if w := d.ask(http.MethodGet, scoped, cookie); w.Code != http.StatusForbidden || !strings.Contains(w.Body.String(), "the key needs") {
		t.Errorf("%s without its scope: %d %s", scoped, w.Code, w.Body)
	}
}

func TestEveryAnswerHasTheHeaders(t *testing.T) {
	d := open()
	cookie := d.signIn(t, opsSecret)
	check := func(what string, w *httptest.ResponseRecorder) {
		t.Helper()
		for name, want := range headers {
			if strings.HasSuffix(what, "/desktop") && w.Code == http.StatusOK && name == "Content-Security-Policy" {
				want = desktopPolicy
			}
			if got := w.Header().Get(name); got != want && !(name == "Cache-Control" && strings.Contains(what, "/assets/")) {
				t.Errorf("%s: %d, %s is %q", what, w.Code, name, got)
			}
		}
	}
	everyRoute(func(method, path string) {
		check(method+" "+path, d.ask(method, path, cookie, sameOrigin...))
		check(method+" "+path+" signed out", d.ask(method, path, "", sameOrigin...))
		check(method+" "+path+" of another site", d.ask(method, path, cookie, "Sec-Fetch-Site", "cross-site"))
	})
	for _, path := range []string{"/console", "/console/sign-in", assetURL() + "css/base.css", assetURL() + "none", "/console//about"} {
		check(path, d.ask(http.MethodGet, path, ""))
	}
	check("bad key", d.do(newTestRequest(http.MethodPost, "/console/sign-in", url.Values{"key": {"wrong"}}, sameOrigin...)))
	for _, directive := range []string{"default-src 'none'", "script-src 'self'", "frame-ancestors 'none'", "form-action 'self'", "require-trusted-types-for 'script'"} {
		if !strings.Contains(policy, directive) || !strings.Contains(desktopPolicy, directive) || strings.Contains(policy+desktopPolicy, "unsafe") {
			t.Errorf("the policy lacks %s", directive)
		}
	}
}

func TestAChangeComesFromTheConsolesOwnPages(t *testing.T) {
	const own = "https://console.example.com"
	for name, tc := range map[string]struct {
		header []string
		cookie bool
		origin string // the option
		want   int
	}{
		"its page":                       {sameOrigin, true, "", 303},
		"its page, an older browser":     {[]string{"Origin", own}, true, "", 303},
		"typed in the address bar":       {[]string{"Sec-Fetch-Site", "none"}, true, "", 303},
		"another site":                   {[]string{"Origin", "https://evil.example", "Sec-Fetch-Site", "cross-site"}, true, "", 403},
		"another host of the site":       {[]string{"Origin", "https://www.example.com", "Sec-Fetch-Site", "same-site"}, true, "", 403},
		"another site, an older browser": {[]string{"Origin", "https://evil.example"}, true, "", 403},
		"another port":                   {[]string{"Origin", own + ":8443"}, true, "", 403},
		"a page without an origin":       {[]string{"Origin", "null"}, true, "", 403},
		"a page without an origin, too":  {[]string{"Origin", "null", "Sec-Fetch-Site", "cross-site"}, true, "", 403},
		"neither, with the cookie":       {nil, true, "", 403},
		"neither, without the cookie":    {nil, false, "", 303},
		"another site, no cookie":        {[]string{"Origin", "https://evil.example"}, false, "", 403},
		"the option origin":              {[]string{"Origin", "https://front.example", "Sec-Fetch-Site", "same-site"}, true, "https://front.example", 303},
		"not the option origin":          {[]string{"Origin", "https://evil.example"}, true, "https://front.example", 403},
	} {
		t.Run(name, func(t *testing.T) {
			d := open(func(c *Config) { c.Origin = tc.origin })
			cookie := d.signIn(t, opsSecret)
			for _, path := range []string{"/console/theme", "/console/sign-out"} {
				sent := ""
				if tc.cookie {
					sent = cookie
				}
				if w := d.ask(http.MethodPost, path, sent, tc.header...); w.Code != tc.want {
					t.Errorf("POST %s: %d, want %d", path, w.Code, tc.want)
				}
			}
			if lives := d.gateway.store.Len() == 1; lives != (tc.want == 403 || !tc.cookie) {
				t.Errorf("the session lives: %v", lives)
			}
			if w := d.ask(http.MethodGet, "/console/sign-in", "", tc.header...); w.Code != http.StatusOK {
				t.Errorf("a link from there: %d", w.Code)
			}
		})
	}
}

func TestPlainHTTPIsForThisMachineOnly(t *testing.T) {
	for _, tc := range []struct {
		peer, host, origin string
		tls, want          bool
		cookie             string
	}{
		{"192.0.2.1:4000", "console.example.com", "", true, true, secureCookie},
		{"127.0.0.1:4000", "localhost:8080", "", true, true, secureCookie},
		{"127.0.0.1:4000", "localhost:8080", "", false, true, plainCookie},
		{"[::1]:4000", "[::1]:8080", "", false, true, plainCookie},
		{"127.0.0.1:4000", "127.0.0.1", "", false, true, plainCookie},
		{"127.0.0.1:4000", "console.localhost", "", false, true, plainCookie},
		{"127.0.0.1:4000", "console.example.com", "", false, false, ""}, // a proxy, or DNS rebinding
		{"192.0.2.1:4000", "localhost:8080", "", false, false, ""},
		{"192.0.2.1:4000", "console.example.com", "", false, false, ""},
		{"@", "console.example.com", "", false, false, ""},
		{"192.0.2.1:4000", "console.example.com", "https://console.example.com", false, true, secureCookie},
		{"@", "backend", "https://console.example.com", false, true, secureCookie},
	} {
		d := open(func(c *Config) { c.Origin = tc.origin })
		r := newTestRequest(http.MethodPost, "/console/sign-in", url.Values{"key": {opsSecret}})
		r.RemoteAddr, r.Host, r.TLS = tc.peer, tc.host, nil
		if tc.tls {
			r.TLS = new(tls.ConnectionState)
		}
		w := d.do(r)
		if !tc.want {
			if w.Code != http.StatusForbidden || !strings.Contains(w.Body.String(), "plain HTTP") || len(w.Result().Cookies()) > 0 || d.gateway.signedIn != 0 {
				t.Errorf("%+v: %d %s", tc, w.Code, w.Body)
			}
			continue
		}
		cookies := w.Result().Cookies()
		if w.Code != http.StatusSeeOther || len(cookies) != 1 {
			t.Errorf("%+v: %d %s", tc, w.Code, w.Body)
			continue
		}
		c := cookies[0]
		if c.Name != tc.cookie || c.Secure != (tc.cookie == secureCookie) || !c.HttpOnly || c.SameSite != http.SameSiteLaxMode || c.Path != "/" || c.Domain != "" || c.MaxAge != 0 {
			t.Errorf("%+v: %v", tc, c)
		}
	}
}

// A proxy on this machine may send a Host of its own, so that its clients seem to be here.
func TestARequestThatAProxyHasForwardedIsNotOfThisMachine(t *testing.T) {
	for _, name := range []string{"X-Forwarded-For", "X-Forwarded-Anything", "Forwarded", "Via", "X-Real-Ip"} {
		d := open()
		r := newTestRequest(http.MethodPost, "/console/sign-in", url.Values{"key": {opsSecret}})
		r.RemoteAddr, r.Host, r.TLS = "127.0.0.1:4000", "localhost:8080", nil
		r.Header.Set(name, "")
		if w := d.do(r); w.Code != http.StatusForbidden || len(w.Result().Cookies()) > 0 || d.gateway.signedIn != 0 {
			t.Errorf("%s: %d %s", name, w.Code, w.Body)
		}
	}
}

func TestWithoutTheStoreNobodyIsSignedIn(t *testing.T) {
	d := open()
	cookie := d.signIn(t, opsSecret)
	d.gateway.store = away{}
	everyRoute(func(method, path string) {
		w := d.ask(method, path, cookie, sameOrigin...)
		if w.Code != http.StatusServiceUnavailable || !strings.Contains(w.Body.String(), "Valkey") || w.Header().Get("Retry-After") == "" || w.Header().Get("Set-Cookie") != "" {
			t.Errorf("%s %s: %d %s", method, path, w.Code, w.Body)
		}
	})
	wantSignIn(t, "without a cookie", d.ask(http.MethodGet, "/console/about", ""))
	w := d.do(newTestRequest(http.MethodPost, "/console/sign-in", url.Values{"key": {opsSecret}}, sameOrigin...))
	if w.Code != http.StatusServiceUnavailable || w.Header().Get("Set-Cookie") != "" {
		t.Errorf("sign-in: %d %v", w.Code, w.Header())
	}
	w = d.ask(http.MethodPost, "/console/sign-out", cookie, sameOrigin...)
	if w.Code != http.StatusServiceUnavailable || !strings.Contains(w.Header().Get("Set-Cookie"), "Max-Age=0") {
		t.Errorf("sign-out: %d %v", w.Code, w.Header())
	}
}

func TestAGatewayThatDoesNotKnowItsKeysYetSignsNobodyOut(t *testing.T) {
	d := open()
	cookie := d.signIn(t, opsSecret)
	d.gateway.err = apierror.New(apierror.StorageUnavailable, "the gateway has just started")
	if w := d.ask(http.MethodGet, "/console/about", cookie); w.Code != http.StatusServiceUnavailable || !strings.Contains(w.Body.String(), "has just started") {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	d.gateway.err = nil
	if w := d.ask(http.MethodGet, "/console/about", cookie); w.Code != http.StatusOK {
		t.Errorf("afterwards: %d", w.Code)
	}
}

package authserver

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
)

// What somebody may try who is not the person.
func TestAttacks(t *testing.T) {
	form := func(pairs ...string) url.Values {
		v := url.Values{}
		for i := 0; i < len(pairs); i += 2 {
			v.Add(pairs[i], pairs[i+1])
		}
		return v
	}
	for name, attack := range map[string]func(t *testing.T, b *bench){
		"a device code of another gateway": func(t *testing.T, b *bench) {
			other := start(t, func(c *Config) { c.Keys = []string{strings.Repeat("x", MinKey)} })
			device, _ := other.device()
			b.want(b.poll(device), 400, invalidGrant)
		},
		"an access token as a refresh token": func(t *testing.T, b *bench) {
			access, _ := b.signIn()
			b.want(b.renew(access), 401, invalidGrant)
			b.want(b.renew(refreshPrefix+strings.TrimPrefix(access, accessPrefix)), 401, invalidGrant)
		},
		"a refresh token as an access token": func(t *testing.T, b *bench) {
			_, refresh := b.signIn()
			if b.good(refresh) || b.good(accessPrefix+strings.TrimPrefix(refresh, refreshPrefix)) {
				t.Error("it is good")
			}
		},
		"a token with a letter changed": func(t *testing.T, b *bench) {
			access, _ := b.signIn()
			for i := range access {
				if forged := access[:i] + "A" + access[i+1:]; forged != access && b.good(forged) {
					t.Errorf("%d: it is good", i)
				}
			}
			if b.good(access+"\n") || b.good(access+"=") {
				t.Error("another spelling is good")
			}
		},
		"guesses of user codes from one address": func(t *testing.T, b *bench) {
			_, user := b.device()
			for range maxGuesses {
				if page := b.get(PagePath + "?user_code=BBBB-BBBB"); page.Code != 404 {
					t.Fatalf("%d", page.Code)
				}
			}
			if page := b.get(PagePath + "?user_code=" + user); page.Code != http.StatusTooManyRequests {
				t.Errorf("%d: the right one is found after many guesses", page.Code)
			}
			b.at = b.at.Add(boundsWindow)
			_, user = b.device()
			if page := b.get(PagePath + "?user_code=" + user); page.Code != 200 {
				t.Errorf("%d: for ever", page.Code)
			}
		},
		"guesses from many addresses": func(t *testing.T, b *bench) {
			_, user := b.device()
			look := func(address int, code string) int {
				r := httptest.NewRequest(http.MethodGet, PagePath+"?user_code="+code, nil)
				r.RemoteAddr = fmt.Sprintf("[2001:db8:%x:%x::1]:1", address, rand.N(1<<16))
				w := httptest.NewRecorder()
				b.pages.ServePage(w, r)
				return w.Code
			}
			for i := range maxGuessesInAll {
				look(i, "BBBB-BBBB")
			}
			if code := look(0, user); code != http.StatusTooManyRequests {
				t.Errorf("%d: an address with a wrong one has another", code)
			}
			if code := look(maxGuessesInAll, user); code != 200 {
				t.Errorf("%d: strangers lock everybody out", code)
			}
			if one, other := look(maxGuessesInAll, "BBBB-BBBB"), look(maxGuessesInAll, user); one != 404 || other != http.StatusTooManyRequests {
				t.Errorf("%d, %d: an address has more than one beyond all", one, other)
			}
			for i := range maxAddresses {
				look(i, "BBBB-BBBB")
			}
			if code := look(maxAddresses, user); code != http.StatusTooManyRequests {
				t.Errorf("%d: guesses are without bound", code)
			}
		},
		"an image in a page of another site": func(t *testing.T, b *bench) {
			_, user := b.device()
			for range maxGuesses {
				r := httptest.NewRequest(http.MethodGet, PagePath+"?user_code=BBBB-BBBB", nil)
				r.Header.Set("Sec-Fetch-Dest", "image")
				w := httptest.NewRecorder()
				if b.pages.ServePage(w, r); w.Code != 200 {
					t.Fatalf("%d: it is looked up", w.Code)
				}
			}
			r := httptest.NewRequest(http.MethodGet, PagePath+"?user_code="+user, nil)
			r.Header.Set("Sec-Fetch-Dest", "document")
			w := httptest.NewRecorder()
			if b.pages.ServePage(w, r); w.Code != 200 || !strings.Contains(w.Body.String(), user) {
				t.Errorf("%d: its readers are locked out", w.Code)
			}
		},
		"sign-ins begun by a page of another site": func(t *testing.T, b *bench) {
			for header, value := range map[string]string{"Sec-Fetch-Site": "cross-site", "Origin": "https://evil.example.com"} {
				for _, serve := range []func(http.ResponseWriter, *http.Request){b.ServeDevice, b.ServeToken} {
					r := httptest.NewRequest(http.MethodPost, "/", strings.NewReader("surface=x"))
					r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
					r.Header.Set(header, value)
					w := httptest.NewRecorder()
					if serve(w, r); w.Code != http.StatusForbidden {
						t.Errorf("%s %s: %d", header, value, w.Code)
					}
				}
			}
			for range maxBegun {
				b.device()
			}
		},
		"an identity provider that is not there": func(t *testing.T, b *bench) {
			_, user := b.device()
			a := b.post(b.pages.ServePage, form("user_code", user, "do", strings.Repeat("x", 1<<12)))
			if a.Code != 400 || a.Header().Get("Set-Cookie") != "" {
				t.Errorf("%d %s", a.Code, a.Body)
			}
		},
		"many sign-ins begun": func(t *testing.T, b *bench) {
			for range maxBegun {
				b.device()
			}
			a := b.post(b.ServeDevice, nil)
			b.want(a, http.StatusTooManyRequests, slowDown)
			if a.Header().Get("Retry-After") != "600" {
				t.Error(a.Header())
			}
		},
		"a form of another site": func(t *testing.T, b *bench) {
			device, user := b.device()
			for header, value := range map[string]string{"Sec-Fetch-Site": "cross-site", "Origin": "https://evil.example.com", "X": ""} {
				r := httptest.NewRequest(http.MethodPost, PagePath, strings.NewReader(form("user_code", user, "do", "okta").Encode()))
				r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
				r.Header.Set(header, value)
				w := httptest.NewRecorder()
				if b.pages.ServePage(w, r); w.Code != http.StatusForbidden || w.Header().Get("Set-Cookie") != "" {
					t.Errorf("%s %s: %d", header, value, w.Code)
				}
			}
			b.want(b.poll(device), 400, pending)
		},
		"a link that signs in at once": func(t *testing.T, b *bench) {
			device, user := b.device()
			page := b.get(PagePath + "?user_code=" + user + "&do=okta")
			if page.Code != 200 || page.Header().Get("Set-Cookie") != "" || strings.Contains(page.Body.String(), "refresh") {
				t.Errorf("%d %s", page.Code, page.Body)
			}
			b.want(b.poll(device), 400, pending)
		},
		"a name of a client to deceive people": func(t *testing.T, b *bench) {
			a := b.post(b.ServeDevice, form("surface", `Support: type your password <script>alert(1)</script>`))
			page := b.get(PagePath + "?user_code=" + a.text("user_code")).Body.String()
			if strings.Contains(page, "password") || strings.Contains(page, "script") || !strings.Contains(page, "A program") {
				t.Errorf("%s", page)
			}
		},
		"a code with markup": func(t *testing.T, b *bench) {
			for _, code := range []string{"<script>alert(1)</script>", strings.Repeat("B", 1<<12), "BBBB\x00BBBB", "ＢＢＢＢＢＢＢＢ"} {
				if page := b.get(PagePath + "?user_code=" + url.QueryEscape(code)); page.Code != 404 || strings.Contains(page.Body.String(), "alert(") {
					t.Errorf("%q: %d %s", code, page.Code, page.Body)
				}
			}
		},
		"a page in a frame": func(t *testing.T, b *bench) {
			h := b.get(PagePath).Header()
			if h.Get("Content-Security-Policy") != pagePolicy || h.Get("X-Frame-Options") != "DENY" || h.Get("Cache-Control") != "no-store" {
				t.Errorf("%v", h)
			}
		},
		"a device code that is used twice at once": func(t *testing.T, b *bench) {
			device, user := b.device()
			b.approve(user, ann, "upstream-0")
			answers := make(chan answer, 8)
			for range cap(answers) {
				go func() { b.state.bounds.forget(idOf(kindAttempt, user)); answers <- b.poll(device) }()
			}
			good := 0
			for range cap(answers) {
				if a := <-answers; a.Code == 200 {
					good++
				}
			}
			if good != 1 {
				t.Errorf("%d sign-ins", good)
			}
		},
		"a provider that names somebody else at a refresh": func(t *testing.T, b *bench) {
			access, refresh := b.signIn()
			b.idp.person = Person{ID: "okta-2", Hash: "hash of bob", Role: "operator"}
			b.want(b.renew(refresh), 401, invalidGrant)
			if b.good(access) {
				t.Error("the sign-in goes on")
			}
		},
		"parameters that come twice": func(t *testing.T, b *bench) {
			b.want(b.post(b.ServeToken, form("grant_type", refreshGrant, "grant_type", deviceGrant)), 400, invalidRequest)
		},
		"a form that is too large": func(t *testing.T, b *bench) {
			b.want(b.post(b.ServeToken, form("grant_type", strings.Repeat("x", maxForm))), 413, invalidRequest)
		},
		"a body of another kind": func(t *testing.T, b *bench) {
			r := httptest.NewRequest(http.MethodPost, TokenPath, strings.NewReader(`{"grant_type":"refresh_token"}`))
			r.Header.Set("Content-Type", "text/plain")
			w := httptest.NewRecorder()
			if b.ServeToken(w, r); w.Code != 400 {
				t.Errorf("%d", w.Code)
			}
		},
		"a grant that is not there": func(t *testing.T, b *bench) {
			b.want(b.post(b.ServeToken, form("grant_type", "password")), 400, unsupportedGrant)
		},
		"a sealed token moved to another sign-in": func(t *testing.T, b *bench) {
			if _, err := b.keys.unseal(newID(), b.keys.seal(newID(), "upstream")); err == nil {
				t.Error("it opens")
			}
		},
		"a revocation of what is not there": func(t *testing.T, b *bench) {
			for _, token := range []string{"", "gha-x", "anything"} {
				b.want(b.post(b.ServeRevoke, form("token", token)), 200, "")
			}
		},
	} {
		t.Run(name, func(t *testing.T) { attack(t, start(t)) })
	}
}

func FuzzForms(f *testing.F) {
	b := start(f)
	device, user := b.device()
	for _, seed := range []string{
		"surface=claude_code", "grant_type=" + url.QueryEscape(deviceGrant) + "&device_code=" + device, "grant_type=refresh_token&refresh_token=ghr-AA",
		"token=gha-AA&token_type_hint=x", "user_code=" + user + "&do=okta", "user_code=%zz", "a=1;b=2", strings.Repeat("a&", 100),
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, body string) {
		b.state.bounds = newBounds()
		for _, serve := range []func(http.ResponseWriter, *http.Request){b.ServeDevice, b.ServeToken, b.ServeRevoke, b.pages.ServePage} {
			r := httptest.NewRequest(http.MethodPost, "/", strings.NewReader(body))
			r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
			r.Header.Set("Sec-Fetch-Site", "same-origin")
			w := httptest.NewRecorder()
			serve(w, r)
			if w.Code >= 500 {
				t.Errorf("%d for %q", w.Code, body)
			}
		}
	})
}

func FuzzUserCode(f *testing.F) {
	f.Add("WDJB-MJHT")
	f.Add("wdjb mjht")
	f.Fuzz(func(t *testing.T, text string) {
		code, ok := userCode(text)
		if !ok {
			return
		}
		if again, ok := userCode(code); !ok || again != code || len(code) != codeLetters+1 {
			t.Errorf("%q: %q", text, code)
		}
	})
}

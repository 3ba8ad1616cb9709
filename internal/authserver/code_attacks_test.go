package authserver

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"strings"
	"testing"
)

// What somebody may try who sends a browser, or has a code.
func TestAttacksOnCodes(t *testing.T) {
	for name, attack := range map[string]func(t *testing.T, b *bench){
		"a stolen code without its verifier": func(t *testing.T, b *bench) {
			client := b.register()
			code := b.agree(query(client)).Get("code")
			for _, v := range []string{"", strings.Repeat("x", 43), strings.Repeat("x", 129), query(client).Get("code_challenge")} {
				b.want(b.exchange(client, code, "code_verifier", v), 400, invalidGrant)
			}
			b.want(b.exchange(client, code), 200, "") // and the client is not disturbed
		},
		"a code of another client": func(t *testing.T, b *bench) {
			client := b.register()
			code := b.agree(query(client)).Get("code")
			for _, other := range []string{"", "studio", b.register("https://evil.example.com/callback")} {
				b.want(b.exchange(other, code), 400, invalidGrant)
			}
		},
		"a code with another address": func(t *testing.T, b *bench) {
			client := b.register()
			code := b.agree(query(client)).Get("code")
			b.want(b.exchange(client, code, "redirect_uri", callback+"/x"), 400, invalidGrant)
		},
		"a code for another resource": func(t *testing.T, b *bench) {
			client := b.register()
			code := b.agree(query(client)).Get("code")
			b.want(b.exchange(client, code, "resource", origin+"/mcp/other"), 400, invalidTarget)
			b.want(b.exchange(client, code, "resource", origin), 400, invalidTarget)
		},
		"a refresh token for another resource, or of another client": func(t *testing.T, b *bench) {
			client := b.register()
			a := b.exchange(client, b.agree(query(client)).Get("code"))
			renew := func(client, resource string) answer {
				return b.post(b.ServeToken, url.Values{
					"grant_type": {refreshGrant}, "refresh_token": {a.text("refresh_token")}, "client_id": {client}, "resource": {resource},
				})
			}
			b.want(renew(client, origin+"/mcp/other"), 400, invalidTarget)
			b.want(renew("studio", github), 400, invalidGrant)
			b.want(renew("", github), 400, invalidGrant)
			b.want(renew(client, github), 200, "")
		},
		"a device code as a code, and a code as a device code": func(t *testing.T, b *bench) {
			device, user := b.device()
			b.approve(user, ann, "")
			b.want(b.exchange("studio", codePrefix+strings.TrimPrefix(device, devicePrefix)), 400, invalidGrant)
			client := b.register()
			code := b.agree(query(client)).Get("code")
			b.want(b.poll(code), 400, invalidGrant)
			b.want(b.poll(devicePrefix+strings.TrimPrefix(code, codePrefix)), 400, invalidGrant)
		},
		"the page of a code for a browser that waits": func(t *testing.T, b *bench) {
			cookie := b.press(query(b.register()), "okta").Result().Cookies()[0].Value
			if page := b.get(PagePath + "?user_code=" + cookie); page.Code != 404 {
				t.Errorf("%d %s", page.Code, page.Body)
			}
		},
		"a code as a token": func(t *testing.T, b *bench) {
			if b.good(b.agree(query(b.register())).Get("code")) {
				t.Error("it is good")
			}
		},
		"an issuer that is mixed up": func(t *testing.T, b *bench) { // RFC 9207: each answer says whose it is
			client := b.register(callback + "?iss=https://evil.example.com&code=theirs")
			q := query(client, "redirect_uri", callback+"?iss=https://evil.example.com&code=theirs")
			if page := b.press(q, "refuse").Body.String(); strings.Contains(page, "evil") || !strings.Contains(page, url.QueryEscape(origin)) {
				t.Errorf("%s", page)
			}
		},
		"an address that is none of the client": func(t *testing.T, b *bench) {
			for own, others := range map[string][]string{
				callback: {
					"https://evil.example.com/callback", "http://127.0.0.1:4711/callback/", "http://127.0.0.1:4711/other", "http://127.0.0.1:4711/callback?x=y",
					"http://127.0.0.1:4711/callback#x", "http://user@127.0.0.1:4711/callback", "http://127.0.0.1.evil.example.com:4711/callback",
					"http://localhost:4711/callback", "http://[::1]:4711/callback", "https://127.0.0.1:4711/callback", "javascript:alert(1)", "//127.0.0.1:4711/callback",
					"http://127.0.0.1:4711@evil.example.com/callback", "http://127.0.0.1:4711\\@evil.example.com/callback", "http://127.0.0.1:4711/callback\r\nX: y",
				},
				"https://app.example.com/callback": {
					"https://app.example.com/callback/", "https://app.example.com:444/callback", "https://app.example.com.evil.com/callback", "http://app.example.com/callback",
					"https://evil.app.example.com/callback", "https://app.example.com/callback?next=https://evil.example.com", "https://APP.example.com/callback", "",
				},
			} {
				client := b.register(own, "https://second.example.com/")
				for _, other := range others {
					w := b.look(query(client, "redirect_uri", other))
					if w.Code != 400 || w.Header().Get("Location") != "" || backOf(w.Body.String()) != nil || strings.Contains(w.Body.String(), "evil") {
						t.Errorf("%s for %s: %d %s", other, own, w.Code, w.Body)
					}
				}
			}
		},
		"a redirect without a person": func(t *testing.T, b *bench) { // RFC 9700, 4.11: the gateway is no open redirector
			client := b.register("https://evil.example.com/callback")
			evil := []string{"redirect_uri", "https://evil.example.com/callback"}
			for _, q := range []url.Values{query(client, evil...), query(client, append(evil, "response_type", "x")...), query(client, append(evil, "prompt", "none")...)} {
				if w := b.look(q); w.Header().Get("Location") != "" || w.Header().Get("Refresh") != "" || strings.Contains(w.Body.String(), "http-equiv") {
					t.Errorf("%d %v %s", w.Code, w.Header(), w.Body)
				}
			}
			if page := b.look(query(client, evil...)).Body.String(); !strings.Contains(page, "the site <b>evil.example.com</b>") {
				t.Errorf("the page does not say where it leads: %s", page)
			}
		},
		"addresses that nobody may register": func(t *testing.T, b *bench) {
			for _, address := range []string{
				"http://app.example.com/callback", "javascript:alert(1)", "data:text/html,x", "cursor://callback", "file:///etc/passwd", "https:callback", "https:///callback",
				"https://user:password@app.example.com/", "https://app.example.com/#x", "http://127.0.0.2/callback", "http://0x7f000001/", "http://localhost.evil.com/", "",
				"https://app.example.com/ x", "https://app.example.com/\n", "https://аpp.example.com/", "https://" + strings.Repeat("x", maxRedirect),
			} {
				body := strings.NewReplacer("\n", `\n`).Replace(`{"redirect_uris":["` + callback + `","` + address + `"]}`)
				b.want(b.registration(body), 400, "invalid_redirect_uri")
			}
			b.want(b.registration(`{"redirect_uris":[]}`), 400, "invalid_redirect_uri")
			b.want(b.registration(`{"redirect_uris":["https://a/`+strings.Repeat(`x","https://a/`, maxRedirects)+`"]}`), 400, "invalid_redirect_uri")
			b.want(b.registration(`{"redirect_uris":["https://a/`+strings.Repeat("x", 500)+`","https://b/`+strings.Repeat("x", 500)+`","https://c/`+
				strings.Repeat("x", 500)+`"]}`), 400, "invalid_client_metadata")
			b.want(b.registration(strings.Repeat(" ", maxForm)+`{}`), 400, "invalid_client_metadata")
		},
		"a registration that is changed, or of another gateway": func(t *testing.T, b *bench) {
			other := start(t, func(c *Config) { c.Keys = []string{strings.Repeat("x", MinKey)} })
			for _, client := range []string{
				other.register(), b.register() + "A", clientPrefix, clientPrefix + ".", "unknown", "", strings.Repeat("x", maxClientID+1),
				clientPrefix + "eyJyIjpbImh0dHBzOi8vZXZpbC5leGFtcGxlLmNvbS8iXX0.AAAAAAAAAAA",
			} {
				if w := b.look(query(client)); w.Code != 400 || backOf(w.Body.String()) != nil {
					t.Errorf("%q: %d %s", client, w.Code, w.Body)
				}
			}
		},
		"a form of another site": func(t *testing.T, b *bench) {
			q := query(b.register())
			for header, value := range map[string]string{"Sec-Fetch-Site": "cross-site", "Origin": "https://evil.example.com", "X": ""} {
				r := httptest.NewRequest(http.MethodPost, AuthorizePath, strings.NewReader(url.Values{"request": {q.Encode()}, "do": {"okta"}}.Encode()))
				r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
				r.Header.Set(header, value)
				w := httptest.NewRecorder()
				if b.pages.ServeAuthorize(w, r); w.Code != 403 || w.Header().Get("Set-Cookie") != "" {
					t.Errorf("%s %s: %d", header, value, w.Code)
				}
			}
		},
		"a link that agrees by itself": func(t *testing.T, b *bench) {
			w := b.look(query(b.register(), "do", "okta"))
			if w.Code != 200 || w.Header().Get("Set-Cookie") != "" || strings.Contains(w.Body.String(), "http-equiv") {
				t.Errorf("%d %s", w.Code, w.Body)
			}
		},
		"a page in a frame, or as a picture": func(t *testing.T, b *bench) {
			client := b.register()
			if h := b.look(query(client)).Header(); h.Get("Content-Security-Policy") != pagePolicy || h.Get("X-Frame-Options") != "DENY" {
				t.Errorf("%v", h)
			}
			for _, to := range []string{"iframe", "image", "embed", "empty"} {
				r := httptest.NewRequest(http.MethodGet, AuthorizePath+"?"+query("https://127.0.0.1/client").Encode(), nil)
				r.Header.Set("Sec-Fetch-Dest", to)
				w := httptest.NewRecorder()
				if b.pages.ServeAuthorize(w, r); w.Code != 403 || len(b.clients.documents.kept) > 0 {
					t.Errorf("%s: %d", to, w.Code)
				}
			}
		},
		"a script in a client's name": func(t *testing.T, b *bench) {
			a := b.registration(`{"client_name":"Claude</b><script>alert(1)</script> \u202e\" onload=x","redirect_uris":["` + callback + `"]}`)
			page := b.look(query(a.text("client_id"))).Body.String()
			if strings.Contains(page, "<script") || strings.Contains(page, "alert(") || strings.Contains(page, "\u202e") || strings.Contains(page, "onload=") {
				t.Errorf("%s", page)
			}
		},
		"a script in the request": func(t *testing.T, b *bench) {
			client := b.register()
			for _, name := range []string{"state", "scope", "resource", "client_id", "redirect_uri", "response_type", "x"} {
				page := b.look(query(client, name, `"><script>alert(1)</script>`)).Body.String()
				if strings.Contains(page, "<script") {
					t.Errorf("%s: %s", name, page)
				}
			}
		},
		"parameters that come twice": func(t *testing.T, b *bench) {
			q := query(b.register())
			q.Add("redirect_uri", "https://evil.example.com/")
			if w := b.look(q); w.Code != 400 || strings.Contains(w.Body.String(), "evil") {
				t.Errorf("%d %s", w.Code, w.Body)
			}
		},
		"many sign-ins begun": func(t *testing.T, b *bench) {
			q := query(b.register())
			for range maxBegun {
				b.press(q, "okta")
			}
			if page := b.press(q, "okta"); page.Code != 429 || page.Header().Get("Set-Cookie") != "" {
				t.Errorf("%d", page.Code)
			}
		},
		"strangers who use up what all may do": func(t *testing.T, _ *bench) {
			id, config, asked := startSite(t, published)
			b := start(t, config)
			b.look(query(id))
			b.at = b.at.Add(documentLife)
			use := func(c *counter) {
				for i := range c.all {
					c.count(netip.AddrFrom16([16]byte{0x20, 1, byte(i >> 8), byte(i)}), b.at)
				}
			}
			use(&b.state.bounds.begun)
			use(&b.clients.documents.fetches)
			from := func(host, path string) *http.Request {
				r := httptest.NewRequest(http.MethodGet, path, nil)
				r.RemoteAddr = host + ":1"
				return r
			}
			for i, want := range []int{400, 429} {
				w := httptest.NewRecorder()
				other := strings.TrimSuffix(id, "client") + fmt.Sprint("other/", i)
				b.pages.ServeAuthorize(w, from("192.0.2.7", AuthorizePath+"?"+query(other).Encode()))
				if *asked != 2 || w.Code != want {
					t.Errorf("%d: a new address lets the gateway fetch once: fetched %d times, %d", i, *asked, w.Code)
				}
			}
			w := httptest.NewRecorder()
			if b.pages.ServeAuthorize(w, from("192.0.2.7", AuthorizePath+"?"+query(id).Encode())); w.Code != 200 || *asked != 2 {
				t.Errorf("%d: an old document is good if none can be fetched; fetched %d times", w.Code, *asked)
			}
			if a := b.press(query(id), "okta"); a.Code != 200 {
				t.Errorf("%d: nobody can begin", a.Code)
			}
			if a := b.press(query(id), "okta"); a.Code != 429 {
				t.Errorf("%d: an address has more than one beyond all", a.Code)
			}
		},
		"a code that is used twice at once": func(t *testing.T, b *bench) {
			client := b.register()
			code := b.agree(query(client)).Get("code")
			answers := make(chan answer, 8)
			for range cap(answers) {
				go func() { answers <- b.exchange(client, code) }()
			}
			var all []answer
			for range cap(answers) {
				all = append(all, <-answers)
			}
			for _, a := range all {
				if a.Code != 400 && (a.Code != 200 || b.good(a.text("access_token"))) {
					t.Errorf("%d %s, and it is good", a.Code, a.Body)
				}
			}
		},
		"a client that the operator wants at no other host": func(t *testing.T, _ *bench) {
			b := start(t, func(c *Config) { c.ClientHosts = []string{"app.example.com"} })
			b.want(b.registration(`{"redirect_uris":["https://evil.example.com/"]}`), 400, "invalid_redirect_uri")
			b.register("https://app.example.com/callback", callback)
			before := start(t)
			if w := b.look(query(before.register("https://evil.example.com/"), "redirect_uri", "https://evil.example.com/")); w.Code != 400 || backOf(w.Body.String()) != nil {
				t.Errorf("one that has registered before: %d %s", w.Code, w.Body)
			}
			if w := b.look(query("https://evil.example.com/client")); w.Code != 400 || len(b.clients.documents.kept) > 0 {
				t.Errorf("a document: %d %s", w.Code, w.Body)
			}
		},
	} {
		t.Run(name, func(t *testing.T) { attack(t, start(t, programs)) })
	}
}

package authserver

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"
)

func TestAPersonSignsInToAProgram(t *testing.T) {
	b := start(t)
	device, user := b.device()
	if code, ok := userCode(user); !ok || code != user {
		t.Errorf("the code is %q", user)
	}
	b.want(b.poll(device), 400, pending)
	b.want(b.poll(device), 400, slowDown)
	page := b.get(PagePath + "?user_code=" + url.QueryEscape(strings.ToLower(strings.ReplaceAll(user, "-", " "))))
	for _, want := range []string{user, "Claude Code", "192.0.2.1", `value="okta"`} {
		if !strings.Contains(page.Body.String(), want) {
			t.Errorf("the page does not say %q: %s", want, page.Body)
		}
	}
	on := b.post(b.pages.ServePage, url.Values{"user_code": {user}, "do": {"okta"}})
	if on.Code != 200 || !strings.Contains(on.Body.String(), `content="0;url=https://idp.example.com/authorize?of=okta"`) || on.Header().Get("Set-Cookie") == "" {
		t.Errorf("%d %s", on.Code, on.Body)
	}
	b.at = b.at.Add(interval)
	b.want(b.poll(device), 400, pending)
	if done := b.approve(user, ann, "upstream-0"); done.Code != 200 || !strings.Contains(done.Body.String(), ann.Name) {
		t.Errorf("%d %s", done.Code, done.Body)
	}
	b.at = b.at.Add(interval)
	a := b.poll(device)
	if a.Code != 200 || a.text("email") != ann.Name || a.text("token_type") != "Bearer" || a.fields["expires_in"] != 3600.0 {
		t.Errorf("%d %s", a.Code, a.Body)
	}
	in, until, err := b.Find(t.Context(), a.text("access_token"))
	if err != nil || in.Person != ann || in.Client != "claude_code" || !until.Equal(b.at.Add(time.Hour)) {
		t.Errorf("%+v, %v, %v", in, until, err)
	}
	b.at = b.at.Add(interval)
	b.want(b.poll(device), 400, expiredToken)
	if done := b.approve(user, ann, ""); done.Code != http.StatusGone {
		t.Errorf("a code is good twice: %d", done.Code)
	}
}

func TestACodeEnds(t *testing.T) {
	b := start(t)
	device, user := b.device()
	b.at = b.at.Add(codeLife)
	b.want(b.poll(device), 400, expiredToken)
	if page := b.get(PagePath + "?user_code=" + user); page.Code != 404 {
		t.Errorf("%d", page.Code)
	}
	device, user = b.device()
	b.post(b.pages.ServePage, url.Values{"user_code": {user}, "do": {"refuse"}})
	b.want(b.poll(device), 400, accessDenied)
	b.at = b.at.Add(interval)
	b.want(b.poll(device[:len(device)-1]), 400, invalidGrant)
}

func TestARefreshAsksTheIdentityProvider(t *testing.T) {
	b := start(t)
	access, refresh := b.signIn()
	b.at = b.at.Add(50 * time.Minute)
	b.idp.person.Role = "operator"
	a := b.renew(refresh)
	b.want(a, 200, "")
	in, _, err := b.Find(t.Context(), a.text("access_token"))
	if err != nil || in.Person.Role != "operator" || b.idp.asked != 1 {
		t.Errorf("%+v, %v, asked %d times", in, err, b.idp.asked)
	}
	if !b.good(access) {
		t.Error("a call under way with the token before has lost it")
	}
	b.at = b.at.Add(10 * time.Minute)
	if b.good(access) {
		t.Error("a token is good after its end")
	}
	refresh = a.text("refresh_token")
	b.idp.refused = fmt.Errorf("%w: it does not answer", ErrUnavailable)
	if a := b.renew(refresh); a.Code != 503 || a.text("error") != unavailable || a.Header().Get("Retry-After") == "" {
		t.Errorf("away: %d %s", a.Code, a.Body)
	}
	b.idp.moved = true
	b.want(b.renew(refresh), 503, unavailable)
	b.idp.refused, b.idp.moved = nil, false
	a = b.renew(refresh)
	b.want(a, 200, "")
	b.idp.refused = fmt.Errorf("%w: disabled", ErrRefused)
	b.want(b.renew(a.text("refresh_token")), 401, invalidGrant)
	if b.good(a.text("access_token")) {
		t.Error("who has left still has a token that is good")
	}
	b.idp.refused = nil
	b.want(b.renew(a.text("refresh_token")), 401, invalidGrant)
	b.want(b.post(b.ServeToken, url.Values{"grant_type": {refreshGrant}, "client_id": {"x"}, "refresh_token": {a.text("refresh_token")}}), 400, invalidGrant)
}

func TestARefreshTokenThatIsUsedTwiceEndsTheSignIn(t *testing.T) {
	b := start(t)
	_, first := b.signIn()
	a := b.renew(first)
	b.want(a, 200, "")
	b.at = b.at.Add(reuseGrace - time.Second)
	lost := b.renew(first) // the answer was lost, or another process has the same
	b.want(lost, 200, "")
	if b.idp.asked != 1 {
		t.Errorf("the identity provider was asked %d times", b.idp.asked)
	}
	one := b.renew(a.text("refresh_token"))
	b.want(one, 200, "")
	b.want(b.renew(lost.text("refresh_token")), 200, "")
	b.at = b.at.Add(reuseGrace + time.Second)
	b.want(b.renew(first), 401, invalidGrant)
	if b.good(one.text("access_token")) {
		t.Error("the sign-in goes on")
	}
	b.want(b.renew(one.text("refresh_token")), 401, invalidGrant)
}

func TestWithoutATokenOfTheProviderASignInEndsWithItsToken(t *testing.T) {
	b := start(t)
	device, user := b.device()
	b.approve(user, ann, "")
	a := b.poll(device)
	if a.Code != 200 || a.text("refresh_token") != "" {
		t.Errorf("%d %s", a.Code, a.Body)
	}
	b.at = b.at.Add(time.Hour)
	if b.good(a.text("access_token")) {
		t.Error("it is good for longer")
	}
}

func TestASignInIsEnded(t *testing.T) {
	for name, end := range map[string]func(b *bench, access, refresh string){
		"by its access token": func(b *bench, access, _ string) {
			b.want(b.post(b.ServeRevoke, url.Values{"token": {access}}), 200, "")
		},
		"by its refresh token": func(b *bench, _, refresh string) {
			b.want(b.post(b.ServeRevoke, url.Values{"token": {refresh}}), 200, "")
		},
		"by an operator": func(b *bench, _, _ string) {
			if n, err := b.state.End(b.t.Context(), ann); n != 1 || err != nil {
				b.t.Errorf("%d ended, %v", n, err)
			}
		},
		"by a block": func(b *bench, _, _ string) {
			if n, err := b.state.Block(b.t.Context(), ann); n != 1 || err != nil {
				b.t.Errorf("%d ended, %v", n, err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			b := start(t)
			var told []Person
			b.state.Told(func(p Person, until time.Time) {
				if until.IsZero() {
					told = append(told, p)
				}
			})
			access, refresh := b.signIn()
			if in, _, err := b.Find(t.Context(), access); err != nil || b.state.Last(ann.Hash, nil) != in || len(b.state.List()) != 1 {
				t.Errorf("%v", err)
			}
			end(b, access, refresh)
			if b.good(access) || b.state.Last(ann.Hash, nil) != nil || len(b.state.List()) != 0 || len(told) != 1 || told[0] != ann {
				t.Errorf("it goes on: %v", told)
			}
			b.want(b.renew(refresh), 401, invalidGrant)
		})
	}
}

func TestWhoIsBlockedCannotSignIn(t *testing.T) {
	b := start(t)
	if _, err := b.state.Block(t.Context(), ann); err != nil || !b.state.Blocked(ann.ID) || len(b.state.Blocks()) != 1 {
		t.Fatal(err)
	}
	device, user := b.device()
	if done := b.approve(user, ann, "upstream-0"); done.Code != 403 {
		t.Errorf("%d", done.Code)
	}
	b.want(b.poll(device), 400, accessDenied)
	if ok, err := b.state.Unblock(t.Context(), ann.ID); !ok || err != nil || b.state.Blocked(ann.ID) {
		t.Errorf("%v, %v", ok, err)
	}
	if ok, err := b.state.Unblock(t.Context(), ann.ID); ok || err != nil {
		t.Errorf("%v, %v", ok, err)
	}
	if access, _ := b.signIn(); !b.good(access) {
		t.Error("who is not blocked any more is not let in")
	}
}

func TestSignInsSurviveARestartAndANewKey(t *testing.T) {
	b := start(t)
	access, refresh := b.signIn()
	again := NewState(func() time.Time { return b.at })
	if err := again.Open(t.Context(), b.state.opened()); err != nil {
		t.Fatal(err)
	}
	s, err := New(Config{Origin: origin, Keys: []string{strings.Repeat("n", MinKey), key}})
	if err != nil {
		t.Fatal(err)
	}
	b.Server = s.With(again, b.idp, b.logger)
	if !b.good(access) || again.Last(ann.Hash, nil) == nil {
		t.Error("a restart signs out")
	}
	b.want(b.renew(refresh), 200, "")
	if s, err = New(Config{Origin: origin, Keys: []string{strings.Repeat("n", MinKey)}}); err != nil {
		t.Fatal(err)
	}
	b.Server = s.With(again, b.idp, b.logger)
	b.want(b.renew(refresh), 401, invalidGrant)
}

func TestSomebodyHasManySignInsAndTheOldestEnds(t *testing.T) {
	b := start(t, programs)
	client := b.register()
	tools := b.exchange(client, b.agree(query(client)).Get("code")).text("access_token")
	b.idp.token = 0
	first, _ := b.signIn()
	b.at = b.at.Add(time.Second)
	for range maxOfPerson {
		b.state.bounds = newBounds()
		b.signIn()
	}
	if n := len(b.state.List()); n != maxOfPerson+1 || b.good(first) || !b.good(tools) {
		t.Errorf("%d sign-ins; the one for tools is good: %v", n, b.good(tools))
	}
}

func TestConfigurationsThatCannotBe(t *testing.T) {
	for want, c := range map[string]Config{
		"origin":          {Keys: []string{key}},
		"http is only":    {Origin: "http://ai.example.com", Keys: []string{key}},
		"want where":      {Origin: origin + "/", Keys: []string{key}},
		"key is missing":  {Origin: origin},
		"32 characters":   {Origin: origin, Keys: []string{"short"}},
		"token_life 1s":   {Origin: origin, Keys: []string{key}, TokenLife: time.Second},
		"refresh_life 1m": {Origin: origin, Keys: []string{key}, RefreshLife: time.Minute},
	} {
		if _, err := New(c); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

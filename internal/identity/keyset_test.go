package identity_test

import (
	"encoding/json"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"

	"github.com/gatehouse-proxy/gatehouse/internal/identity"
)

func jwks(t testing.TB, keys ...jose.JSONWebKey) string {
	t.Helper()
	set, err := json.Marshal(jose.JSONWebKeySet{Keys: keys})
	if err != nil {
		t.Fatal(err)
	}
	return string(set)
}

func TestKeysAreReadOnceAndAgainWhenTheyRotate(t *testing.T) {
	p := newIDP(t)
	s := p.issuers(nil)
	old := p.token(nil)
	for range 3 {
		person(t, s, old)
		person(t, s, p.token(object{"jti": "x"}))
	}
	if p.asked["/keys"] != 1 {
		t.Errorf("keys were read %d times", p.asked["/keys"])
	}
	p.rotate("two")
	if _, err := s.Person(p.token(nil)); !errors.Is(err, identity.ErrInvalid) {
		t.Errorf("within the minute: %v", err) // so that unknown keys cost the issuer nothing
	}
	p.later(time.Minute)
	person(t, s, p.token(nil))
	if p.asked["/keys"] != 2 {
		t.Errorf("keys were read %d times", p.asked["/keys"])
	}
	if _, err := s.Person(sign(t, p.signer, p.claims(object{"exp": p.now.Add(-2 * time.Hour).Unix()}))); !errors.Is(err, identity.ErrInvalid) {
		t.Errorf("an old token: %v", err)
	}
}

func TestUnknownKeysAreAskedForOnceAMinute(t *testing.T) {
	p := newIDP(t)
	s := p.issuers(nil)
	person(t, s, p.token(nil))
	p.later(time.Minute)
	stranger := newIDP(t)
	stranger.rotate("stranger")
	for range 100 {
		if _, err := s.Person(stranger.token(nil)); !errors.Is(err, identity.ErrInvalid) {
			t.Fatal(err)
		}
	}
	if p.asked["/keys"] != 2 {
		t.Errorf("keys were read %d times", p.asked["/keys"])
	}
}

func TestKeysStayGoodForADayWhileTheIssuerIsAway(t *testing.T) {
	p := newIDP(t)
	s := p.issuers(nil)
	person(t, s, p.token(nil))
	p.answer = func(string) (int, string) { return 0, "" }
	for range 23 {
		p.later(time.Hour)
		person(t, s, p.token(nil))
	}
	p.later(time.Hour)
	if _, err := s.Person(p.token(nil)); !errors.Is(err, identity.ErrUnavailable) {
		t.Errorf("after a day: %v", err)
	}
	if p.failed[0] != nil || p.failed[len(p.failed)-1] == nil {
		t.Errorf("told %v", p.failed)
	}
	p.rotate("two")
	p.later(time.Minute)
	person(t, s, p.token(nil))
}

func TestAnotherConfigurationKnowsTheKeysAlready(t *testing.T) {
	p := newIDP(t)
	s := p.issuers(nil)
	person(t, s, p.token(nil))
	p.answer = func(string) (int, string) { return 0, "" }
	next := p.issuers(nil)
	next.Inherit(s)
	person(t, next, p.token(nil))
	other := p.issuers(func(i *identity.Issuer) { i.KeySet = issuerURL + "/other" })
	other.Inherit(s)
	if _, err := other.Person(p.token(nil)); !errors.Is(err, identity.ErrUnavailable) {
		t.Errorf("keys from another address: %v", err)
	}
}

// Whether a token with a key that nobody knows yet is good, is not known while the issuer is away.
func TestATokenWithANewKeyWhileTheIssuerIsAway(t *testing.T) {
	p := newIDP(t)
	s := p.issuers(nil)
	person(t, s, p.token(nil))
	p.rotate("two")
	token, answer := p.token(nil), p.answer
	p.answer = func(string) (int, string) { return 0, "" }
	for range 3 {
		p.later(time.Minute)
		if _, err := s.Person(token); !errors.Is(err, identity.ErrUnavailable) {
			t.Errorf("away: %v", err)
		}
	}
	p.answer = answer
	p.later(5 * time.Second)
	person(t, s, token)
}

// What an issuer answers that cannot be used leaves the gateway without its keys, and says why.
func TestKeysThatCannotBeUsed(t *testing.T) {
	good := newIDP(t)
	_, set := good.answer("/keys")
	for name, c := range map[string]struct {
		configuration, keys string
		status              int
		why                 string
	}{
		"another issuer":     {`{"issuer":"https://evil.example.com","jwks_uri":"` + issuerURL + `/keys"}`, set, 200, "of the issuer"},
		"keys by http":       {`{"issuer":"` + issuerURL + `","jwks_uri":"http://idp.example.com/keys"}`, set, 200, "no https URL"},
		"keys of no address": {`{"issuer":"` + issuerURL + `"}`, set, 200, "no https URL"},
		"no JSON":            {`<html>`, set, 200, "JSON"},
		"ten megabytes":      {`{"issuer":"` + strings.Repeat("a", 10<<20) + `"}`, set, 200, "bytes"},
		"a redirect":         {`{}`, set, 302, "302"},
		"an error":           {`{}`, set, 500, "500"},
		"no key":             {"", `{"keys":[]}`, 200, "no key"},
		"many keys":          {"", `{"keys":[` + strings.Repeat(`{},`, 64) + `{}]}`, 200, "65 keys"},
		"a secret":           {"", `{"keys":[{"kty":"oct","k":"c2VjcmV0","kid":"one"}]}`, 200, "no key"},
		"a key to encrypt":   {"", strings.Replace(set, `"use":"sig"`, `"use":"enc"`, 1), 200, "no key"},
	} {
		p := newIDP(t)
		p.answer = func(path string) (int, string) {
			_, answer := good.answer(path)
			switch {
			case path == "/keys":
				return 200, c.keys
			case c.configuration != "":
				return c.status, c.configuration
			}
			return 200, answer
		}
		_, err := p.issuers(nil).Person(good.token(nil))
		if !errors.Is(err, identity.ErrUnavailable) || len(p.failed) != 1 || p.failed[0] == nil || !strings.Contains(p.failed[0].Error(), c.why) {
			t.Errorf("%s: %v, told %v", name, err, p.failed)
		}
	}
}

func TestAKeyOfAnotherKindDoesNotHideTheOthers(t *testing.T) {
	p := newIDP(t)
	_, set := p.answer("/keys")
	p.answer = func(string) (int, string) {
		return 200, strings.Replace(set, `{"keys":[`, `{"keys":[{"kty":"AKP","kid":"one","alg":"ML-DSA-44"},7,{"kty":"OKP","crv":"X25519","x":"AA"},`, 1)
	}
	person(t, p.issuers(func(i *identity.Issuer) { i.KeySet = issuerURL + "/keys" }), p.token(nil))
}

// Calls that come while the keys are read wait for one reading, and none ends it for the others.
func TestOneReadingServesAllThatWait(t *testing.T) {
	p := newIDP(t)
	begun, end := make(chan struct{}), make(chan struct{})
	answer, once := p.answer, sync.Once{}
	p.answer = func(path string) (int, string) {
		once.Do(func() { close(begun) })
		<-end
		return answer(path)
	}
	s := p.issuers(nil)
	errs := make(chan error, 9)
	token := p.token(nil)
	go func() { _, err := s.Person(token); errs <- err }()
	<-begun
	for range 8 {
		go func() { _, err := s.Person(token); errs <- err }()
	}
	close(end)
	for range 9 {
		if err := <-errs; err != nil {
			t.Error(err)
		}
	}
	if p.asked["/keys"] != 1 {
		t.Errorf("keys were read %d times", p.asked["/keys"])
	}
}

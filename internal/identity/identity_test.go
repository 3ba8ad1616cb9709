package identity_test

import (
	"crypto/hmac"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"

	"github.com/gatehouse-proxy/gatehouse/internal/identity"
)

func TestATokenIsOfItsIssuerAndSubject(t *testing.T) {
	p := newIDP(t)
	s := p.issuers(nil)
	ann := person(t, s, p.token(object{"email": "ann@example.com", "email_verified": true}))
	if ann.Name != "ann@example.com" || ann.Role != "builder" || !ann.Ends.Equal(p.now.Add(time.Hour+time.Minute)) || !strings.HasPrefix(ann.ID, "ci-") || len(ann.ID) != len("ci-")+20 {
		t.Errorf("%+v", ann)
	}
	if again := person(t, s, p.token(object{"email": "ann.smith@example.com", "preferred_username": "ann"})); again.ID != ann.ID || again.Name != "ann" {
		t.Errorf("another address makes another person: %+v", again)
	}
	if bob := person(t, s, p.token(object{"sub": "bob", "email": "ann@example.com"})); bob.ID == ann.ID {
		t.Error("who has the address is the person")
	}
}

func TestWhatATokenMustSay(t *testing.T) {
	p := newIDP(t)
	now := p.now.Unix()
	for name, c := range map[string]struct {
		changes object
		why     string // "" for a token that is good
	}{
		"as it is":                      {nil, ""},
		"several audiences":             {object{"aud": []string{"other", audience}}, ""},
		"a clock that is ahead":         {object{"iat": now + 50, "nbf": now + 50}, ""},
		"a clock that is behind":        {object{"iat": now - 3600, "exp": now - 50}, ""},
		"no iat":                        {object{"iat": nil}, ""},
		"a fraction of a second":        {object{"exp": float64(now) + 60.5}, ""},
		"another audience":              {object{"aud": audience + "/"}, "aud"},
		"no audience":                   {object{"aud": nil}, "aud"},
		"an audience that is no text":   {object{"aud": object{"a": audience}}, "aud"},
		"another issuer":                {object{"iss": "https://other.example.com"}, "no identity has its issuer"},
		"the issuer with a slash":       {object{"iss": issuerURL + "/"}, "no identity has its issuer"},
		"no issuer":                     {object{"iss": nil}, "no identity has its issuer"},
		"no end":                        {object{"exp": nil}, "no exp"},
		"an end that is a text":         {object{"exp": "2100-01-01"}, "no exp"},
		"an end before the year 1970":   {object{"exp": -1}, "no exp"},
		"it has ended":                  {object{"exp": now - 61}, "ended"},
		"it begins later":               {object{"nbf": now + 61}, "begins later"},
		"it is issued later":            {object{"iat": now + 61, "exp": now + 90}, "begins later"},
		"it lives for two days":         {object{"exp": now + 2*86400}, "max_life"},
		"it has lived for two days":     {object{"iat": now - 2*86400}, "max_life"},
		"it hides how long it lives":    {object{"iat": nil, "exp": now + 2*86400}, "max_life"},
		"nbf that is a text":            {object{"nbf": "2100-01-01"}, "no date"},
		"iat that is beyond all time":   {object{"iat": 1e300}, "no date"},
		"bound to a key of its holder":  {object{"cnf": object{"jkt": "0ZcOCORZNYy"}}, "key of its holder"},
		"no subject":                    {object{"sub": nil}, "sub"},
		"a subject that is a number":    {object{"sub": 7}, "sub"},
		"a subject that is very long":   {object{"sub": strings.Repeat("a", 513)}, "sub"},
		"a subject of 512 characters":   {object{"sub": strings.Repeat("a", 512)}, ""},
		"more than a token can have":    {object{"more": strings.Repeat("a", 16<<10)}, "bytes"},
		"a name that breaks a terminal": {object{"email": "\x1b[2J\u202eann"}, ""},
	} {
		_, err := p.issuers(nil).Person(p.token(c.changes))
		switch {
		case c.why == "" && err != nil:
			t.Errorf("%s: %v", name, err)
		case c.why != "" && (!errors.Is(err, identity.ErrInvalid) || !strings.Contains(err.Error(), c.why)):
			t.Errorf("%s: %v, want one about %q", name, err, c.why)
		}
	}
}

// Each is a known attack on JWTs.
func TestATokenThatTheIssuerHasNotSignedIsNotValid(t *testing.T) {
	p := newIDP(t)
	claims := p.claims(nil)
	public, err := x509.MarshalPKIXPublicKey(p.key.Public())
	if err != nil {
		t.Fatal(err)
	}
	sign256 := func(header string) string {
		token := unsigned(header, claims, nil)
		mac := hmac.New(sha256.New, public)
		mac.Write([]byte(strings.TrimSuffix(token, ".")))
		return token + base64.RawURLEncoding.EncodeToString(mac.Sum(nil))
	}
	good := p.token(nil)
	parts := strings.Split(good, ".")
	other := newIDP(t)
	for name, token := range map[string]string{
		"no algorithm":                     unsigned(`{"alg":"none","kid":"one"}`, claims, nil),
		"no algorithm, in capitals":        unsigned(`{"alg":"NONE","kid":"one"}`, claims, nil),
		"the public key as a secret":       sign256(`{"alg":"HS256","kid":"one"}`),
		"a key of somebody else":           other.token(nil),
		"its own key in the header":        resigned(t, other, claims),
		"a key of RSA":                     sign(t, signerOf(t, jose.RS256, rsaKey(t), "one"), claims),
		"other claims":                     parts[0] + "." + strings.Split(unsigned(`{}`, p.claims(object{"sub": "eve"}), nil), ".")[1] + "." + parts[2],
		"no signature":                     parts[0] + "." + parts[1] + ".",
		"a signature that is cut":          good[:len(good)-4],
		"something after the signature":    good + ".e30",
		"claims that are no object":        parts[0] + "." + base64.RawURLEncoding.EncodeToString([]byte(`[]`)) + "." + parts[2],
		"a critical header":                unsigned(`{"alg":"ES256","kid":"one","crit":["b64"],"b64":false}`, claims, make([]byte, 64)),
		"nothing":                          "",
		"two points":                       "..",
		"a token with JSON around":         `{"payload":"e30","signatures":[]}`,
		"a signature of nought":            unsigned(`{"alg":"ES256","kid":"one"}`, claims, make([]byte, 64)),
		"an unknown key":                   unsigned(`{"alg":"ES256","kid":"../../dev/null"}`, claims, make([]byte, 64)),
		"an address of keys in the header": unsigned(`{"alg":"ES256","kid":"one","jku":"https://evil.example.com/keys"}`, claims, make([]byte, 64)),
	} {
		if _, err := p.issuers(nil).Person(token); !errors.Is(err, identity.ErrInvalid) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := p.issuers(nil).Person(good); err != nil {
		t.Errorf("the good one: %v", err)
	}
	if p.asked["/.well-known/openid-configuration"] == 0 || p.asked["/dev/null"] != 0 || len(p.asked) != 2 {
		t.Errorf("asked %v", p.asked)
	}
}

// resigned signs claims under a header that carries the key itself.
func resigned(t *testing.T, p *idp, claims object) string {
	t.Helper()
	signer, err := jose.NewSigner(jose.SigningKey{Algorithm: jose.ES256, Key: jose.JSONWebKey{Key: p.key, KeyID: "one"}}, &jose.SignerOptions{EmbedJWK: true})
	if err != nil {
		t.Fatal(err)
	}
	return sign(t, signer, claims)
}

// A token has one spelling: others would fill what the gateway remembers.
func TestATokenHasOneSpelling(t *testing.T) {
	p := newIDP(t)
	s, token := p.issuers(nil), p.token(nil)
	person(t, s, token)
	parts, others := strings.Split(token, "."), 0
	for i := range parts {
		for _, last := range "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_" {
			changed := slices.Clone(parts)
			changed[i] = changed[i][:len(changed[i])-1] + string(last)
			if other := strings.Join(changed, "."); other != token {
				if _, err := s.Person(other); err == nil {
					others++
				}
			}
		}
		changed := slices.Clone(parts)
		changed[i] = changed[i][:4] + "\n" + changed[i][4:]
		if _, err := s.Person(strings.Join(changed, ".")); err == nil {
			others++
		}
	}
	if others > 0 {
		t.Errorf("%d other spellings are good", others)
	}
}

func TestOnlyTokensOfAccessAreGood(t *testing.T) {
	p := newIDP(t)
	for typ, good := range map[string]bool{"JWT": true, "at+jwt": true, "application/at+jwt": true, "logout+jwt": false, "SecEvent+JWT": false, "token-introspection+jwt": false} {
		signer, err := jose.NewSigner(jose.SigningKey{Algorithm: jose.ES256, Key: jose.JSONWebKey{Key: p.key, KeyID: "one"}}, (&jose.SignerOptions{}).WithType(jose.ContentType(typ)))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := p.issuers(nil).Person(sign(t, signer, p.claims(nil))); (err == nil) != good {
			t.Errorf("%s: %v", typ, err)
		}
	}
}

func TestAlgorithmsOfIssuers(t *testing.T) {
	p := newIDP(t)
	key := rsaKey(t)
	set := jwks(t, jose.JSONWebKey{Key: key.Public(), KeyID: "rsa"})
	p.answer = func(path string) (int, string) { return 200, set }
	with := func(i *identity.Issuer) { i.KeySet = issuerURL + "/keys" }
	for _, alg := range []jose.SignatureAlgorithm{jose.RS256, jose.RS384, jose.RS512, jose.PS256, jose.PS512} {
		for _, kid := range []string{"rsa", ""} {
			if _, err := p.issuers(with).Person(sign(t, signerOf(t, alg, key, kid), p.claims(nil))); err != nil {
				t.Errorf("%s %q: %v", alg, kid, err)
			}
		}
	}
}

func TestOnlyWhatLooksLikeATokenIsOne(t *testing.T) {
	p := newIDP(t)
	for text, want := range map[string]bool{
		p.token(nil): true, "gh-abc": false, "a.b.c": false, "": false, "..": false, "e30.e30.e30": false,
		unsigned(`{"alg":"none"}`, nil, nil): true, unsigned(`{"alg":"ES256"}`, nil, nil) + ".a": false, unsigned(`["alg"]`, nil, nil): false,
		unsigned(`{"alg":"ES256"}`, object{"a": strings.Repeat("a", 16<<10)}, nil): false,
	} {
		if got := identity.IsToken(text); got != want {
			t.Errorf("%.60q: %v", text, got)
		}
	}
}

package identity_test

import (
	"bytes"
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"encoding/base64"
	"encoding/json"
	"io"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"

	"github.com/gatehouse-proxy/gatehouse/internal/identity"
)

const (
	issuerURL = "https://idp.example.com"
	audience  = "https://ai.example.com"
)

// idp is an identity provider: it signs tokens, and answers for its keys.
type idp struct {
	t      testing.TB
	signer jose.Signer
	key    *ecdsa.PrivateKey

	mu     sync.Mutex
	now    time.Time
	asked  map[string]int // by the path
	answer func(path string) (int, string)
	failed []error
}

func newIDP(t testing.TB) *idp {
	t.Helper()
	p := &idp{t: t, now: time.Date(2026, 11, 29, 12, 0, 0, 0, time.UTC), asked: map[string]int{}}
	p.rotate("one")
	return p
}

// rotate makes another key, which is the only one then.
func (p *idp) rotate(kid string) {
	p.t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		p.t.Fatal(err)
	}
	p.signer, p.key = signerOf(p.t, jose.ES256, key, kid), key
	set, err := json.Marshal(jose.JSONWebKeySet{Keys: []jose.JSONWebKey{{Key: key.Public(), KeyID: kid, Use: "sig", Algorithm: "ES256"}}})
	if err != nil {
		p.t.Fatal(err)
	}
	p.answer = func(path string) (int, string) {
		if path == "/.well-known/openid-configuration" {
			return 200, `{"issuer":"` + issuerURL + `","jwks_uri":"` + issuerURL + `/keys"}`
		}
		return 200, string(set)
	}
}

func signerOf(t testing.TB, alg jose.SignatureAlgorithm, key any, kid string) jose.Signer {
	t.Helper()
	s, err := jose.NewSigner(jose.SigningKey{Algorithm: alg, Key: jose.JSONWebKey{Key: key, KeyID: kid}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// RoundTrip implements [http.RoundTripper].
func (p *idp) RoundTrip(r *http.Request) (*http.Response, error) {
	p.mu.Lock()
	p.asked[r.URL.Path]++
	answer := p.answer
	p.mu.Unlock()
	status, body := answer(r.URL.Path)
	if status == 0 {
		return nil, io.ErrUnexpectedEOF
	}
	if err := r.Context().Err(); err != nil {
		return nil, err
	}
	return &http.Response{StatusCode: status, Header: http.Header{"Location": {issuerURL + "/other"}}, Body: io.NopCloser(bytes.NewBufferString(body)), Request: r}, nil
}

func (p *idp) later(d time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.now = p.now.Add(d)
}

// issuers are one with these rules, which by default give everybody a role.
func (p *idp) issuers(change func(*identity.Issuer)) *identity.Issuers {
	p.t.Helper()
	issuer := identity.Issuer{Name: "ci", URL: issuerURL, Audiences: []string{audience}, Rules: []identity.Rule{{Role: "builder"}}}
	if change != nil {
		change(&issuer)
	}
	s, err := identity.New([]identity.Issuer{issuer}, identity.Deps{
		Client: &http.Client{Transport: p}, Now: func() time.Time {
			p.mu.Lock()
			defer p.mu.Unlock()
			return p.now
		},
	})
	if err != nil {
		p.t.Fatal(err)
	}
	s.Tell(func(_ string, err error) {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.failed = append(p.failed, err)
	})
	return s
}

type object = map[string]any

// token signs a token of ann that is good for an hour, with some claims changed; nil takes one out.
func (p *idp) token(changes object) string {
	p.t.Helper()
	return sign(p.t, p.signer, p.claims(changes))
}

func (p *idp) claims(changes object) object {
	p.mu.Lock()
	defer p.mu.Unlock()
	claims := object{"iss": issuerURL, "sub": "ann", "aud": audience, "iat": p.now.Unix(), "exp": p.now.Add(time.Hour).Unix()}
	for name, value := range changes {
		if claims[name] = value; value == nil {
			delete(claims, name)
		}
	}
	return claims
}

func sign(t testing.TB, signer jose.Signer, claims object) string {
	t.Helper()
	payload, err := json.Marshal(claims)
	if err != nil {
		t.Fatal(err)
	}
	signed, err := signer.Sign(payload)
	if err != nil {
		t.Fatal(err)
	}
	token, err := signed.CompactSerialize()
	if err != nil {
		t.Fatal(err)
	}
	return token
}

// unsigned is a token with this header and no signature, or one of the text of a key.
func unsigned(header string, claims object, signature []byte) string {
	payload, _ := json.Marshal(claims) // of texts and numbers
	encode := base64.RawURLEncoding.EncodeToString
	return encode([]byte(header)) + "." + encode(payload) + "." + encode(signature)
}

func rsaKey(t testing.TB) crypto.Signer {
	t.Helper()
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

func person(t testing.TB, s *identity.Issuers, token string) identity.Person {
	t.Helper()
	p, err := s.Person(token)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// Package identitytest is an identity provider for tests: it signs tokens, and answers for its
// keys.
package identitytest

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
)

// Issuer is an identity provider on this machine.
type Issuer struct {
	URL string

	t      testing.TB
	mu     sync.Mutex // guards the following
	signer jose.Signer
	keys   []byte
	away   bool
	people people
}

// Start starts an issuer, which ends with the test.
func Start(t testing.TB) *Issuer {
	t.Helper()
	i := &Issuer{t: t}
	i.people.start()
	server := httptest.NewServer(http.HandlerFunc(i.serve))
	t.Cleanup(server.Close)
	i.URL = server.URL
	i.Rotate("one")
	return i
}

func (i *Issuer) serve(w http.ResponseWriter, r *http.Request) {
	i.mu.Lock()
	defer i.mu.Unlock()
	answer := map[string]http.HandlerFunc{
		"/.well-known/openid-configuration": i.discover, "/keys": func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(i.keys) },
		"/authorize": i.authorize, "/token": i.token, "/userinfo": i.userinfo,
	}[r.URL.Path]
	switch {
	case i.away:
		w.WriteHeader(http.StatusServiceUnavailable)
	case answer == nil:
		http.NotFound(w, r)
	default:
		answer(w, r)
	}
}

// Rotate makes another key, which is the only one then.
func (i *Issuer) Rotate(id string) {
	i.t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		i.t.Fatal(err)
	}
	signer, err := jose.NewSigner(jose.SigningKey{Algorithm: jose.ES256, Key: jose.JSONWebKey{Key: key, KeyID: id}}, nil)
	if err != nil {
		i.t.Fatal(err)
	}
	set, err := json.Marshal(jose.JSONWebKeySet{Keys: []jose.JSONWebKey{{Key: key.Public(), KeyID: id, Use: "sig"}}})
	if err != nil {
		i.t.Fatal(err)
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	i.signer, i.keys = signer, set
}

// Away says whether the issuer answers with errors.
func (i *Issuer) Away(away bool) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.away = away
}

// Token signs a token of a subject for an audience that is good for an hour, with more claims.
func (i *Issuer) Token(subject, audience string, more map[string]any) string {
	i.t.Helper()
	now := time.Now()
	claims := map[string]any{"iss": i.URL, "sub": subject, "aud": audience, "iat": now.Unix(), "exp": now.Add(time.Hour).Unix()}
	for name, value := range more {
		claims[name] = value
	}
	payload, err := json.Marshal(claims)
	if err != nil {
		i.t.Fatal(err)
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	token, err := i.sign(payload)
	if err != nil {
		i.t.Fatal(err)
	}
	return token
}

// sign signs claims; mu is held.
func (i *Issuer) sign(payload []byte) (string, error) {
	signed, err := i.signer.Sign(payload)
	if err != nil {
		return "", err
	}
	return signed.CompactSerialize()
}

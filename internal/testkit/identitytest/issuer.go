// Package identitytest is an identity provider for tests: it signs tokens, and answers for its
// keys.
package identitytest

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"encoding/json"
	"fmt"
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
}

// Start starts an issuer, which ends with the test.
func Start(t testing.TB) *Issuer {
	t.Helper()
	i := &Issuer{t: t}
	server := httptest.NewServer(http.HandlerFunc(i.serve))
	t.Cleanup(server.Close)
	i.URL = server.URL
	i.Rotate("one")
	return i
}

func (i *Issuer) serve(w http.ResponseWriter, r *http.Request) {
	i.mu.Lock()
	defer i.mu.Unlock()
	switch {
	case i.away:
		w.WriteHeader(http.StatusServiceUnavailable)
	case r.URL.Path == "/.well-known/openid-configuration":
		fmt.Fprintf(w, `{"issuer":%q,"jwks_uri":%q}`, i.URL, i.URL+"/keys")
	case r.URL.Path == "/keys":
		_, _ = w.Write(i.keys)
	default:
		http.NotFound(w, r)
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
	signed, err := i.signer.Sign(payload)
	if err != nil {
		i.t.Fatal(err)
	}
	token, err := signed.CompactSerialize()
	if err != nil {
		i.t.Fatal(err)
	}
	return token
}

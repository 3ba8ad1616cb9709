package cloudauth

import (
	"crypto"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/testkit/clouds"
)

// tokenServer answers all requests for tokens, and keeps them.
type tokenServer struct {
	*httptest.Server
	answer string // "" = a token that lives an hour
	status int
	asked  []*http.Request
	forms  []url.Values
}

func startTokens(t *testing.T) *tokenServer {
	s := &tokenServer{status: 200}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		form, _ := url.ParseQuery(string(body))
		s.asked, s.forms = append(s.asked, r), append(s.forms, form)
		answer := s.answer
		if answer == "" {
			answer = fmt.Sprintf(`{"access_token":"token-%d","token_type":"Bearer","expires_in":3599}`, len(s.asked))
		}
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(s.status)
		_, _ = io.WriteString(w, answer)
	}))
	t.Cleanup(s.Close)
	return s
}

// sign signs a request to a provider.
func sign(t *testing.T, c Credential) (http.Header, error) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), "POST", "https://api.example/v1", nil)
	if err != nil {
		t.Fatal(err)
	}
	return r.Header, c.Sign(r)
}

func write(t *testing.T, name, content string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

func rsaKey(t *testing.T) (*rsa.PrivateKey, string) {
	t.Helper()
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	return key, string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der}))
}

func TestAServiceAccountGetsATokenForItsAssertion(t *testing.T) {
	s := startTokens(t)
	key, text := rsaKey(t)
	file, _ := json.Marshal(map[string]string{
		"type": "service_account", "client_email": "g@p.iam.gserviceaccount.com", "private_key_id": "1", "private_key": text, "token_uri": s.URL + "/token",
		"quota_project_id": "payer",
	})
	c, err := NewGoogle(t.Context(), Google{File: write(t, "key.json", string(file))}, s.Client(), time.Now)
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		h, err := sign(t, c)
		if err != nil || h.Get("Authorization") != "Bearer token-1" || h.Get("X-Goog-User-Project") != "payer" {
			t.Fatalf("%v %v", h, err)
		}
	}
	assertion := s.forms[0].Get("assertion")
	claims := verified(t, assertion, func(sum []byte, signature []byte) error {
		return rsa.VerifyPKCS1v15(&key.PublicKey, crypto.SHA256, sum, signature)
	})
	if claims["iss"] != "g@p.iam.gserviceaccount.com" || claims["scope"] != googleScope || claims["aud"] != s.URL+"/token" {
		t.Errorf("claims %v", claims)
	}
	if len(s.asked) != 1 {
		t.Errorf("asked %d times", len(s.asked))
	}
	if got := c.Status(); got.Kind != "google" || got.Life < 59*time.Minute {
		t.Errorf("status %+v", got)
	}
}

// verified checks a JWT and returns its claims.
func verified(t *testing.T, jwt string, check func(sum, signature []byte) error) (claims map[string]any) {
	t.Helper()
	parts := strings.Split(jwt, ".")
	if len(parts) != 3 {
		t.Fatalf("%q is no JWT", jwt)
	}
	signature, err := base64.RawURLEncoding.DecodeString(parts[2])
	if err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256([]byte(parts[0] + "." + parts[1]))
	if err := check(sum[:], signature); err != nil {
		t.Errorf("signature: %v", err)
	}
	text, _ := base64.RawURLEncoding.DecodeString(parts[1])
	if err := json.Unmarshal(text, &claims); err != nil {
		t.Fatal(err)
	}
	return claims
}

func TestTheMetadataServerOfGoogleIsAsked(t *testing.T) {
	s := startTokens(t)
	t.Setenv("GCE_METADATA_HOST", strings.TrimPrefix(s.URL, "http://"))
	c, err := NewGoogle(t.Context(), Google{Metadata: true, QuotaProject: "payer"}, Client(http.DefaultTransport), time.Now)
	if err != nil {
		t.Fatal(err)
	}
	h, err := sign(t, c)
	if err != nil || h.Get("Authorization") != "Bearer token-1" || h.Get("X-Goog-User-Project") != "payer" {
		t.Errorf("%v %v", h, err)
	}
	if r := s.asked[0]; r.URL.Path != metadataPath || r.Header.Get("Metadata-Flavor") != "Google" {
		t.Errorf("asked %s %v", r.URL, r.Header)
	}
}

func TestFilesThatRunProgramsAreRefused(t *testing.T) {
	for want, text := range map[string]string{
		"runs a program":  `{"type":"external_account","credential_source":{"executable":{"command":"/bin/sh"}}}`,
		"are not taken":   `{"type":"gdch_service_account"}`,
		"is no JSON":      `-----BEGIN`,
		`of type ""`:      `{}`,
		"no such file":    "",
		"only one of the": `{"type":"service_account"}`,
	} {
		g := Google{File: write(t, "key.json", text)}
		switch want {
		case "no such file":
			g.File += "x"
		case "only one of the":
			g.Metadata = true
		}
		if _, err := NewGoogle(t.Context(), g, http.DefaultClient, time.Now); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
}

// Google says why it gives no token, and the reason was hidden.
func TestRefusalsOfGoogleSayWhy(t *testing.T) {
	server := httptest.NewServer(clouds.NewTokens())
	t.Cleanup(server.Close)
	_, key := rsaKey(t)
	account := map[string]any{
		"type": "service_account", "client_email": clouds.UnknownAccount, "private_key_id": "1", "private_key": key, "token_uri": server.URL + "/token",
	}
	federated := map[string]any{
		"type": "external_account", "audience": "//iam.googleapis.com/projects/1/locations/global/workloadIdentityPools/p/providers/q",
		"subject_token_type": "urn:ietf:params:oauth:token-type:jwt", "token_url": server.URL + "/sts/token",
		"credential_source": map[string]any{"file": write(t, "subject", "expired-0123456789")},
	}
	for want, file := range map[string]map[string]any{
		"status 400: invalid_grant: Invalid grant: account not found":                   account,
		"status 400: invalid_grant: ID Token issued at 1700000000 is stale to sign-in.": federated,
	} {
		text, _ := json.Marshal(file)
		c, err := NewGoogle(t.Context(), Google{File: write(t, "key.json", string(text))}, Client(http.DefaultTransport), time.Now)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := sign(t, c); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

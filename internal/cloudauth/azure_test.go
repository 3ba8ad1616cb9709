package cloudauth

import (
	"crypto"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/testkit/clouds"
)

func TestEntraGivesTokensForSecretsFilesAndIdentities(t *testing.T) {
	s := startTokens(t)
	t.Setenv("IDENTITY_ENDPOINT", s.URL+"/msi/token")
	t.Setenv("IDENTITY_HEADER", "proof")
	file := write(t, "federated", "assertion-1\n")
	for _, c := range []struct {
		name string
		a    Azure
		path string
		form url.Values
	}{
		{"a secret", Azure{Tenant: "t-1", ClientID: "c-1", Secret: text("s3cret")}, "/t-1/oauth2/v2.0/token", url.Values{
			"client_id": {"c-1"}, "client_secret": {"s3cret"}, "scope": {AzureScope}, "grant_type": {"client_credentials"},
		}},
		{"a file", Azure{Tenant: "t-1", ClientID: "c-1", TokenFile: file, Scope: AzureClassicScope}, "/t-1/oauth2/v2.0/token", url.Values{
			"client_id": {"c-1"}, "client_assertion": {"assertion-1"}, "client_assertion_type": {assertionType}, "scope": {AzureClassicScope}, "grant_type": {"client_credentials"},
		}},
		{"an identity", Azure{Managed: true, ClientID: "c-2"}, "/msi/token", url.Values{}},
	} {
		s.asked, s.forms = nil, nil
		c.a.Authority = s.URL
		made, err := NewAzure(t.Context(), c.a, Client(http.DefaultTransport), time.Now)
		if err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		h, err := sign(t, made)
		if err != nil || h.Get("Authorization") != "Bearer token-1" {
			t.Errorf("%s: %v %v", c.name, h, err)
		}
		if r := s.asked[0]; r.URL.Path != c.path || s.forms[0].Encode() != c.form.Encode() {
			t.Errorf("%s: asked %s %v", c.name, r.URL, s.forms[0])
		}
	}
	if r := s.asked[0]; r.URL.Query().Get("resource") != "https://ai.azure.com" || r.URL.Query().Get("client_id") != "c-2" || r.Header.Get("X-Identity-Header") != "proof" {
		t.Errorf("the identity was asked for by %s %v", r.URL, r.Header)
	}
}

// The token of Kubernetes changes while the gateway runs.
func TestAFederatedTokenIsReadAgain(t *testing.T) {
	s := startTokens(t)
	file := write(t, "federated", "assertion-1")
	c, err := NewAzure(t.Context(), Azure{Tenant: "t", ClientID: "c", TokenFile: file, Authority: s.URL}, Client(http.DefaultTransport), time.Now)
	if err != nil {
		t.Fatal(err)
	}
	for _, assertion := range []string{"assertion-1", "assertion-2"} {
		if err := os.WriteFile(file, []byte(assertion), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := c.Fetch(t.Context()); err != nil {
			t.Fatal(err)
		}
		if got := s.forms[len(s.forms)-1].Get("client_assertion"); got != assertion {
			t.Errorf("sent %q, want %q", got, assertion)
		}
	}
}

func TestACertificateSignsAssertions(t *testing.T) {
	s := startTokens(t)
	key, keyPEM := rsaKey(t)
	der, err := x509.CreateCertificate(rand.Reader, &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "g"}},
		&x509.Certificate{SerialNumber: big.NewInt(1)}, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	file := write(t, "cert.pem", keyPEM+string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})))
	c, err := NewAzure(t.Context(), Azure{Tenant: "t", ClientID: "c", Certificate: file, Authority: s.URL}, Client(http.DefaultTransport), time.Now)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := sign(t, c); err != nil {
		t.Fatal(err)
	}
	claims := verified(t, s.forms[0].Get("client_assertion"), func(sum, signature []byte) error {
		return rsa.VerifyPSS(&key.PublicKey, crypto.SHA256, sum, signature, nil)
	})
	if claims["aud"] != s.URL+"/t/oauth2/v2.0/token" || claims["iss"] != "c" || claims["sub"] != "c" {
		t.Errorf("claims %v", claims)
	}
	for _, text := range []string{keyPEM, "nothing", "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n"} {
		bad := Azure{Tenant: "t", ClientID: "c", Certificate: write(t, "bad.pem", text)}
		if _, err := NewAzure(t.Context(), bad, http.DefaultClient, time.Now); err == nil || strings.Contains(err.Error(), "AAAA") {
			t.Errorf("%.30s: %v", text, err)
		}
	}
}

func TestRefusalsOfATokenEndpointAreShownWithoutSecrets(t *testing.T) {
	s := startTokens(t)
	for _, row := range []struct {
		status int
		answer string
		want   string
	}{
		{401, `{"error":"invalid_client","error_description":"AADSTS7000215: Invalid client secret provided: s3cret"}`, "status 401: invalid_client: AADSTS7000215"},
		{500, `s3cret`, "status 500"},
		{302, ``, "status 302"},
		{200, `{"access_token":"a b","expires_in":10}`, "no header can carry"},
		{200, `{"access_token":"ab","expires_in":"soon"}`, "how long"},
		{200, `{"expires_in":3599}`, "status 200"},
		{400, `{"error":"s3cret s3cret"}`, "status 400"},
		{400, `{"error":"invalid_request","error_description":"the secret  s3cret\nis no secret"}`, "status 400: invalid_request: the secret [redacted] is no secret"},
		{400, `{"error":"invalid_request","error_description":"` + strings.Repeat("x", 239) + `s3cret"}`, "xxx[…"},
		{403, `{"error":{"code":403,"message":"Permission denied","status":"PERMISSION_DENIED"}}`, "status 403: PERMISSION_DENIED: Permission denied"},
		{200, `{"access_token":"ab","expires_on":"1000"}`, "how long"},
		{200, `{"access_token":"ab","expires_in":0,"expires_on":"99999999999"}`, "how long"},
	} {
		s.status, s.answer = row.status, row.answer
		c, err := NewAzure(t.Context(), Azure{Tenant: "t", ClientID: "c", Secret: text("s3cret"), Authority: s.URL}, Client(http.DefaultTransport), time.Now)
		if err != nil {
			t.Fatal(err)
		}
		_, err = sign(t, c)
		if err == nil || !strings.Contains(err.Error(), row.want) || strings.Contains(err.Error(), "s3cret") {
			t.Errorf("%s: %v, want %s", row.answer, err, row.want)
		}
	}
}

func TestImpossibleEntraAccountsAreRefused(t *testing.T) {
	for _, name := range []string{"AZURE_TENANT_ID", "AZURE_CLIENT_ID", "AZURE_FEDERATED_TOKEN_FILE"} {
		t.Setenv(name, "")
	}
	secret := text("s")
	for want, a := range map[string]Azure{
		`tenant "a/b"`:       {Tenant: "a/b", ClientID: "c", Secret: secret},
		`tenant ""`:          {ClientID: "c", Secret: secret},
		"client_id is":       {Tenant: "t", Secret: secret},
		`client_id "c&x=1"`:  {Tenant: "t", ClientID: "c&x=1", Secret: secret},
		"proves who it is":   {Tenant: "t", ClientID: "c"},
		"only one of them":   {Tenant: "t", ClientID: "c", Secret: secret, Managed: true},
		`scope "x"`:          {Tenant: "t", ClientID: "c", Secret: secret, Scope: "x"},
		`authority "http://`: {Tenant: "t", ClientID: "c", Secret: secret, Authority: "http://login.example"},
	} {
		if _, err := NewAzure(t.Context(), a, http.DefaultClient, time.Now); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v, want %s", a, err, want)
		}
	}
}

// All of these were refused, because only a life in seconds was read.
func TestManagedIdentitiesOfAllKindsGiveTokens(t *testing.T) {
	tokens := clouds.NewTokens()
	server := httptest.NewServer(tokens)
	t.Cleanup(server.Close)
	// The address of the metadata service of VMs cannot be changed.
	there := Client(roundTrip(func(r *http.Request) (*http.Response, error) {
		r.URL.Host = strings.TrimPrefix(server.URL, "http://")
		return http.DefaultTransport.RoundTrip(r)
	}))
	for name, c := range map[string]struct {
		endpoint, header, client string
		want                     string // the error, "" for none
	}{
		"a VM":                             {"", "", "", ""},
		"a VM, an identity of the user":    {"", "", "c-2", ""},
		"a VM, an unknown identity":        {"", "", "unknown", "status 400: invalid_request: Identity not found"},
		"App Service":                      {server.URL + "/msi/token", clouds.IdentityHeader, "", ""},
		"App Service, an unknown identity": {server.URL + "/msi/token", clouds.IdentityHeader, "unknown", "status 400: No User Assigned or Delegated Managed Identity found"},
		"App Service, another header":      {server.URL + "/msi/token", "other-header-0123456789", "", "status 401: Unauthorized"},
		"Azure Arc has another protocol":   {server.URL + "/msi/token", "", "", "Azure Arc"},
		"Service Fabric has another, too":  {server.URL + "/msi/token", "x", "", "Service Fabric"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Setenv("IDENTITY_ENDPOINT", c.endpoint)
			t.Setenv("IDENTITY_HEADER", c.header)
			if strings.HasPrefix(name, "Service Fabric") {
				t.Setenv("IDENTITY_SERVER_THUMBPRINT", "0123")
			}
			made, err := NewAzure(t.Context(), Azure{Managed: true, ClientID: c.client}, there, time.Now)
			if err == nil {
				_, err = sign(t, made)
			}
			switch {
			case c.want == "" && err != nil, c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "other-header")):
				t.Errorf("%v, want %q", err, c.want)
			case c.want == "":
				if life := made.Status().Life; life < (clouds.TokenLife-60)*time.Second || life > clouds.TokenLife*time.Second {
					t.Errorf("the token lives %s", life)
				}
			}
		})
	}
}

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

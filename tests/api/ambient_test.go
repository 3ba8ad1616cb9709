package api

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/gatehouse-proxy/gatehouse/tests/harness"
)

// ambientOptions are roles for those whom Caddy names.
func ambientOptions(user, groups string) string {
	return `
		role developer {
			scopes chat:write models:read workstations:connect
			models fake/echo
			rate 3/min
		}
		role operator {
			scopes activity:read providers:read
		}
		identity caddy {
			user ` + user + `
			groups ` + groups + `
			role operator {
				groups ops OU=ops
			}
			role developer {
				groups ai-users OU=ai
			}
		}`
}

// signOn is another system that signs people in, for forward_auth: by a cookie.
func signOn(t *testing.T) string {
	people := map[string][2]string{"ann": {"ann@example.com", "all,ai-users"}, "oda": {"oda@example.com", "ops"}, "eve": {"eve@example.com", `ai-users\,all`}}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if c, err := r.Cookie("sso"); err == nil && people[c.Value][0] != "" {
			w.Header().Set("Remote-User", people[c.Value][0])
			w.Header().Set("Remote-Groups", people[c.Value][1])
		}
	}))
	t.Cleanup(s.Close)
	return s.URL
}

func TestWhomForwardAuthNamesCallsWithoutAKey(t *testing.T) {
	machine := harness.NewVNCServer(t, harness.NoSecurity)
	h := harness.Start(t, harness.Setup{
		Options: ambientOptions("{http.reverse_proxy.header.remote-user}", "{http.reverse_proxy.header.Remote-Groups}"), VNC: machine.As("one", ""),
		Site: "@known not path /v1/embeddings\nforward_auth @known " + signOn(t) + " {\nuri /\n}\ngatehouse_console\ngatehouse",
	})
	h.VNC.Ready()
	call := func(path, body string, header ...string) harness.Answer {
		t.Helper()
		r := h.Client.Request(path, "", body)
		for i := 0; i < len(header); i += 2 {
			r.Header.Set(header[i], header[i+1])
		}
		return h.Client.Send(r)
	}
	chat := harness.Chat("fake/echo", "")
	for name, header := range map[string][]string{
		"no key":                {"Cookie", "sso=ann"},
		"what stands for none":  {"Cookie", "sso=ann", "Authorization", "Bearer none"},
		"a page of the gateway": {"Cookie", "sso=ann", "Sec-Fetch-Site", "same-origin", "Origin", h.Ports.Origin()},
	} {
		if a := call(harness.ChatV1, chat, header...); a.Status != 200 {
			t.Fatalf("%s: %d %s", name, a.Status, a.Body)
		}
	}
	refused := call(harness.ChatV1, chat, "Cookie", "sso=ann") // the rate of the role is each person's
	harness.WantRefusal(t, harness.ChatV1, refused, 429, "rate_limit_exceeded")
	row := h.Records.Row(refused.Header.Get("X-Request-Id"))
	key, _ := harness.At(row, "key").(string)
	if !strings.HasPrefix(key, "caddy-") || harness.At(row, "user") != "ann@example.com" || harness.At(row, "refused_by") != "key "+key+": rate 3/min" {
		t.Errorf("row %v", row)
	}
	for name, c := range map[string]struct {
		status int
		code   string
		header []string
	}{
		"nobody":                   {401, "invalid_api_key", nil},
		"a header of the client":   {401, "invalid_api_key", []string{"Remote-User", "ann@example.com", "Remote-Groups", "ai-users"}},
		"a key that is not good":   {401, "invalid_api_key", []string{"Cookie", "sso=ann", "Authorization", "Bearer " + strings.Repeat("x", 20)}},
		"the page of a stranger":   {401, "invalid_api_key", []string{"Cookie", "sso=ann", "Sec-Fetch-Site", "cross-site"}},
		"of a neighbour":           {401, "invalid_api_key", []string{"Cookie", "sso=ann", "Sec-Fetch-Site", "same-site"}},
		"of an older browser":      {401, "invalid_api_key", []string{"Cookie", "sso=ann", "Origin", "https://evil.example.com"}},
		"a role without the right": {403, "insufficient_scope", []string{"Cookie", "sso=oda"}},
		"a group with a separator": {403, "no_role", []string{"Cookie", "sso=eve"}},
	} {
		t.Log(name)
		harness.WantRefusal(t, harness.ChatV1, call(harness.ChatV1, chat, c.header...), c.status, c.code)
	}
	// Where forward_auth does not stand, nobody is named.
	harness.WantRefusal(t, "/v1/embeddings", call("/v1/embeddings", `{"model":"fake/echo","input":"a"}`, "Cookie", "sso=ann"), 401, "invalid_api_key")
	// A key is what counts where there is one.
	r := h.Client.Request(harness.ChatV1, "full", chat)
	r.Header.Set("Cookie", "sso=ann")
	a := h.Client.Send(r)
	if a.Status != 200 || harness.At(h.Records.Row(a.Header.Get("X-Request-Id")), "key") != "full" {
		t.Errorf("%d %s", a.Status, a.Body)
	}
	// A desktop, and the console.
	a = call("/v1/workstations/one/vnc", "{}", "Cookie", "sso=ann")
	address, _ := harness.At(harness.Parse(t, a.Body), "vnc_url").(string)
	if a.Status != 200 {
		t.Fatalf("%d %s", a.Status, a.Body)
	}
	desktop := h.VNC.View(harness.ParseAddress(address))
	if status, body := operate(t, http.MethodPut, "/gatehouse/sign-ins/ann@example.com/block"); status != 200 {
		t.Fatalf("%d %s", status, body)
	}
	if !harness.EndsWithin(desktop, time.Second) {
		t.Error("the desktop of somebody who is kept out stays open")
	}
	h.VNC.WaitClosed()
	harness.WantRefusal(t, harness.ChatV1, call(harness.ChatV1, chat, "Cookie", "sso=ann"), 401, "invalid_api_key")
}

// authority makes certificates, in files of a folder.
type authority struct {
	t    *testing.T
	dir  string
	key  *ecdsa.PrivateKey
	cert *x509.Certificate
}

func newAuthority(t *testing.T, dir string) *authority {
	ca := &authority{t: t, dir: dir}
	ca.make("ca", pkix.Name{CommonName: "an authority"})
	return ca
}

// make makes a certificate: of the authority itself first.
func (ca *authority) make(name string, subject pkix.Name) tls.Certificate {
	ca.t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		ca.t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(time.Now().UnixNano()), Subject: subject, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		DNSNames: []string{"localhost"}, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	}
	parent, by := ca.cert, ca.key
	if by == nil {
		template.IsCA, template.BasicConstraintsValid, template.KeyUsage, template.ExtKeyUsage = true, true, x509.KeyUsageCertSign, nil
		parent, by = template, key
	}
	der, err := x509.CreateCertificate(rand.Reader, template, parent, key.Public(), by)
	if err != nil {
		ca.t.Fatal(err)
	}
	if ca.key == nil {
		ca.key = key
		if ca.cert, err = x509.ParseCertificate(der); err != nil {
			ca.t.Fatal(err)
		}
	}
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		ca.t.Fatal(err)
	}
	for file, block := range map[string]*pem.Block{".crt": {Type: "CERTIFICATE", Bytes: der}, ".key": {Type: "PRIVATE KEY", Bytes: private}} {
		if err := os.WriteFile(filepath.Join(ca.dir, name+file), pem.EncodeToMemory(block), 0o600); err != nil {
			ca.t.Fatal(err)
		}
	}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}
}

// secureSite is a site that asks for client certificates; it stands after the site of a setup.
func secureSite(h *harness.Gateway, mode string) string {
	return "gatehouse\n}\nhttps://localhost:" + strconv.Itoa(h.Ports.HTTPS) + " {\nbind 127.0.0.1\ntls DIR/server.crt DIR/server.key {\nclient_auth {\n" +
		mode + "\n}\n}\ngatehouse\n"
}

func TestAClientCertificateCallsWithoutAKey(t *testing.T) {
	h := harness.Prepare(t)
	ca := newAuthority(t, h.Dir)
	ca.make("server", pkix.Name{CommonName: "localhost"})
	stranger := newAuthority(t, t.TempDir())
	certificates := map[string]tls.Certificate{
		"ann":      ca.make("ann", pkix.Name{CommonName: "ann", OrganizationalUnit: []string{"ai"}}),
		"bob":      ca.make("bob", pkix.Name{CommonName: "bob,OU=ai"}), // a name is no group
		"stranger": stranger.make("ann", pkix.Name{CommonName: "ann", OrganizationalUnit: []string{"ai"}}),
	}
	call := func(who string) harness.Answer {
		t.Helper()
		roots := x509.NewCertPool()
		roots.AddCert(ca.cert)
		config := &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12}
		if certificate, ok := certificates[who]; ok {
			config.GetClientCertificate = func(*tls.CertificateRequestInfo) (*tls.Certificate, error) { return &certificate, nil }
		}
		transport := &http.Transport{TLSClientConfig: config, ForceAttemptHTTP2: true, DisableKeepAlives: true}
		t.Cleanup(transport.CloseIdleConnections)
		h.Client.HTTP2 = &http.Client{Transport: transport}
		return h.Client.Send(h.Client.Request(h.Ports.SecureOrigin()+harness.ChatV1, "", harness.Chat("fake/echo", "")))
	}
	options := ambientOptions("{http.request.tls.client.subject}", "{http.request.tls.client.subject}")
	if err := h.Reload(harness.Setup{Options: options, Site: secureSite(h, "mode verify_if_given\ntrust_pool file DIR/ca.crt")}); err != nil {
		t.Fatal(err)
	}
	a := call("ann")
	if a.Status != 200 {
		t.Fatalf("%d %s", a.Status, a.Body)
	}
	if row := h.Records.Row(a.Header.Get("X-Request-Id")); harness.At(row, "user") != "CN=ann,OU=ai" {
		t.Errorf("row %v", row)
	}
	harness.WantRefusal(t, harness.ChatV1, call("bob"), 403, "no_role")
	harness.WantRefusal(t, harness.ChatV1, call("nobody"), 401, "invalid_api_key")
	// In this mode anybody can make a certificate.
	h.Become(harness.Setup{Options: options, Site: secureSite(h, "mode require")})
	harness.WantRefusal(t, harness.ChatV1, call("stranger"), 401, "invalid_api_key")
	harness.WantRefusal(t, harness.ChatV1, call("ann"), 401, "invalid_api_key")
}

// A proxy in front names people in a header, which counts if that proxy is trusted.
func TestAHeaderOfATrustedProxyNamesSomebody(t *testing.T) {
	options := strings.Replace(ambientOptions("{http.request.header.X-User}", `{http.request.header.X-Groups} "|"`), "groups {", "from_trusted_proxies\ngroups {", 1)
	h := harness.Start(t, harness.Setup{Options: options, Global: "servers {\ntrusted_proxies static 127.0.0.1\n}"})
	call := func() harness.Answer {
		r := h.Client.Request(harness.ChatV1, "", harness.Chat("fake/echo", ""))
		r.Header.Set("X-User", "ann")
		r.Header.Set("X-Groups", "all|ai-users")
		return h.Client.Send(r)
	}
	if a := call(); a.Status != 200 {
		t.Fatalf("%d %s", a.Status, a.Body)
	}
	h.Become(harness.Setup{Options: options, Global: "servers {\ntrusted_proxies static 192.0.2.1\n}"})
	harness.WantRefusal(t, harness.ChatV1, call(), 401, "invalid_api_key")
}

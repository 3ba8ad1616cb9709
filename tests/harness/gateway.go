package harness

import (
	"crypto/x509"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig"
	_ "github.com/caddyserver/caddy/v2/modules/standard"
	_ "github.com/mholt/caddy-l4/modules/l4proxyprotocol" // a build with xcaddy has all of caddy-l4

	_ "github.com/gatehouse-proxy/gatehouse/caddymodule"
	"github.com/gatehouse-proxy/gatehouse/tests/process"
)

// WaitLimit is how long a test waits for something that should happen at once. It is generous
// because the machine may be busy, and only a failing test waits that long.
const WaitLimit = time.Minute

// Gateway is a running Caddy with Gatehouse in it, the fake provider behind it, and what a test does
// with both.
type Gateway struct {
	T     *testing.T
	Dir   string // the test's own folder
	Ports *Ports

	Client   *Client
	Provider *Provider
	Records  *Records
	VNC      *VNC

	loads   int // configurations that were taken
	stopped bool
}

// Ports are the ports of a gateway.
type Ports struct{ HTTP, HTTPS, VNC int }

// Origin is where the HTTP site is.
func (p *Ports) Origin() string { return "http://127.0.0.1:" + strconv.Itoa(p.HTTP) }

// SecureOrigin is where the HTTPS site is.
func (p *Ports) SecureOrigin() string { return "https://localhost:" + strconv.Itoa(p.HTTPS) }

// Start boots Caddy and stops it when the test ends. The test fails if a goroutine of Gatehouse is
// left.
func Start(t *testing.T, s Setup) *Gateway {
	t.Helper()
	h := Prepare(t)
	if err := h.Reload(s); err != nil {
		t.Fatal(err)
	}
	if s.Secure {
		h.Client.Secure = h.Ports.SecureOrigin()
		h.Trust()
	}
	return h
}

// Prepare is Start without a configuration.
func Prepare(t *testing.T) *Gateway {
	t.Helper()
	h := Vacant(t)
	h.stopped = false
	Log.Reset()
	t.Cleanup(h.Stop)
	return h
}

// Vacant returns a gateway with a fake provider and no Caddy: a test runs it as a process.
func Vacant(t *testing.T) *Gateway {
	t.Helper()
	h := &Gateway{T: t, Dir: caddyDir(t), stopped: true}
	setSecrets(t)
	h.Provider = newProvider(t)
	h.Ports = FreePorts(t)
	h.Client = &Client{t: t, Origin: h.Ports.Origin(), HTTP: NewClient(t, nil)}
	h.Records = &Records{t: t, client: h.Client}
	h.VNC = &VNC{t: t, dir: h.Dir, ports: h.Ports, client: h.Client, records: h.Records}
	return h
}

// caddyDir is a temporary folder for Caddy's storage. A process that obtains a certificate may
// still write there for a moment after Caddy has stopped.
func caddyDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "gatehouse-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if !Eventually(func() bool { err = os.RemoveAll(dir); return err == nil }) {
			t.Error(err)
		}
	})
	return dir
}

func setSecrets(t *testing.T) {
	t.Setenv("DESK_PASSWORD", DeskPassword)
	for _, name := range append(keyNames, vncKeyNames...) {
		t.Setenv("KEY_"+strings.ToUpper(name), Secret(name))
	}
	t.Setenv("PROVIDER_KEY", ProviderKey)
}

// FreePorts are ports that nobody listens on at the moment.
func FreePorts(t *testing.T) *Ports {
	t.Helper()
	free, err := process.FreePorts(3)
	if err != nil {
		t.Fatal(err)
	}
	return &Ports{free[0], free[1], free[2]}
}

// Caddyfile is the whole configuration of a setup.
func (h *Gateway) Caddyfile(s Setup) string {
	or := func(text, otherwise string) string {
		if text == "" {
			return otherwise
		}
		return text
	}
	site := or(s.Site, DefaultSite)
	text := fmt.Sprintf(`{
	admin off
	persist_config off
	skip_install_trust
	auto_https disable_redirects
	grace_period 5s
	http_port %[1]d
	https_port %[2]d
	storage file_system DIR/storage
	log default {
		output gatehouse_test
		format json
		level %[7]s
	}
	%[3]s
	gatehouse {
		data_dir DIR/data
		%[4]s
	}
	%[6]s
}
http://:%[1]d {
	bind 127.0.0.1
	%[5]s
}
`, h.Ports.HTTP, h.Ports.HTTPS, s.Global, or(s.Keys, DefaultKeys)+or(s.Providers, DefaultProviders)+s.Options+s.vncBlock(), site, s.layer4Block(), s.logLevel())
	if s.Secure {
		text += fmt.Sprintf("https://localhost:%d {\n\tbind 127.0.0.1\n\ttls internal\n%s\n}\n", h.Ports.HTTPS, site)
	}
	return h.Expand(text)
}

// Expand puts the test's own values into a text of a Setup.
func (h *Gateway) Expand(text string) string {
	return strings.NewReplacer("PROVIDER_KEY", "PROVIDER_KEY", "PROVIDER", h.Provider.Origin, "DIR", h.Dir, "VNC_PORT", strconv.Itoa(h.Ports.VNC), "HTTPS_PORT", strconv.Itoa(h.Ports.HTTPS)).Replace(text)
}

// Reload replaces the running setup.
func (h *Gateway) Reload(s Setup) error { return h.Load(h.Caddyfile(s)) }

// Load runs a whole Caddyfile.
func (h *Gateway) Load(caddyfile string) error {
	adapter := caddyconfig.GetAdapter("caddyfile")
	caddyfile = strings.ReplaceAll(caddyfile, "LOAD_NUMBER", strconv.Itoa(h.loads+1))
	config, warnings, err := adapter.Adapt([]byte(h.Expand(caddyfile)), map[string]any{"filename": "Caddyfile"})
	if err != nil {
		return fmt.Errorf("adapting: %w", err)
	}
	for _, w := range warnings {
		if !strings.Contains(w.Message, "not formatted") {
			return fmt.Errorf("warning: line %d: %s", w.Line, w.Message)
		}
	}
	h.stopped = false
	h.VNC.greetsAtOnce = strings.Contains(caddyfile, "tls_first_wait off")
	err = caddy.Load(config, true)
	if err == nil {
		h.loads++
	}
	return err
}

// Become replaces the setup and waits until only the new one answers, and VNC has its certificate.
func (h *Gateway) Become(s Setup) {
	h.T.Helper()
	h.Change(h.Caddyfile(s))
	if s.VNC != "" && !s.NoLayer4 {
		h.VNC.Ready()
	}
}

// Change replaces the configuration and waits until only the new one answers.
func (h *Gateway) Change(caddyfile string) {
	h.T.Helper()
	if err := h.Load(caddyfile); err != nil {
		h.T.Fatal(err)
	}
	h.Settle()
}

// Settle waits until the older configuration's server takes no more connections: it drops those
// that it accepts while it shuts down, and may answer for a moment before. The answer of
// [DefaultSite] says which one has answered.
func (h *Gateway) Settle() {
	h.T.Helper()
	h.Client.HTTP.CloseIdleConnections()
	if !Eventually(func() bool {
		resp, err := h.Client.HTTP.Do(h.Client.Request("/", "", ""))
		if err != nil {
			return false
		}
		body, err := io.ReadAll(resp.Body)
		_ = resp.Body.Close()
		_, load, numbered := strings.Cut(string(body), ", load ")
		older := numbered && load != strconv.Itoa(h.loads)
		if older {
			h.Client.HTTP.CloseIdleConnections()
		}
		return err == nil && !resp.Close && !older
	}) {
		h.T.Fatal("the site does not answer")
	}
}

// Stop ends Caddy; it may be called before the test's end, and again.
func (h *Gateway) Stop() {
	if h.stopped {
		return
	}
	h.stopped = true
	h.Client.HTTP.CloseIdleConnections()
	if h.Client.HTTP2 != nil {
		h.Client.HTTP2.CloseIdleConnections()
	}
	if err := caddy.Stop(); err != nil {
		h.T.Error("stopping Caddy:", err)
	}
	noGoroutines(h.T)
	if h.T.Failed() {
		h.T.Logf("log:\n%s", Log.Text())
	}
}

// Trust waits for the HTTPS site's certificate and makes the client for it.
func (h *Gateway) Trust() {
	h.T.Helper()
	root := rootFile(h.Dir)
	var last error
	ok := Eventually(func() bool {
		pem, err := os.ReadFile(root)
		if err != nil {
			last = err
			return false
		}
		roots := x509.NewCertPool()
		roots.AppendCertsFromPEM(pem)
		client := NewClient(h.T, roots)
		resp, err := client.Get(h.Client.Secure + "/")
		if err != nil {
			last = err
			return false
		}
		_ = resp.Body.Close()
		h.Client.HTTP2 = client
		return true
	})
	if !ok {
		h.T.Fatal("the HTTPS site does not answer: ", last)
	}
}

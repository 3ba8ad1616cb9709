package tests

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig"
	_ "github.com/caddyserver/caddy/v2/modules/standard"

	_ "github.com/gatehouse-proxy/gatehouse/caddymodule"
	"github.com/gatehouse-proxy/gatehouse/internal/testprovider/faults"
)

// waitLimit is how long a test waits for something that should happen at once. It is generous
// because the machine may be busy, and only a failing test waits that long.
const waitLimit = time.Minute

// harness is a running Caddy with Gatehouse in it, and the fake provider behind it.
type harness struct {
	t        *testing.T
	dir      string
	origin   string // http://127.0.0.1:port
	secure   string // https://localhost:port, "" without an HTTPS site
	upstream *faults.Provider
	provider string // the fake provider's origin
	http     *http.Client
	http2    *http.Client // speaks HTTP/2 only; for secure

	ports   [3]int // HTTP, HTTPS, VNC
	stopped bool

	vncGreetsAtOnce bool // the layer-4 handler does not wait for TLS
	tries           int  // attempts at that port to get its certificate
}

// start boots Caddy and stops it when the test ends. The test fails if a goroutine of Gatehouse is
// left.
func start(t *testing.T, s setup) *harness {
	t.Helper()
	h := prepare(t)
	if err := h.reload(s); err != nil {
		t.Fatal(err)
	}
	if s.secure {
		h.secure = "https://localhost:" + strconv.Itoa(h.ports[1])
		h.trust()
	}
	return h
}

// prepare is start without a configuration.
func prepare(t *testing.T) *harness {
	t.Helper()
	h := &harness{t: t, dir: caddyDir(t), upstream: faults.New()}
	h.setSecrets()
	h.serveUpstream()
	h.ports = freePorts(t)
	h.origin = "http://127.0.0.1:" + strconv.Itoa(h.ports[0])
	h.http = newClient(t, nil)
	logs.reset()
	t.Cleanup(h.stop)
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
		if !eventually(func() bool { err = os.RemoveAll(dir); return err == nil }) {
			t.Error(err)
		}
	})
	return dir
}

func (h *harness) setSecrets() {
	h.t.Setenv("DESK_PASSWORD", deskPassword)
	for _, name := range append(keyNames, vncKeyNames...) {
		h.t.Setenv("KEY_"+strings.ToUpper(name), secretOf(name))
	}
	h.t.Setenv("PROVIDER_KEY", providerKey)
}

func (h *harness) serveUpstream() {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		h.t.Fatal(err)
	}
	h.provider = "http://" + listener.Addr().String()
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- h.upstream.Serve(ctx, listener) }()
	h.t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			h.t.Error("the fake provider:", err)
		}
	})
}

// freePorts are ports that nobody listens on at the moment.
func freePorts(t *testing.T) (ports [3]int) {
	t.Helper()
	for i := range ports {
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = listener.Close() }() // each stays open until all are known
		ports[i] = listener.Addr().(*net.TCPAddr).Port
	}
	return ports
}

// caddyfile is the whole configuration of a setup.
func (h *harness) caddyfile(s setup) string {
	or := func(text, otherwise string) string {
		if text == "" {
			return otherwise
		}
		return text
	}
	site := or(s.site, defaultSite)
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
`, h.ports[0], h.ports[1], s.global, or(s.keys, defaultKeys)+or(s.providers, defaultProviders)+s.options+s.vncBlock(), site, s.layer4Block(), s.logLevel())
	if s.secure {
		text += fmt.Sprintf("https://localhost:%d {\n\tbind 127.0.0.1\n\ttls internal\n%s\n}\n", h.ports[1], site)
	}
	return h.expand(text)
}

func (h *harness) expand(text string) string {
	return strings.NewReplacer("PROVIDER_KEY", "PROVIDER_KEY", "PROVIDER", h.provider, "DIR", h.dir, "VNC_PORT", strconv.Itoa(h.ports[2]), "HTTPS_PORT", strconv.Itoa(h.ports[1])).Replace(text)
}

// reload replaces the running setup.
func (h *harness) reload(s setup) error { return h.load(h.caddyfile(s)) }

// load runs a whole Caddyfile.
func (h *harness) load(caddyfile string) error {
	adapter := caddyconfig.GetAdapter("caddyfile")
	config, warnings, err := adapter.Adapt([]byte(h.expand(caddyfile)), map[string]any{"filename": "Caddyfile"})
	if err != nil {
		return fmt.Errorf("adapting: %w", err)
	}
	for _, w := range warnings {
		if !strings.Contains(w.Message, "not formatted") {
			return fmt.Errorf("warning: line %d: %s", w.Line, w.Message)
		}
	}
	h.stopped = false
	h.vncGreetsAtOnce = strings.Contains(caddyfile, "tls_first_wait off")
	return caddy.Load(config, true)
}

// stop ends Caddy; it may be called before the test's end, and again.
func (h *harness) stop() {
	if h.stopped {
		return
	}
	h.stopped = true
	h.http.CloseIdleConnections()
	if h.http2 != nil {
		h.http2.CloseIdleConnections()
	}
	if err := caddy.Stop(); err != nil {
		h.t.Error("stopping Caddy:", err)
	}
	noGoroutines(h.t)
	if h.t.Failed() {
		h.t.Logf("log:\n%s", logs.text())
	}
}

// newClient follows no redirect and speaks HTTP/1.1, or HTTP/2 only if roots are given.
func newClient(t *testing.T, roots *x509.CertPool) *http.Client {
	transport := &http.Transport{DisableCompression: true, MaxIdleConnsPerHost: 64}
	if roots != nil {
		transport.TLSClientConfig = &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12}
		transport.Protocols = new(http.Protocols)
		transport.Protocols.SetHTTP2(true)
	}
	t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Transport: transport, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
}

// trust waits for the HTTPS site's certificate and makes the client for it.
func (h *harness) trust() {
	h.t.Helper()
	root := filepath.Join(h.dir, "storage", "pki", "authorities", "local", "root.crt")
	var last error
	ok := eventually(func() bool {
		pem, err := os.ReadFile(root)
		if err != nil {
			last = err
			return false
		}
		roots := x509.NewCertPool()
		roots.AppendCertsFromPEM(pem)
		client := newClient(h.t, roots)
		resp, err := client.Get(h.secure + "/")
		if err != nil {
			last = err
			return false
		}
		_ = resp.Body.Close()
		h.http2 = client
		return true
	})
	if !ok {
		h.t.Fatal("the HTTPS site does not answer: ", last)
	}
}

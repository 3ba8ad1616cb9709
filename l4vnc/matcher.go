package l4vnc

import (
	"crypto/tls"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/modules/caddytls"

	"github.com/gatehouse-proxy/gatehouse/internal/desktop"
)

func init() {
	caddy.RegisterModule(new(MatchToken))
}

// MatchToken matches TLS connections whose server name is a live VNC token below the VNC domain. It
// only looks: a match uses nothing up. In a cluster it asks Valkey, for 50 ms at most, and matches
// nothing without an answer. It serves TLS-first routes, the layer-4 listener wrapper on
// a port shared with HTTPS, and TLS connection policies. On a port for native viewers it cannot
// work: they wait for a greeting before they speak TLS.
type MatchToken struct {
	workstations *desktop.Service
}

// CaddyModule returns the module's information.
func (*MatchToken) CaddyModule() caddy.ModuleInfo {
	return caddy.ModuleInfo{ID: "tls.handshake_match.vnc_token", New: func() caddy.Module { return new(MatchToken) }}
}

// Provision finds the workstations of the gatehouse app.
func (m *MatchToken) Provision(ctx caddy.Context) error {
	vnc, err := serverOf(ctx)
	if err != nil {
		return err
	}
	m.workstations = vnc.Workstations()
	return nil
}

// Match reports whether the ClientHello names a live token.
func (m *MatchToken) Match(hello *tls.ClientHelloInfo) bool {
	label, ok := m.workstations.Policy().Label(hello.ServerName)
	return ok && m.workstations.Live(label)
}

var (
	_ caddy.Provisioner          = (*MatchToken)(nil)
	_ caddytls.ConnectionMatcher = (*MatchToken)(nil)
)

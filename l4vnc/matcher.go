package l4vnc

import (
	"crypto/tls"
	"errors"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/modules/caddytls"

	"github.com/gatehouse-proxy/gatehouse/internal/caddykit"
	"github.com/gatehouse-proxy/gatehouse/internal/gateway"
)

func init() {
	caddy.RegisterModule(new(MatchToken))
}

// MatchToken matches TLS connections whose server name is a live VNC token
// below the VNC domain. It only looks: a match uses nothing up. It serves
// TLS-first routes, the layer-4 listener wrapper on a port shared with HTTPS,
// and TLS connection policies. On a port for native viewers it has no place: they
// wait to be greeted before they speak TLS.
type MatchToken struct {
	gateway *gateway.Gateway
}

// CaddyModule returns the module's information.
func (*MatchToken) CaddyModule() caddy.ModuleInfo {
	return caddy.ModuleInfo{ID: "tls.handshake_match.vnc_token", New: func() caddy.Module { return new(MatchToken) }}
}

// Provision finds the gateway of the gatehouse app.
func (m *MatchToken) Provision(ctx caddy.Context) (err error) {
	if m.gateway, err = caddykit.Gateway(ctx); err != nil {
		return err
	}
	if m.gateway.Workstations() == nil {
		return errors.New("the option vnc { … } of the global option gatehouse is missing")
	}
	return nil
}

// Match tells whether the ClientHello names a live token.
func (m *MatchToken) Match(hello *tls.ClientHelloInfo) bool {
	label, ok := m.gateway.Workstations().Label(hello.ServerName)
	return ok && m.gateway.Workstations().Live(label)
}

var (
	_ caddy.Provisioner          = (*MatchToken)(nil)
	_ caddytls.ConnectionMatcher = (*MatchToken)(nil)
)

// Package l4vnc is the layer-4 handler of Gatehouse. A native VNC viewer comes with a token in the
// host name and gets the desktop of a workstation.
//
//	handler    accept; bound the half-open connections
//	detect     first byte within 400 ms: 0x16 = TLS first; silence = greet, VeNCrypt
//	identify   find the token: server name, or password
//	handshake  the order of these; then vncrelay: the workstation, the session, the bytes
//	close      close_notify, FIN, drain; never a reset
//
// layer4.handlers.vnc is that handler. tls.handshake_match.vnc_token only looks at a TLS
// ClientHello. It is for ports that are shared with something else.
package l4vnc

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"time"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/modules/caddytls"
	"github.com/mholt/caddy-l4/layer4"
	"github.com/mholt/caddy-l4/modules/l4tls"

	"github.com/gatehouse-proxy/gatehouse/internal/caddykit"
	"github.com/gatehouse-proxy/gatehouse/internal/connlimit"
	"github.com/gatehouse-proxy/gatehouse/internal/rfb"
	"github.com/gatehouse-proxy/gatehouse/internal/vncrelay"
)

func init() {
	caddy.RegisterModule(new(Handler))
}

// Handler serves native VNC viewers on :5900. It speaks TLS-first and VeNCrypt on one port, so its
// route must have no matcher: a viewer that waits for a greeting would never pass one. It is
// terminal. TLS that an earlier tls handler has terminated counts as TLS-first.
type Handler struct {
	// ConnectionPolicies are TLS connection policies, as of the layer-4 tls handler. Default: one
	// that takes Caddy's certificate for the VNC domain, also for viewers that send no server name.
	ConnectionPolicies caddytls.ConnectionPolicies `json:"connection_policies,omitempty"`

	// TLSFirstWait is how long a viewer may take to begin with TLS before it is greeted. A negative
	// value turns TLS-first off. Default: 400ms.
	TLSFirstWait caddy.Duration `json:"tls_first_wait,omitempty"`

	// StepTimeout bounds each step of a handshake that programs take, on both sides, the connection
	// to the workstation included. Default: 10s.
	StepTimeout caddy.Duration `json:"step_timeout,omitempty"`

	// AuthTimeout bounds each step in which a person may be asked for a certificate or a password.
	// Default: 2m.
	AuthTimeout caddy.Duration `json:"auth_timeout,omitempty"`

	// MaxPending bounds the connections without a good token yet. Where it is reached, an older one
	// is closed. Default: 2048.
	MaxPending int `json:"max_pending,omitempty"`

	// MaxPendingPerNetwork bounds those of one IPv4 address or IPv6 /64, in the same way.
	// Default: 256.
	MaxPendingPerNetwork int `json:"max_pending_per_network,omitempty"`

	settings settings
	gateway  vncrelay.Gateway                       // of this configuration
	current  func(context.Context) vncrelay.Gateway // see [vncrelay.Server]
}

// settings are the options of a Handler as its handshakes use them.
type settings struct {
	tls          *tls.Config
	tlsFirstWait time.Duration // negative: no TLS-first
	times        rfb.Timeouts
	limits       connlimit.Limits
	dial         vncrelay.Dialer
}

const defaultTLSFirstWait = 400 * time.Millisecond

// CaddyModule returns the module's information.
func (*Handler) CaddyModule() caddy.ModuleInfo {
	return caddy.ModuleInfo{ID: "layer4.handlers.vnc", New: func() caddy.Module { return new(Handler) }}
}

// Provision finds the gateway and builds the TLS configuration, once.
func (h *Handler) Provision(ctx caddy.Context) error {
	vnc, err := serverOf(ctx)
	if err != nil {
		return err
	}
	if err := h.configure(vnc.Workstations().Policy().Domain); err != nil {
		return err
	}
	if err := h.ConnectionPolicies.Provision(ctx); err != nil {
		return fmt.Errorf("vnc: connection policies: %w", err)
	}
	h.settings.tls = h.ConnectionPolicies.TLSConfig(ctx)
	h.gateway, h.current = vnc, vnc.Current
	return nil
}

// serverOf returns what the app of the configuration being loaded offers for viewers. The
// configuration must have a vnc block.
func serverOf(ctx caddy.Context) (vncrelay.Server, error) {
	vnc, err := caddykit.Part[vncrelay.Server](ctx)
	if err == nil && vnc.Workstations() == nil {
		err = errors.New("the option vnc { … } of the global option gatehouse is missing")
	}
	return vnc, err
}

// configure checks the options and fills in the defaults, for tokens below domain.
func (h *Handler) configure(domain string) error {
	if h.StepTimeout < 0 || h.AuthTimeout < 0 || h.MaxPending < 0 || h.MaxPendingPerNetwork < 0 {
		return errors.New("vnc: a negative limit")
	}
	h.settings = settings{
		tlsFirstWait: cmp.Or(time.Duration(h.TLSFirstWait), defaultTLSFirstWait),
		times: rfb.Timeouts{
			Step:   cmp.Or(time.Duration(h.StepTimeout), rfb.StepTimeout),
			Person: cmp.Or(time.Duration(h.AuthTimeout), rfb.PersonTimeout),
		},
		limits: connlimit.Limits{Pending: h.MaxPending, PendingPerNetwork: h.MaxPendingPerNetwork},
		dial:   vncrelay.DialWorkstation,
	}
	if len(h.ConnectionPolicies) == 0 {
		h.ConnectionPolicies = caddytls.ConnectionPolicies{new(caddytls.ConnectionPolicy)}
	}
	// Serve the wildcard certificate for any server name and for none: only then can the viewer
	// show its user what is wrong.
	wildcard := "*." + domain
	for _, policy := range h.ConnectionPolicies {
		policy.DefaultSNI = cmp.Or(policy.DefaultSNI, wildcard)
		policy.FallbackSNI = cmp.Or(policy.FallbackSNI, wildcard)
	}
	return nil
}

// Handle serves one viewer. It returns nil also when the viewer was refused: that has its own log
// line and metric.
func (h *Handler) Handle(cx *layer4.Connection, _ layer4.Handler) error {
	conn := detach(cx)
	detached := conn != nil
	if !detached {
		conn = cx
	}
	r := h.admit(cx, conn)
	if r == nil {
		return nil
	}
	cx.Replacer().Set("l4.gatehouse.workstation", r.Session.Pass.Workstation.Name)
	cx.Replacer().Set("l4.gatehouse.session", r.Session.Live.ID)
	// The handshakes have grown this stack; the session begins with a small one.
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		r.Run()
	}()
	if !detached {
		<-ended // caddy-l4 closes the connection when this returns
	}
	return nil
}

// admit brings one viewer to its desktop. It returns nil where the viewer was refused: then the
// connection is closed. It is apart from Handle so that a session holds nothing of the handshakes.
func (h *Handler) admit(cx *layer4.Connection, conn net.Conn) *vncrelay.Relay {
	s := &handshake{
		settings: &h.settings, gateway: h.gateway, viewer: vncrelay.AddressOf(cx.RemoteAddr()),
		public: !vncrelay.AddressOf(cx.LocalAddr()).Addr().IsLoopback(),
	}
	s.half = vncrelay.NewHalfOpen(h.gateway.ConnLimiter(), s.viewer.Addr(), h.settings.limits, transport(conn))
	defer s.half.Release()
	ready := s.await(h.current)
	vncrelay.TuneTCP(transport(conn))
	if states := l4tls.GetConnectionStates(cx); len(states) > 0 {
		s.opening = opening{conn: cx, tlsFirst: true, terminated: true, serverName: states[len(states)-1].ServerName}
	} else if !s.detect(bare(conn)) {
		return nil
	}
	if !ready {
		s.decline(notReady)
		return nil
	}
	return s.run()
}

var (
	_ caddy.Provisioner  = (*Handler)(nil)
	_ layer4.NextHandler = (*Handler)(nil)
)

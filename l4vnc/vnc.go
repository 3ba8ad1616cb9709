// Package l4vnc is the layer-4 handler of Gatehouse: native VNC viewers come with
// a token in the host name and get a workstation's desktop.
//
//	accept -> too many half open? an older one gives way
//	       -> first byte within 400 ms: 0x16 = TLS first; silence = greet, VeNCrypt
//	       -> token: server name, or password
//	       -> workstation: dial and log in, up to its ServerInit
//	       -> join the session -> SecurityResult 0 -> ServerInit -> relay
//	       -> end cleanly: close_notify, FIN, drain; never a reset
//
// layer4.handlers.vnc is that handler. tls.handshake_match.vnc_token only looks at
// a TLS ClientHello, for ports that are shared with something else.
package l4vnc

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"time"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/modules/caddytls"
	"github.com/mholt/caddy-l4/layer4"

	"github.com/gatehouse-proxy/gatehouse/internal/caddykit"
	"github.com/gatehouse-proxy/gatehouse/internal/connlimit"
	"github.com/gatehouse-proxy/gatehouse/internal/gateway"
	"github.com/gatehouse-proxy/gatehouse/internal/rfb"
)

func init() {
	caddy.RegisterModule(new(Handler))
}

// Handler serves native VNC viewers on :5900. It speaks TLS-first and
// VeNCrypt on one port, so its route must have no matcher: a viewer that waits
// to be greeted would never pass one. It is terminal. TLS that an earlier tls
// handler has terminated counts as TLS-first.
type Handler struct {
	// ConnectionPolicies are TLS connection policies, as of the layer-4 tls
	// handler. Default: one that takes Caddy's certificate for the VNC
	// domain, for viewers that send no server name too.
	ConnectionPolicies caddytls.ConnectionPolicies `json:"connection_policies,omitempty"`

	// TLSFirstWait is how long a viewer may take to begin with TLS before it
	// is greeted; negative turns TLS-first off. Default: 400ms.
	TLSFirstWait caddy.Duration `json:"tls_first_wait,omitempty"`

	// StepTimeout bounds each step of a handshake that programs take, on both
	// sides, the connection to the workstation included. Default: 10s.
	StepTimeout caddy.Duration `json:"step_timeout,omitempty"`

	// AuthTimeout bounds each step in which a person may be asked: for a
	// certificate, for a password. Default: 2m.
	AuthTimeout caddy.Duration `json:"auth_timeout,omitempty"`

	// MaxPending bounds the connections without a good token yet. Where it is
	// reached, an older one gives way. Default: 2048.
	MaxPending int `json:"max_pending,omitempty"`

	// MaxPendingPerNetwork bounds those of one IPv4 address or IPv6 /64, in
	// the same way. Default: 256.
	MaxPendingPerNetwork int `json:"max_pending_per_network,omitempty"`

	gateway *gateway.Gateway
	tls     *tls.Config
	times   rfb.Timeouts
	limits  connlimit.Limits
}

const defaultTLSFirstWait = 400 * time.Millisecond

// CaddyModule returns the module's information.
func (*Handler) CaddyModule() caddy.ModuleInfo {
	return caddy.ModuleInfo{ID: "layer4.handlers.vnc", New: func() caddy.Module { return new(Handler) }}
}

// Provision finds the gateway and builds the TLS configuration, once.
func (h *Handler) Provision(ctx caddy.Context) (err error) {
	if h.gateway, err = caddykit.Gateway(ctx); err != nil {
		return err
	}
	if h.gateway.Workstations() == nil {
		return errors.New("the option vnc { … } of the global option gatehouse is missing")
	}
	if h.StepTimeout < 0 || h.AuthTimeout < 0 || h.MaxPending < 0 || h.MaxPendingPerNetwork < 0 {
		return errors.New("vnc: a negative limit")
	}
	if h.TLSFirstWait == 0 {
		h.TLSFirstWait = caddy.Duration(defaultTLSFirstWait)
	}
	h.times = rfb.Timeouts{
		Step:   cmp.Or(time.Duration(h.StepTimeout), rfb.StepTimeout),
		Person: cmp.Or(time.Duration(h.AuthTimeout), rfb.PersonTimeout),
	}
	h.limits = connlimit.Limits{Pending: h.MaxPending, PendingPerNetwork: h.MaxPendingPerNetwork}
	if len(h.ConnectionPolicies) == 0 {
		h.ConnectionPolicies = caddytls.ConnectionPolicies{new(caddytls.ConnectionPolicy)}
	}
	// Whatever name a viewer sends, and also if none, it shall get the wildcard
	// certificate: only then can it be told in words what is wrong.
	wildcard := "*." + h.gateway.Workstations().Policy().Domain
	for _, policy := range h.ConnectionPolicies {
		policy.DefaultSNI = cmp.Or(policy.DefaultSNI, wildcard)
		policy.FallbackSNI = cmp.Or(policy.FallbackSNI, wildcard)
	}
	if err := h.ConnectionPolicies.Provision(ctx); err != nil {
		return fmt.Errorf("vnc: connection policies: %w", err)
	}
	h.tls = h.ConnectionPolicies.TLSConfig(ctx)
	return nil
}

// Handle serves one viewer. It returns nil also when the viewer was refused:
// what happened has its own log line and metric.
func (h *Handler) Handle(cx *layer4.Connection, _ layer4.Handler) error {
	d := &handshake{
		Handler: h, gateway: h.gateway, cx: cx, evicted: make(chan struct{}),
		viewer: addressOf(cx.RemoteAddr()), public: !addressOf(cx.LocalAddr()).Addr().IsLoopback(),
	}
	d.slot = h.gateway.ConnLimiter().Acquire(d.viewer.Addr(), h.limits, d.evict)
	defer d.slot.Release()
	ready := d.ready()
	if !d.detect(cx) {
		return nil
	}
	if !ready {
		d.decline(notReady)
		return nil
	}
	// The handshakes grow a stack that the session does not need: they run in
	// a goroutine of their own, which ends.
	entered := make(chan struct{})
	go func() {
		defer close(entered)
		d.run()
	}()
	<-entered
	if d.session != nil {
		cx.Replacer().Set("l4.gatehouse.workstation", d.session.Pass.Workstation.Name)
		cx.Replacer().Set("l4.gatehouse.session", d.session.Live.ID)
		d.relay()
	}
	return nil
}

// ready waits for the gateway and takes the current one: Caddy starts its apps
// in no fixed order.
func (d *handshake) ready() bool {
	ctx, cancel := context.WithTimeout(context.Background(), d.times.Step)
	defer cancel()
	if d.Handler.gateway.Ready(ctx) != nil {
		return false
	}
	g := d.Handler.gateway.Current()
	if g == nil || g.Workstations() == nil {
		return false
	}
	d.gateway = g
	return true
}

// addressOf is the viewer's address; an unusual listener's has none.
func addressOf(a net.Addr) netip.AddrPort {
	if tcp, ok := a.(*net.TCPAddr); ok {
		address := tcp.AddrPort()
		return netip.AddrPortFrom(address.Addr().Unmap(), address.Port())
	}
	address, _ := netip.ParseAddrPort(a.String())
	return netip.AddrPortFrom(address.Addr().Unmap(), address.Port())
}

var (
	_ caddy.Provisioner  = (*Handler)(nil)
	_ layer4.NextHandler = (*Handler)(nil)
)

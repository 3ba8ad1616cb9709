// Package handover is the listener wrapper gatehouse: connections outlive a configuration.
package handover

import (
	"crypto/tls"
	"embed"
	"errors"
	"net"
	"reflect"
	"slices"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
	"github.com/caddyserver/caddy/v2/modules/caddytls"

	"github.com/gatehouse-proxy/gatehouse/internal/caddykit"
	"github.com/gatehouse-proxy/gatehouse/internal/handover"
)

//go:embed *.go
var sources embed.FS

func init() {
	caddy.RegisterModule(new(ListenerWrapper))
	caddykit.AddSource(ListenerWrapper{}, sources)
}

// ListenerWrapper keeps the connections of a server over a reload. HTTP/1 connections that are
// idle, or have a request that the old server has not begun with, go to the server of the new
// configuration, and both accept from one socket. Without it such a request gets no answer, because
// Go's HTTP server closes these connections, and the kernel resets those that nobody has accepted.
//
//	servers {
//		listener_wrappers {
//			gatehouse
//			tls
//			gatehouse
//		}
//	}
//
// The first keeps the socket, the second the connections; where no server has TLS, one is enough. A
// server that asks for client certificates gets no connections of an older one.
type ListenerWrapper struct {
	server *caddyhttp.Server
}

// CaddyModule implements [caddy.Module].
func (*ListenerWrapper) CaddyModule() caddy.ModuleInfo {
	return caddy.ModuleInfo{ID: "caddy.listeners.gatehouse", New: func() caddy.Module { return new(ListenerWrapper) }}
}

// Provision implements [caddy.Provisioner].
func (w *ListenerWrapper) Provision(ctx caddy.Context) error {
	server, ok := ctx.Value(caddyhttp.ServerCtxKey).(*caddyhttp.Server)
	if !ok {
		return errors.New("the listener wrapper gatehouse is for HTTP servers only")
	}
	w.server = server
	server.RegisterConnState(handover.StateChanged)
	return nil
}

// UnmarshalCaddyfile implements [caddyfile.Unmarshaler].
func (*ListenerWrapper) UnmarshalCaddyfile(d *caddyfile.Dispenser) error {
	d.Next()
	if d.NextArg() || d.NextBlock(0) {
		return d.ArgErr()
	}
	return nil
}

// keptConnections are those of all configurations.
var keptConnections handover.Group

// tlsListener is the type of a listener with TLS.
var tlsListener = reflect.TypeOf(tls.NewListener(nil, nil))

// WrapListener implements [caddy.ListenerWrapper]. Below TLS it shares the socket, above it hands
// connections over; without TLS it does both.
func (w *ListenerWrapper) WrapListener(ln net.Listener) net.Listener {
	if _, wrapped := ln.(*handover.Listener); wrapped {
		return ln // without TLS, the second of two wrappers
	}
	key := ln.Addr().Network() + " " + ln.Addr().String()
	if reflect.TypeOf(ln) == tlsListener {
		return keptConnections.Listen(ln, "tls "+key, !w.wantsCertificates())
	}
	if _, tcp := ln.Addr().(*net.TCPAddr); tcp {
		ln = keptConnections.Share(ln, key)
	}
	if len(w.server.TLSConnPolicies) > 0 {
		return ln
	}
	return keptConnections.Listen(ln, key, true)
}

// wantsCertificates reports whether clients may have to show a certificate, which those of an older
// connection did not.
func (w *ListenerWrapper) wantsCertificates() bool {
	return slices.ContainsFunc(w.server.TLSConnPolicies, func(p *caddytls.ConnectionPolicy) bool { return p.ClientAuthentication != nil })
}

var (
	_ caddy.Provisioner     = (*ListenerWrapper)(nil)
	_ caddy.ListenerWrapper = (*ListenerWrapper)(nil)
	_ caddyfile.Unmarshaler = (*ListenerWrapper)(nil)
)

package gateway

import (
	"context"
	"net/netip"

	"go.uber.org/zap"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/connlimit"
	"github.com/gatehouse-proxy/gatehouse/internal/desktop"
	"github.com/gatehouse-proxy/gatehouse/internal/inflight"
	"github.com/gatehouse-proxy/gatehouse/internal/keys"
	"github.com/gatehouse-proxy/gatehouse/internal/request"
	"github.com/gatehouse-proxy/gatehouse/internal/vncrelay"
	"github.com/gatehouse-proxy/gatehouse/internal/vncsession"
)

// VNC is the part of a gateway that serves desktops.
type VNC struct{ gateway *Gateway }

// VNCOf returns the part of g that serves desktops. Its stores are there once Ready has returned.
func VNCOf(g *Gateway) VNC { return VNC{g} }

// Current implements [vncrelay.Server].
func (v VNC) Current(ctx context.Context) vncrelay.Gateway {
	if v.gateway.Ready(ctx) != nil {
		return nil
	}
	if current := v.gateway.Current(); current != nil && VNCOf(current).Workstations() != nil {
		return VNCOf(current)
	}
	return nil
}

// Workstations is the service of the workstations, nil without any.
func (v VNC) Workstations() *desktop.Service { return v.gateway.desktops.workstations }

// Service returns the service of the workstations, if it can serve now. Errors: 404, 503.
func (v VNC) Service() (*desktop.Service, error) {
	service := v.Workstations()
	if service == nil {
		return nil, apierror.New(apierror.UnknownURL, "the running configuration has no workstations: the option vnc is missing")
	}
	return service, service.Ready()
}

// Node is the name of this gateway among those of a cluster.
func (v VNC) Node() string { return v.gateway.state.Workstations.Node() }

// IssuerOf returns who asks for the desktop that a request is about.
func (VNC) IssuerOf(q *request.Request) desktop.Issuer {
	key := q.Caller.Credential
	return desktop.Issuer{
		Tenant: key.Tenant, Key: key.Name, KeyHash: key.Hash, User: q.Outcome.Record.User, Until: key.Expires, Trace: q.Trace.Origin(),
	}
}

// ConnLimiter bounds the VNC connections in their handshake.
func (v VNC) ConnLimiter() *connlimit.Limiter { return v.gateway.state.ConnLimiter }

// Open begins the session of a viewer with a live token; Finish must be called on it. The error is a
// *desktop.Refusal: this configuration was replaced and the stores are closed.
func (v VNC) Open(pass *desktop.Pass, viewer netip.AddrPort, security string) (*vncsession.Session, error) {
	g, entry := v.gateway, new(inflight.Entry)
	if !g.calls.Add(entry) {
		return nil, desktop.NewRefusal(desktop.RefusedShutdown)
	}
	deps := g.desktops.sessions
	deps.Records, deps.OnShutdown, deps.Done = g.requests.Activity, entry.SetCancel, func() { g.calls.Remove(entry) }
	return vncsession.Open(deps, pass, viewer, security), nil
}

// Refused counts and logs a connection without a live token. It leaves no record, and its log is
// sampled: such connections cost an attacker nothing.
func (v VNC) Refused(reason string, viewer netip.AddrPort, cause error) {
	v.gateway.state.Metrics.VNCRefused(reason)
	v.gateway.requests.Sampled().Warn("vnc connection refused", zap.String("code", reason), zap.String("remote", viewer.String()), zap.Error(cause))
}

// StillMayConnect refuses a caller whose key or secret is not good any more: it was changed at run time
// after the caller had been authenticated. What was issued meanwhile ends. The error is a 401.
func (v VNC) StillMayConnect(caller *request.Caller) error {
	if caller.Limits == nil {
		return nil
	}
	desktops := v.gateway.state.Workstations
	now, err := Callers(v).CallerOf(caller.Tenant, caller.Name, caller.SecretHash())
	if err != nil || !now.Has(keys.WorkstationsConnect) {
		desktops.Revoke(caller.Tenant, caller.Name)
		return errInvalidKey()
	}
	if end := now.Expires; !end.IsZero() {
		desktops.RevokeAt(caller.Tenant, caller.Name, end)
	}
	return nil
}

// WarnOfDemo warns once of a part that is built in for trying out and serves more than this machine.
func (v VNC) WarnOfDemo(what string) { v.gateway.warnOfDemo(what) }

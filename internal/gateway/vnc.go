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
	"github.com/gatehouse-proxy/gatehouse/internal/replay"
	"github.com/gatehouse-proxy/gatehouse/internal/request"
	"github.com/gatehouse-proxy/gatehouse/internal/vncrelay"
	"github.com/gatehouse-proxy/gatehouse/internal/vncsession"
)

// VNC is the part of a gateway that serves desktops.
type VNC struct{ gateway *Gateway }

// VNC returns the part that serves desktops. Its stores are there once Ready has returned.
func (g *Gateway) VNC() VNC { return VNC{g} }

// Current implements [vncrelay.Server].
func (v VNC) Current(ctx context.Context) vncrelay.Gateway {
	if v.gateway.Ready(ctx) != nil {
		return nil
	}
	if current := v.gateway.Current(); current != nil && current.VNC().Workstations() != nil {
		return current.VNC()
	}
	return nil
}

// Workstations is the service of the workstations, nil without any.
func (v VNC) Workstations() *desktop.Service { return v.gateway.desktops.workstations }

// Recordings are those of sessions. Where none can be recorded the error is [apierror.UnknownURL].
func (v VNC) Recordings() (replay.Recordings, error) {
	if v.gateway.desktops.recordings == nil {
		return replay.Recordings{}, apierror.New(apierror.UnknownURL, "this gateway records no sessions")
	}
	return replay.Recordings{Store: v.gateway.desktops.recordings}, nil
}

// IssuerOf returns who asks for the desktop that a request is about.
func IssuerOf(q *request.Request) desktop.Issuer {
	key := q.Caller.Credential
	return desktop.Issuer{
		Tenant: key.Tenant, Key: key.Name, KeyHash: key.Hash, User: q.Outcome.Record.User, Until: key.Expires, Trace: q.Trace.Origin(),
	}
}

// Viewer is the key of a request that watches or exports a recording. It sees what a configuration that has
// started lets it see: before the one before has stopped a reload may still fail.
func (v VNC) Viewer(q *request.Request) replay.Viewer {
	by := &q.Caller
	hash := by.SecretHash()
	return replay.Viewer{Tenant: by.Tenant, Key: by.Name, Sees: func(tenant string) bool {
		return v.gateway.state.generations.any(func(g *Gateway) bool {
			now, err := g.callerOf(by.Tenant, by.Name, hash)
			return err == nil && now.Has(keys.RecordingsRead) && now.Tenants("").Has(tenant)
		})
	}}
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
	return vncsession.Open(vncsession.Deps{
		Records: g.requests.Activity, Metrics: g.state.Metrics, Logger: g.logger, Redact: g.requests.Redactor.Text, Now: g.now,
		OnShutdown: entry.SetCancel, Done: func() { g.calls.Remove(entry) }, Recordings: g.desktops.recordings,
	}, pass, viewer, security), nil
}

// Refused counts and logs a connection without a live token. It leaves no record, and its log is
// sampled: such connections cost an attacker nothing.
func (v VNC) Refused(reason string, viewer netip.AddrPort, cause error) {
	v.gateway.state.Metrics.VNCRefused(reason)
	v.gateway.requests.Sampled().Warn("vnc connection refused", zap.String("code", reason), zap.String("remote", viewer.String()), zap.Error(cause))
}

// WarnOfDemo warns once of a part that is built in for trying out and serves more than this machine.
func (v VNC) WarnOfDemo(what string) { v.gateway.warnOfDemo(what) }

package gateway

import (
	"context"
	"net/netip"

	"go.uber.org/zap"

	"github.com/gatehouse-proxy/gatehouse/internal/connlimit"
	"github.com/gatehouse-proxy/gatehouse/internal/inflight"
	"github.com/gatehouse-proxy/gatehouse/internal/vncsession"
	"github.com/gatehouse-proxy/gatehouse/internal/workstation"
)

// OpenVNC begins the session of a viewer with a live token; Finish must be called on it. The error
// is a *workstation.Refusal: this configuration was replaced and the stores are closed.
func (g *Gateway) OpenVNC(pass *workstation.Pass, viewer netip.AddrPort, security string) (*vncsession.Session, error) {
	entry := new(inflight.Entry)
	if !g.calls.Add(entry) {
		return nil, workstation.NewRefusal(workstation.RefusedShutdown)
	}
	ctx, cancel := context.WithCancelCause(context.Background()) // not of a module: it would end with it
	entry.SetCancel(cancel)
	return vncsession.Open(vncsession.Deps{
		Workstations: g.workstations, Records: g.requests.Activity, Metrics: g.state.Metrics, Logger: g.logger, Redact: g.requests.Redactor.Text, Now: g.now,
		Context: ctx, Done: func() { cancel(nil); g.calls.Remove(entry) },
	}, pass, viewer, security), nil
}

// VNCRefused counts and logs a VNC connection without a live token. It leaves no record, and its
// log is sampled: such connections cost an attacker nothing.
func (g *Gateway) VNCRefused(reason string, viewer netip.AddrPort, cause error) {
	g.state.Metrics.VNCRefused(reason)
	g.requests.Sampled().Warn("vnc connection refused", zap.String("code", reason), zap.String("remote", viewer.String()), zap.Error(cause))
}

// ConnLimiter bounds the VNC connections in their handshake.
func (g *Gateway) ConnLimiter() *connlimit.Limiter { return g.state.ConnLimiter }

// Workstations is the service of the workstations, nil without any.
func (g *Gateway) Workstations() *workstation.Service { return g.workstations }

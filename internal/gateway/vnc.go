package gateway

import (
	"context"
	"net/netip"

	"go.uber.org/zap"

	"github.com/gatehouse-proxy/gatehouse/internal/connlimit"
	"github.com/gatehouse-proxy/gatehouse/internal/vncsession"
	"github.com/gatehouse-proxy/gatehouse/internal/workstation"
)

// OpenVNC begins the session of a viewer with a live token; Finish must be
// called on it. The error is a *workstation.Refusal: the configuration is closed
// and its State gone.
func (g *Gateway) OpenVNC(pass *workstation.Pass, viewer netip.AddrPort, security string) (*vncsession.Session, error) {
	r := new(running)
	if !g.calls.add(r) {
		return nil, workstation.NewRefusal(workstation.RefusedShutdown)
	}
	ctx, cancel := context.WithCancelCause(context.Background()) // of no module's life
	g.setCancel(r, cancel)
	return vncsession.Open(vncsession.Deps{
		Records: g.log, Metrics: g.state.Metrics, Logger: g.logger, Redact: g.redactor.Text, Now: g.now,
		Context: ctx, Done: func() { cancel(nil); g.calls.remove(r) },
	}, pass, viewer, security), nil
}

// VNCRefused counts and logs a VNC connection without a live token. It leaves no
// record, and its log is sampled.
func (g *Gateway) VNCRefused(reason string, viewer netip.AddrPort, cause error) {
	g.state.Metrics.VNCRefused(reason)
	g.sampled().Warn("vnc connection refused", zap.String("code", reason), zap.String("remote", viewer.String()), zap.Error(cause))
}

// ConnLimiter bounds the VNC connections in their handshake.
func (g *Gateway) ConnLimiter() *connlimit.Limiter { return g.state.ConnLimiter }

// Workstations is the service of the workstations, nil without any.
func (g *Gateway) Workstations() *workstation.Service { return g.workstations }

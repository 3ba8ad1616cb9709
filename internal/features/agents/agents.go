// Package agents is the feature of a gateway by which models see and use desktops.
package agents

import (
	"github.com/gatehouse-proxy/gatehouse/internal/features/mcp"
	"github.com/gatehouse-proxy/gatehouse/internal/gateway"
	"github.com/gatehouse-proxy/gatehouse/internal/metrics"
	"github.com/gatehouse-proxy/gatehouse/internal/request"
	"github.com/gatehouse-proxy/gatehouse/internal/screen"
	"github.com/gatehouse-proxy/gatehouse/internal/screencall"
	"github.com/gatehouse-proxy/gatehouse/internal/vncrelay"
)

// Feature makes the desktops that agents use, with their bounds. Open ones outlive a configuration.
// The MCP servers, which are one of the features before, get the one that is built in for desktops.
func Feature(c gateway.Core, before []gateway.Feature, bounds screen.Limits) gateway.Feature {
	servers := mcp.Of(before)
	open := gateway.Kept(c.Slots, func() *screen.Screens { return screen.New(vncrelay.DialWorkstation) })
	screens := &screencall.Screens{
		Tools: &servers.Calls, Workstations: c.VNC.Workstations, Issuer: c.VNC.IssuerOf,
		Open: func(q *request.Request, who screen.Who) (*screen.Screen, error) {
			who.Gateway, who.Issuer, who.Public = c.VNC, c.VNC.IssuerOf(q), !request.OnLoopback(q.HTTP)
			who.Issuer.Trace = who.Issuer.Trace.InRun(q.Outcome.Record.TraceID) // also in the row of the session
			x, err := open.Open(q.HTTP.Context(), who)
			if err == nil {
				q.Trace.SetSession(x.Session().ID)
			}
			return x, err
		},
	}
	servers.BuiltIn = screens.With
	return gateway.Feature{
		Offers: screens,
		Apply:  func() { open.SetLimits(bounds) },
		Gauges: []metrics.Collector{
			metrics.NewGauge("automation_memory_bytes", "Memory that the pictures of agents' desktops take.", nil, func(put metrics.Show) {
				used, _ := open.Memory()
				put(float64(used))
			}),
			metrics.NewGauge("automation_memory_limit_bytes",
				"Memory that the pictures of agents' desktops may take; above it agents get automation_busy.", nil, func(put metrics.Show) {
					_, limit := open.Memory()
					put(float64(limit))
				}),
		},
	}
}

package handlers

import (
	"github.com/gatehouse-proxy/gatehouse/internal/caddykit"
	"github.com/gatehouse-proxy/gatehouse/internal/gateway"
)

// serveScreenshot answers with a picture of the desktop of a workstation.
func serveScreenshot(x *apiRequest) error {
	q, err := x.strictQuery("max_height", "max_ms", "max_width", "quiet_ms", "region", "wait")
	if err != nil {
		return err
	}
	if _, err := x.workstations(); err != nil {
		return err
	}
	if ofPage(x.r) {
		return gateway.ServePreview(x.gateway.VNC(), x.req, x.name, caddykit.ClientAddr(x.r), q)
	}
	return gateway.ServeScreenshot(x.gateway.VNC(), x.req, x.name, caddykit.ClientAddr(x.r), q)
}

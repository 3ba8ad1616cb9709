package agents

import (
	"github.com/gatehouse-proxy/gatehouse/handlers"
	"github.com/gatehouse-proxy/gatehouse/internal/caddykit"
	"github.com/gatehouse-proxy/gatehouse/internal/screencall"
)

// serveScreenshot answers with a picture of the desktop of a workstation.
func serveScreenshot(x *handlers.Request) error {
	q, err := x.StrictQuery("max_height", "max_ms", "max_width", "quiet_ms", "region", "wait")
	if err != nil {
		return err
	}
	if _, err := x.Workstations(); err != nil {
		return err
	}
	screens, err := handlers.Part[*screencall.Screens](x)
	if err != nil {
		return err
	}
	if handlers.OfPage(x.HTTP) {
		return screens.Preview(x.Req, x.Name, caddykit.ClientAddr(x.HTTP), q)
	}
	return screens.Show(x.Req, x.Name, caddykit.ClientAddr(x.HTTP), q)
}

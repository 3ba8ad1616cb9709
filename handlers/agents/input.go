package agents

import (
	"net/http"

	"github.com/gatehouse-proxy/gatehouse/handlers"
	"github.com/gatehouse-proxy/gatehouse/internal/caddykit"
	"github.com/gatehouse-proxy/gatehouse/internal/gateway"
)

// serveInput does the actions of a model on the desktop of a workstation, and answers with a
// picture.
func serveInput(x *handlers.Request) error {
	if _, err := x.StrictQuery(); err != nil {
		return err
	}
	if _, err := x.Workstations(); err != nil {
		return err
	}
	answer, err := gateway.Act(x.Gateway.VNC(), x.Req, x.Name, caddykit.ClientAddr(x.HTTP))
	if err != nil {
		return err
	}
	return x.Reply(http.StatusOK, answer)
}

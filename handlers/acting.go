package handlers

import (
	"net/http"

	"github.com/gatehouse-proxy/gatehouse/internal/caddykit"
	"github.com/gatehouse-proxy/gatehouse/internal/gateway"
)

// serveInput does the actions of a model on the desktop of a workstation, and answers with a picture.
func serveInput(x *apiRequest) error {
	if _, err := x.strictQuery(); err != nil {
		return err
	}
	if _, err := x.workstations(); err != nil {
		return err
	}
	answer, err := gateway.Act(x.gateway.VNC(), x.req, x.name, caddykit.ClientAddr(x.r))
	if err != nil {
		return err
	}
	return x.reply(http.StatusOK, answer)
}

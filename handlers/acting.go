package handlers

import (
	"net/http"

	"github.com/gatehouse-proxy/gatehouse/internal/caddykit"
)

// serveInput does the actions of a model on the desktop of a workstation, and answers with a picture.
func serveInput(x *apiRequest) error {
	if _, err := x.strictQuery(); err != nil {
		return err
	}
	if _, err := x.workstations(); err != nil {
		return err
	}
	answer, err := x.gateway.VNC().Act(x.req, x.name, caddykit.ClientAddr(x.r))
	if err != nil {
		return err
	}
	return x.reply(http.StatusOK, answer)
}

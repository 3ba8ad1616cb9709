package agents

import (
	"net/http"

	"github.com/gatehouse-proxy/gatehouse/handlers"
	"github.com/gatehouse-proxy/gatehouse/internal/caddykit"
	"github.com/gatehouse-proxy/gatehouse/internal/screencall"
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
	screens, err := handlers.Part[*screencall.Screens](x)
	if err != nil {
		return err
	}
	answer, err := screens.Act(x.Req, x.Name, caddykit.ClientAddr(x.HTTP))
	if err != nil {
		return err
	}
	return x.Reply(http.StatusOK, answer)
}

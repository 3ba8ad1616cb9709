package admin

import (
	"net/http"

	"github.com/gatehouse-proxy/gatehouse/internal/gateway"
)

// restore puts a released workstation in service again.
func restore(active *gateway.Gateway, r *http.Request) (any, error) {
	service, err := gateway.VNCOf(active).Service()
	if err != nil {
		return nil, err
	}
	return nil, service.Restore(r.Context(), r.PathValue("tenant"), r.PathValue("id"))
}

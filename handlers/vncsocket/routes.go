// Package vncsocket has the endpoint by which a native viewer comes over HTTPS.
package vncsocket

import (
	"net/http"

	"github.com/gatehouse-proxy/gatehouse/handlers"
	"github.com/gatehouse-proxy/gatehouse/internal/api"
	"github.com/gatehouse-proxy/gatehouse/internal/keys"
)

var socketEndpoint = &handlers.Operation{Name: "vnc_socket", Method: http.MethodGet, Scope: keys.WorkstationsConnect, Serve: serveVNCSocket}

func init() {
	handlers.Register(
		handlers.Route{Path: "/v1/workstations/{id}/socket", API: api.OpenAI{}, Operation: socketEndpoint},
	)
}

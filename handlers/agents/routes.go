// Package agents has the endpoints of models at a desktop: its picture, its input, and who holds
// that input.
package agents

import (
	"net/http"

	"github.com/gatehouse-proxy/gatehouse/handlers"
	"github.com/gatehouse-proxy/gatehouse/internal/api"
	"github.com/gatehouse-proxy/gatehouse/internal/keys"
	"github.com/gatehouse-proxy/gatehouse/internal/screencall"
)

var (
	screenshotEndpoint    = &handlers.Operation{Name: "screen", Method: http.MethodGet, Scope: keys.WorkstationsAutomate, Serve: serveScreenshot}
	actEndpoint           = &handlers.Operation{Name: "screen", Method: http.MethodPost, Scope: keys.WorkstationsAutomate, Recorded: true, Serve: serveInput}
	controlEndpoint       = &handlers.Operation{Name: "screen", Method: http.MethodGet, Serve: serveControl} // one of three scopes
	changeControlEndpoint = &handlers.Operation{Name: "screen", Method: http.MethodPost, Recorded: true, Serve: changeControl}
)

func init() {
	handlers.Answers[screencall.InputAnswer](actEndpoint)
	handlers.Register(
		handlers.Route{Path: "/v1/workstations/{id}/screenshot", API: api.OpenAI{}, Operation: screenshotEndpoint},
		handlers.Route{Path: "/v1/workstations/{id}/input", API: api.OpenAI{}, Operation: actEndpoint},
		handlers.Route{Path: "/v1/workstations/{id}/control", API: api.OpenAI{}, Operation: controlEndpoint},
		handlers.Route{Path: "/v1/workstations/{id}/control", API: api.OpenAI{}, Operation: changeControlEndpoint},
	)
}

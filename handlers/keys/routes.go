// Package keys has the endpoints of keys: those that are made at run time, and those of the
// configuration.
package keys

import (
	"net/http"

	"github.com/gatehouse-proxy/gatehouse/handlers"
	"github.com/gatehouse-proxy/gatehouse/internal/api"
	"github.com/gatehouse-proxy/gatehouse/internal/keys"
)

var (
	listKeysEndpoint  = &handlers.Operation{Name: "keys", Method: http.MethodGet, Scope: keys.KeysManage, Serve: listKeys}
	createKeyEndpoint = &handlers.Operation{Name: "keys", Method: http.MethodPost, Scope: keys.KeysManage, Recorded: true, Serve: createKey}
	showKeyEndpoint   = &handlers.Operation{Name: "keys", Method: http.MethodGet, Scope: keys.KeysManage, Serve: showKey}
	updateKeyEndpoint = &handlers.Operation{Name: "keys", Method: http.MethodPatch, Scope: keys.KeysManage, Recorded: true, Serve: updateKey}
	deleteKeyEndpoint = &handlers.Operation{Name: "keys", Method: http.MethodDelete, Scope: keys.KeysManage, Recorded: true, Serve: deleteKey}
	rotateKeyEndpoint = &handlers.Operation{Name: "keys", Method: http.MethodPost, Scope: keys.KeysManage, Recorded: true, Serve: rotateKey}
)

func init() {
	handlers.Register(
		handlers.Route{Path: "/api/v1/keys", API: api.OpenRouter{}, Operation: listKeysEndpoint},
		handlers.Route{Path: "/api/v1/keys", API: api.OpenRouter{}, Operation: createKeyEndpoint},
		handlers.Route{Path: "/api/v1/keys/{hash}", API: api.OpenRouter{}, Operation: showKeyEndpoint},
		handlers.Route{Path: "/api/v1/keys/{hash}", API: api.OpenRouter{}, Operation: updateKeyEndpoint},
		handlers.Route{Path: "/api/v1/keys/{hash}", API: api.OpenRouter{}, Operation: deleteKeyEndpoint},
		handlers.Route{Path: "/api/v1/keys/{hash}/rotate", API: api.OpenRouter{}, Operation: rotateKeyEndpoint},
	)
}

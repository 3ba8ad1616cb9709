// Package authserver has the endpoints and the pages by which people sign in to programs.
package authserver

import (
	"net/http"

	"github.com/gatehouse-proxy/gatehouse/handlers"
	"github.com/gatehouse-proxy/gatehouse/internal/api"
	"github.com/gatehouse-proxy/gatehouse/internal/authserver"
	signins "github.com/gatehouse-proxy/gatehouse/internal/features/authserver"
)

// name is that of the module that serves them all: http.handlers.gatehouse_oauth.
const name = "oauth"

var (
	metadataEndpoint = open(http.MethodGet, (*authserver.Server).ServeMetadata)
	deviceEndpoint   = open(http.MethodPost, (*authserver.Server).ServeDevice)
	tokenEndpoint    = open(http.MethodPost, (*authserver.Server).ServeToken)
	revokeEndpoint   = open(http.MethodPost, (*authserver.Server).ServeRevoke)
	pageEndpoint     = open(http.MethodGet, (*authserver.Server).ServePage)
	decideEndpoint   = open(http.MethodPost, (*authserver.Server).ServePage)
	styleEndpoint    = open(http.MethodGet, (*authserver.Server).ServeStyle)
)

func init() {
	handlers.Register(
		handlers.Route{Path: authserver.MetadataPath, API: api.OpenAI{}, Operation: metadataEndpoint},
		handlers.Route{Path: authserver.DevicePath, API: api.OpenAI{}, Operation: deviceEndpoint},
		handlers.Route{Path: authserver.TokenPath, API: api.OpenAI{}, Operation: tokenEndpoint},
		handlers.Route{Path: authserver.RevokePath, API: api.OpenAI{}, Operation: revokeEndpoint},
		handlers.Route{Path: authserver.PagePath, API: api.OpenAI{}, Operation: pageEndpoint},
		handlers.Route{Path: authserver.PagePath, API: api.OpenAI{}, Operation: decideEndpoint},
		handlers.Route{Path: authserver.StylePath, API: api.OpenAI{}, Operation: styleEndpoint},
	)
}

// open is an operation for everybody, who is about to sign in.
func open(method string, serve func(*authserver.Server, http.ResponseWriter, *http.Request)) *handlers.Operation {
	o := &handlers.Operation{Name: name, Method: method, Serve: func(x *handlers.Request) error {
		s, err := handlers.Part[*signins.SignIns](x)
		if err != nil {
			return err
		}
		serve(s.Server, x.Writer, x.HTTP)
		return nil
	}}
	handlers.Open(o)
	return o
}

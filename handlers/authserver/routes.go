// Package authserver has the endpoints and the pages by which people sign in to programs.
package authserver

import (
	"net/http"

	"github.com/gatehouse-proxy/gatehouse/handlers"
	"github.com/gatehouse-proxy/gatehouse/internal/api"
	"github.com/gatehouse-proxy/gatehouse/internal/authserver"
	programs "github.com/gatehouse-proxy/gatehouse/internal/features/authserver"
	"github.com/gatehouse-proxy/gatehouse/internal/features/authserver/upstream"
)

// name is that of the module that serves them all: http.handlers.gatehouse_oauth.
const name = "oauth"

var (
	metadataEndpoint = open(http.MethodGet, func(s *programs.SignIns) serve { return s.Server.ServeMetadata })
	resourceEndpoint = open(http.MethodGet, func(s *programs.SignIns) serve { return s.Server.ServeResource })
	registerEndpoint = open(http.MethodPost, func(s *programs.SignIns) serve { return s.Server.ServeRegister })
	deviceEndpoint   = open(http.MethodPost, func(s *programs.SignIns) serve { return s.Server.ServeDevice })
	tokenEndpoint    = open(http.MethodPost, func(s *programs.SignIns) serve { return s.Server.ServeToken })
	revokeEndpoint   = open(http.MethodPost, func(s *programs.SignIns) serve { return s.Server.ServeRevoke })
	askEndpoint      = open(http.MethodGet, func(s *programs.SignIns) serve { return s.Pages.ServeAuthorize })
	answerEndpoint   = open(http.MethodPost, func(s *programs.SignIns) serve { return s.Pages.ServeAuthorize })
	pageEndpoint     = open(http.MethodGet, func(s *programs.SignIns) serve { return s.Pages.ServePage })
	decideEndpoint   = open(http.MethodPost, func(s *programs.SignIns) serve { return s.Pages.ServePage })
	styleEndpoint    = open(http.MethodGet, func(s *programs.SignIns) serve { return s.Pages.ServeStyle })
	callbackEndpoint = open(http.MethodGet, func(s *programs.SignIns) serve { return s.ServeCallback })
)

// Those of Claude Code's gateway protocol.
var (
	managedEndpoint   = &handlers.Operation{Name: "managed_settings", Method: http.MethodGet, Serve: serveManaged}
	usageEndpoint     = &handlers.Operation{Name: "oauth_usage", Method: http.MethodGet, Serve: serveUsage}
	telemetryEndpoint = &handlers.Operation{Name: "telemetry", Method: http.MethodPost, Serve: serveTelemetry}
)

func init() {
	handlers.Register(
		handlers.Route{Path: authserver.MetadataPath, API: api.OpenAI{}, Operation: metadataEndpoint},
		handlers.Route{Path: authserver.ResourcePath + authserver.MCPPath + "{id}", API: api.OpenAI{}, Operation: resourceEndpoint},
		handlers.Route{Path: authserver.RegisterPath, API: api.OpenAI{}, Operation: registerEndpoint},
		handlers.Route{Path: authserver.AuthorizePath, API: api.OpenAI{}, Operation: askEndpoint},
		handlers.Route{Path: authserver.AuthorizePath, API: api.OpenAI{}, Operation: answerEndpoint},
		handlers.Route{Path: authserver.DevicePath, API: api.OpenAI{}, Operation: deviceEndpoint},
		handlers.Route{Path: authserver.TokenPath, API: api.OpenAI{}, Operation: tokenEndpoint},
		handlers.Route{Path: authserver.RevokePath, API: api.OpenAI{}, Operation: revokeEndpoint},
		handlers.Route{Path: authserver.PagePath, API: api.OpenAI{}, Operation: pageEndpoint},
		handlers.Route{Path: authserver.PagePath, API: api.OpenAI{}, Operation: decideEndpoint},
		handlers.Route{Path: upstream.CallbackPath, API: api.OpenAI{}, Operation: callbackEndpoint},
		handlers.Route{Path: authserver.StylePath, API: api.OpenAI{}, Operation: styleEndpoint},
		handlers.Route{Path: "/managed/settings", API: api.Anthropic{}, Operation: managedEndpoint},
		handlers.Route{Path: authserver.UsagePath, API: api.Anthropic{}, Operation: usageEndpoint},
		handlers.Route{Path: "/v1/metrics", API: api.Anthropic{}, Operation: telemetryEndpoint},
		handlers.Route{Path: "/v1/logs", API: api.Anthropic{}, Operation: telemetryEndpoint},
		handlers.Route{Path: "/v1/traces", API: api.Anthropic{}, Operation: telemetryEndpoint},
	)
}

// serve is what serves an endpoint.
type serve = http.HandlerFunc

// open is an operation for everybody, who is about to sign in.
func open(method string, of func(*programs.SignIns) serve) *handlers.Operation {
	o := &handlers.Operation{Name: name, Method: method, Serve: func(x *handlers.Request) error {
		s, err := handlers.Part[*programs.SignIns](x)
		if err != nil {
			return err
		}
		of(s)(x.Writer, x.HTTP)
		return nil
	}}
	handlers.Open(o)
	return o
}

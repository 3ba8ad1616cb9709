package caddymodule

import (
	"embed"

	_ "github.com/gatehouse-proxy/gatehouse/caddymodule/schema" // registers the command schema
	_ "github.com/gatehouse-proxy/gatehouse/handlers/openapi"   // serves the description of the API
	"github.com/gatehouse-proxy/gatehouse/internal/caddykit"
)

//go:embed *.go
var sources embed.FS

// The comments of the options are their descriptions in the schema of the configuration.
func init() { caddykit.AddSource(App{}, sources) }

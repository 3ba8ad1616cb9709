package handlers

import (
	"embed"

	"github.com/gatehouse-proxy/gatehouse/internal/caddykit"
)

//go:embed auth.go endpoint.go gatehouse.go health.go
var sources embed.FS

// The comments of the options are their descriptions in the schema of the configuration.
func init() { caddykit.AddSource(Gatehouse{}, sources) }

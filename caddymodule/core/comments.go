package core

import (
	"embed"

	"github.com/gatehouse-proxy/gatehouse/internal/caddykit"
)

//go:embed *.go
var sources embed.FS

// The comments of the options are their descriptions in the schema of the configuration.
func init() { caddykit.AddSource(App{}, sources) }

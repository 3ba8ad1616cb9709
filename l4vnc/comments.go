package l4vnc

import (
	"embed"

	"github.com/gatehouse-proxy/gatehouse/internal/caddykit"
)

//go:embed handler.go matcher.go
var sources embed.FS

// The comments of the options are their descriptions in the schema of the configuration.
func init() { caddykit.AddSource(Handler{}, sources) }

// Package console is the pages for people, and who is signed in there.
package console

import (
	"embed"

	"github.com/gatehouse-proxy/gatehouse/caddymodule/core"
	_ "github.com/gatehouse-proxy/gatehouse/handlers/console" // its module
	"github.com/gatehouse-proxy/gatehouse/internal/caddykit"
	"github.com/gatehouse-proxy/gatehouse/internal/features/console"
	"github.com/gatehouse-proxy/gatehouse/internal/gateway"
)

//go:embed *.go
var sources embed.FS

func init() { core.Register("console", func() core.Feature { return new(Feature) }, sources) }

// Feature has no members: the console is configured where it is served.
type Feature struct{}

// Options implements [core.Feature].
func (*Feature) Options() caddykit.Options { return nil }

// Build implements [core.Feature].
func (*Feature) Build(b *core.Build) error {
	b.Add(func(c gateway.Core, _ []gateway.Feature) gateway.Feature { return console.Feature(c) })
	return nil
}

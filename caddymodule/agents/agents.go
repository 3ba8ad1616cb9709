// Package agents is what vnc says of desktops that agents use, with their endpoints.
package agents

import (
	"embed"
	"errors"
	"net/http"

	"github.com/gatehouse-proxy/gatehouse/caddymodule/core"
	_ "github.com/gatehouse-proxy/gatehouse/caddymodule/mcp" // an agent may use desktops as tools
	_ "github.com/gatehouse-proxy/gatehouse/handlers/agents" // its endpoints
	"github.com/gatehouse-proxy/gatehouse/internal/caddykit"
	"github.com/gatehouse-proxy/gatehouse/internal/features/agents"
	"github.com/gatehouse-proxy/gatehouse/internal/gateway"
	"github.com/gatehouse-proxy/gatehouse/internal/mcp/desktops"
	"github.com/gatehouse-proxy/gatehouse/internal/screen"
)

//go:embed *.go
var sources embed.FS

func init() { core.Register("agents", func() core.Feature { return new(Feature) }, sources) }

// Feature is the members of vnc.
type Feature struct {
	// AutomationMemory bounds the memory of the pictures of agents' desktops, in bytes: four a
	// pixel, and the last PNG. Default: 256 MiB.
	AutomationMemory int64 `json:"automation_memory,omitempty"`

	// AutomationSessions bounds the desktops that agents have open at a time. Default: 64.
	AutomationSessions int `json:"automation_sessions,omitempty"`
}

// Options implements [core.Feature].
func (f *Feature) Options() caddykit.Options {
	return caddykit.Options{
		"automation_memory":   caddykit.Value(&f.AutomationMemory, caddykit.ParseSize),
		"automation_sessions": caddykit.Value(&f.AutomationSessions, caddykit.ParseCount),
	}
}

// Build implements [core.Feature].
func (f *Feature) Build(b *core.Build) error {
	if f.AutomationMemory < 0 || f.AutomationSessions < 0 {
		return errors.New("vnc: automation_memory, automation_sessions: the number is negative")
	}
	bounds := screen.Limits{Memory: f.AutomationMemory, Sessions: f.AutomationSessions}
	b.Add(func(c gateway.Core, before []gateway.Feature) gateway.Feature {
		return agents.Feature(c, before, bounds)
	})
	return nil
}

// DesktopTools is the MCP server of desktops.
func (*Feature) DesktopTools() http.RoundTripper { return desktops.New() }

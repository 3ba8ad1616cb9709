// Package demo is what a gateway is tried with, without a network or an account: providers of the
// dialect test, workstations that are a test card, and the demo of MCP servers.
package demo

import (
	"context"
	"embed"
	"net"
	"net/http"
	"time"

	"github.com/gatehouse-proxy/gatehouse/caddymodule/core"
	"github.com/gatehouse-proxy/gatehouse/internal/caddykit"
	"github.com/gatehouse-proxy/gatehouse/internal/catalog"
	"github.com/gatehouse-proxy/gatehouse/internal/mcp/demo"
	"github.com/gatehouse-proxy/gatehouse/internal/testcard"
	"github.com/gatehouse-proxy/gatehouse/internal/testprovider"
)

//go:embed *.go
var sources embed.FS

func init() { core.Register("demo", func() core.Feature { return new(Feature) }, sources) }

// Feature has no members: blocks of other features say where it is used.
type Feature struct{}

// Options implements [core.Feature].
func (*Feature) Options() caddykit.Options { return nil }

// Build implements [core.Feature].
func (*Feature) Build(*core.Build) error { return nil }

// parameters are those that the provider supports.
var parameters = []string{"max_tokens", "n", "response_format", "stop", "structured_outputs", "tool_choice", "tools"}

// TestProvider implements [core.TestProvider].
func (*Feature) TestProvider() (http.RoundTripper, []catalog.Model) {
	var listed []catalog.Model
	for _, m := range testprovider.Models() {
		model := catalog.Model{
			Name: m.ID, Description: m.Description, Created: testprovider.Created, OwnedBy: "gatehouse", Mode: catalog.ModeEmbedding,
		}
		if !m.Embeds {
			model.Mode, model.MaxOutput, model.SupportedParameters = catalog.ModeChat, testprovider.MaxOutputTokens, parameters
			model.InputModalities = []string{"text", "image", "file", "audio"}
		}
		listed = append(listed, model)
	}
	return &testprovider.Transport{}, listed
}

// TestCard implements [core.TestCard].
func (*Feature) TestCard(ctx context.Context, conn net.Conn, name string) error {
	return testcard.Serve(ctx, conn, name)
}

// DemoTools is the demo of MCP servers.
func (*Feature) DemoTools() http.RoundTripper { return demo.New(time.Now) }

package mcp

import (
	"net/http"

	"github.com/gatehouse-proxy/gatehouse/caddymodule/core"
)

// builtInURL is the address of the built-in servers. Nothing is ever dialled.
const builtInURL = "http://built-in.invalid/mcp"

// desktopsResult is the longest result of the server of desktops by default: a picture.
const desktopsResult = 8 << 20

// builtIn is the built-in server that the block names, nil if it names none.
func (m *MCPServer) builtIn(b *core.Build) (http.RoundTripper, error) {
	switch {
	case m.Demo:
		if demo, ok := core.Offer[interface{ DemoTools() http.RoundTripper }](b); ok {
			return demo.DemoTools(), nil
		}
		return nil, core.NotInBuild("demo", "demo")
	case m.Desktops:
		if agents, ok := core.Offer[interface{ DesktopTools() http.RoundTripper }](b); ok {
			return agents.DesktopTools(), nil
		}
		return nil, core.NotInBuild("desktops", "agents")
	}
	return nil, nil
}

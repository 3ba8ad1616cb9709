package mcp_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/gatehouse-proxy/gatehouse/internal/features/mcp"
	"github.com/gatehouse-proxy/gatehouse/internal/gateway"
	"github.com/gatehouse-proxy/gatehouse/internal/testkit/handlerstest"
	"github.com/gatehouse-proxy/gatehouse/internal/toolserver"
)

// startServers starts a configuration with a server at an address.
func startServers(t *testing.T, state *gateway.State, address string) (*gateway.Gateway, *toolserver.Server) {
	t.Helper()
	server, err := toolserver.New(toolserver.Config{Name: "crm", URL: address, Transport: http.DefaultTransport, Now: time.Now})
	handlerstest.Must(t, err)
	servers, err := toolserver.NewServers([]*toolserver.Server{server})
	handlerstest.Must(t, err)
	g := handlerstest.Start(t, handlerstest.Setup{State: state, Features: func(c gateway.Core) []gateway.Feature {
		return []gateway.Feature{mcp.New(c, servers).Feature()}
	}})
	return g, server
}

// What is known of a server outlives a configuration, also one whose reload was rolled back.
func TestTheHealthOfAServerOutlivesAConfiguration(t *testing.T) {
	state := gateway.NewState(t.TempDir(), time.Now)
	registry := prometheus.NewPedanticRegistry()
	handlerstest.Must(t, state.Metrics.Register(registry))
	up := func() (value float64, shown bool) {
		families, err := registry.Gather()
		handlerstest.Must(t, err)
		for _, f := range families {
			if f.GetName() == "gatehouse_mcp_server_up" {
				return f.GetMetric()[0].GetGauge().GetValue(), true
			}
		}
		return 0, false
	}
	_, first := startServers(t, state, "https://a.invalid/mcp")
	if _, shown := up(); shown {
		t.Error("a server is shown that was not asked")
	}
	first.Failed("upstream_timeout")
	if value, shown := up(); !shown || value != 0 {
		t.Errorf("up is %v, %v", value, shown)
	}
	rolledBack, moved := startServers(t, state, "https://b.invalid/mcp")
	if h := moved.Health(); h.State != toolserver.Unknown {
		t.Errorf("at another address: %+v", h)
	}
	rolledBack.Close()
	_, second := startServers(t, state, "https://a.invalid/mcp")
	if h := second.Health(); h.State != toolserver.Failing || h.LastError != "upstream_timeout" {
		t.Errorf("at the same address: %+v", h)
	}
	second.Succeeded()
	if value, shown := up(); !shown || value != 1 {
		t.Errorf("up is %v, %v", value, shown)
	}
}

package admin

import (
	"context"
	"net/http"

	"github.com/gatehouse-proxy/gatehouse/caddymodule/why"
	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/gateway"
	"github.com/gatehouse-proxy/gatehouse/internal/report"
)

// readHealth shows what /readyz shows, with causes: since when, why, and what to do.
func readHealth(active *gateway.Gateway, _ *http.Request) (any, error) {
	return gateway.ReadCondition(active), nil
}

// serveDrain shows whether the process exits and which desktops it waits for, and ends them.
func serveDrain(w http.ResponseWriter, r *http.Request) error {
	if r.Method != http.MethodDelete {
		return method{http.MethodGet, func(active *gateway.Gateway, _ *http.Request) (any, error) {
			return gateway.VNCOf(active).DrainStatus(), nil
		}}.ServeHTTP(w, r)
	}
	return method{http.MethodDelete, func(active *gateway.Gateway, _ *http.Request) (any, error) {
		if !gateway.VNCOf(active).EndDrain() {
			return nil, apierror.New(apierror.NotFound, "this Caddy does not stop, so there is nothing to end: stop it first")
		}
		return nil, nil
	}}.ServeHTTP(w, r)
}

// readCluster shows what this gateway shares with others, and how that is.
func readCluster(active *gateway.Gateway, _ *http.Request) (any, error) {
	shared, ok := gateway.Offered[cluster](active)
	if !ok {
		return nil, apierror.New(apierror.NotFound, "this build has no clusters")
	}
	return shared.Cluster()
}

// cluster is what a gateway says of the others.
type cluster interface {
	Cluster() (report.ClusterStatus, error)
}

// listServers lists the MCP servers with their health, or the tools of one of them.
func listServers(active *gateway.Gateway, r *http.Request) (any, error) {
	q, err := query(r, "server")
	if err != nil {
		return nil, err
	}
	servers, ok := gateway.Offered[toolServers](active)
	if !ok {
		return nil, apierror.New(apierror.NotFound, "this build has no MCP servers")
	}
	return servers.Show(r.Context(), q.Get("server"))
}

// toolServers are the MCP servers of a gateway.
type toolServers interface {
	// Show returns all of them, or with a name the tools of one.
	Show(ctx context.Context, server string) (any, error)
}

// explain shows what happened to one call or session.
func explain(active *gateway.Gateway, r *http.Request) (any, error) {
	id := r.URL.Query().Get("id")
	if id == "" {
		return nil, apierror.New(apierror.MissingParameter, "id is missing")
	}
	if err := active.Ready(r.Context()); err != nil {
		return nil, err
	}
	return why.Find(r.Context(), active, id)
}

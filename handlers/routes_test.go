package handlers

import (
	"slices"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/api"
)

// Each endpoint has one name a family, whatever the path: the values of a metric's label are
// bounded.
func TestEveryRouteHasItsName(t *testing.T) {
	for _, r := range routes {
		name := routeName(r.api, r.endpoint)
		if !slices.ContainsFunc(routes, func(other route) bool {
			return other.endpoint == r.endpoint && other.api == r.api && name == other.endpoint.method+" "+other.path
		}) {
			t.Errorf("%s: %q is no route of the same endpoint", r.path, name)
		}
	}
	for _, c := range []struct {
		api      api.API
		endpoint *endpoint
		want     string
	}{
		{api.OpenAI{}, modelsEndpoint, "GET /v1/models"}, // the first of its paths
		{api.OpenRouter{}, modelsEndpoint, "GET /api/v1/models"},
		{api.OpenAI{}, keyEndpoint, "GET key"}, // only OpenRouter has it
	} {
		if got := routeName(c.api, c.endpoint); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}

package handlers

import (
	"slices"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/api"
)

// Each endpoint has one name a family, whatever the path: the values of a metric's label are
// bounded.
func TestEveryRouteHasItsName(t *testing.T) {
	for _, r := range registered {
		name := routeName(r.API, r.Operation)
		if !slices.ContainsFunc(registered, func(other Route) bool {
			return other.Operation == r.Operation && other.API == r.API && name == other.Operation.Method+" "+other.Path
		}) {
			t.Errorf("%s: %q is no route of the same endpoint", r.Path, name)
		}
	}
	for _, c := range []struct {
		api      api.API
		endpoint *Operation
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

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

// Features register in no fixed order.
func TestWhatFollowsTheNameOfAModelIsFoundFirst(t *testing.T) {
	one, count := &Operation{Name: "one", Method: "GET"}, &Operation{Name: "count", Method: "POST"}
	rows := []Route{{"/x/", api.Google{}, one}, {"/x/{model}:count", api.Google{}, count}}
	for range 2 {
		m := newTable(rows).models
		if len(m) != 2 || m[0].operations[0] != count || m[1].operations[0] != one {
			t.Errorf("%+v", m)
		}
		slices.Reverse(rows)
	}
}

func TestANameOfOneFamilyBelongsToIt(t *testing.T) {
	operation := func(name string) *Operation { return &Operation{Name: name} }
	table := newTable([]Route{
		{"/a", api.Anthropic{}, operation("a")}, {"/a/b", api.Anthropic{}, operation("a")},
		{"/b", api.Google{}, operation("b")}, {"/c", api.Anthropic{}, operation("b")}, {"/d", api.Google{}, operation("b")},
		{"/e", api.OpenAI{}, operation("c")}, {"/f", api.OpenRouter{}, operation("d")},
	})
	for name, want := range map[string]api.API{"a": api.Anthropic{}, "b": nil, "c": nil, "d": nil, "e": nil} {
		if got := table.owners[name]; got != want {
			t.Errorf("%s belongs to %v, want %v", name, got, want)
		}
	}
}

func TestNoRouteIsRegisteredOnceTheTableIsInUse(t *testing.T) {
	theTable()
	defer func() {
		if recover() == nil {
			t.Error("it is registered")
		}
	}()
	Register(Route{"/late", api.OpenAI{}, &Operation{Name: "late"}})
}

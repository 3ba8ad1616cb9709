package failover_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/failover"
)

// options are those of the tests: prices in USD per million tokens, a router, one without a price.
var options = map[string]failover.Option{
	"openai":   {Provider: "openai", Priced: true, Prompt: 2e9, Completion: 8e9},
	"azure-e":  {Provider: "azure", Endpoint: "East", Priced: true, Prompt: 3e9, Completion: 8e9},
	"azure-w":  {Provider: "azure", Endpoint: "west", Priced: true, Prompt: 3e9, Completion: 8e9},
	"claude":   {Provider: "anthropic", Priced: true, Prompt: 3e9, Completion: 15e9},
	"router":   {Provider: "router", OpenRouter: true, Priced: true, Prompt: 9e9, Completion: 9e9},
	"unpriced": {Provider: "local"},
}

// layout is the targets of models: "a b | c ; d" are the groups a b and c of one model and the group
// d of the next.
func layout(text string) (models [][][]string) {
	for _, m := range strings.Split(text, ";") {
		var groups [][]string
		for _, g := range strings.Split(m, "|") {
			groups = append(groups, strings.Fields(g))
		}
		models = append(models, groups)
	}
	return models
}

func groupText(groups [][]string) string {
	var parts []string
	for _, g := range groups {
		parts = append(parts, strings.Join(g, " "))
	}
	return strings.Join(parts, " | ")
}

func price(usd float64) *int64 {
	nano := int64(usd * 1e9)
	return &nano
}

func TestRoutingFiltersAndSorts(t *testing.T) {
	const team = "openai azure-e azure-w | claude | router unpriced"
	for name, c := range map[string]struct {
		routing failover.Routing
		models  string
		want    string
	}{
		"nothing said":           {failover.Routing{}, team, team},
		"models in turn":         {failover.Routing{}, "openai ; claude | router", "openai | claude | router"},
		"only":                   {failover.Routing{Only: []string{"azure", "anthropic", "unknown"}}, team, "azure-e azure-w | claude"},
		"only an endpoint":       {failover.Routing{Only: []string{"azure/east"}}, team, "azure-e"},
		"ignore":                 {failover.Routing{Ignore: []string{"openai", "azure/west", "router"}}, team, "azure-e | claude | unpriced"},
		"order":                  {failover.Routing{Order: []string{"router", "unknown", "azure"}}, team, "router | azure-e azure-w | openai | claude | unpriced"},
		"order without others":   {failover.Routing{Order: []string{"router", "azure/west"}, NoFallbacks: true}, team, "router | azure-w"},
		"order, each model":      {failover.Routing{Order: []string{"azure"}}, "openai azure-e ; claude azure-w", "azure-e | openai | azure-w | claude"},
		"by price":               {failover.Routing{ByPrice: true}, team, "openai | azure-e azure-w | claude router | unpriced"},
		"by price, each model":   {failover.Routing{ByPrice: true}, "router ; azure-e openai", "router | openai | azure-e"},
		"by price, all models":   {failover.Routing{ByPrice: true, AllByPrice: true}, "router ; azure-e openai", "openai | azure-e | router"},
		"order, then price":      {failover.Routing{ByPrice: true, Order: []string{"anthropic"}}, team, "claude | openai | azure-e azure-w | router | unpriced"},
		"prompt price":           {failover.Routing{MaxPrompt: price(2)}, team, "openai | router"},
		"completion price":       {failover.Routing{MaxCompletion: price(14)}, team, "openai azure-e azure-w | router"},
		"what a router can":      {failover.Routing{RouterOnly: []string{"provider.zdr"}}, team, "router"},
		"a model without target": {failover.Routing{Only: []string{"openai"}}, "claude ; openai", "openai"},
	} {
		t.Run(name, func(t *testing.T) {
			routed, err := failover.Apply(&c.routing, layout(c.models), func(id string) failover.Option { return options[id] }, func(string, string) {})
			if err != nil || groupText(routed.Groups) != c.want {
				t.Errorf("%s, %v, want %s", groupText(routed.Groups), err, c.want)
			}
		})
	}
}

func TestRoutingThatLeavesNoTargetIsRefusedByName(t *testing.T) {
	for want, r := range map[string]failover.Routing{
		"provider.only":                 {Only: []string{"router"}},
		"provider.ignore":               {Ignore: []string{"openai", "azure"}},
		"provider.order":                {Order: []string{"anthropic"}, NoFallbacks: true},
		"provider.data_collection":      {RouterOnly: []string{"provider.data_collection"}},
		"provider.max_price.prompt":     {MaxPrompt: price(1)},
		"provider.max_price.completion": {MaxPrompt: price(2), MaxCompletion: price(7.5)},
	} {
		_, err := failover.Apply(&r, layout("openai | azure-e"), func(id string) failover.Option { return options[id] }, func(string, string) {})
		if e := apierror.From(err); err == nil || e.Param != want || e.Code != apierror.InvalidValue || !strings.Contains(e.Message, want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
	refusal := apierror.New(apierror.UnsupportedParameter, "no")
	if _, err := failover.Apply(&failover.Routing{Refusal: refusal}, layout("openai"), func(id string) failover.Option { return options[id] }, func(string, string) {}); err != refusal {
		t.Errorf("the refusal is lost: %v", err)
	}
}

// A target that a field of the request leaves out is named with the field, also if none is left.
func TestRoutingNamesWhatItLeavesOut(t *testing.T) {
	for want, r := range map[string]failover.Routing{
		"openai provider.only, claude provider.only, azure-w provider.ignore":                  {Only: []string{"azure"}, Ignore: []string{"azure/west"}},
		"openai provider.zdr, azure-e provider.zdr, azure-w provider.zdr, claude provider.zdr": {RouterOnly: []string{"provider.zdr"}},
	} {
		var left []string
		_, err := failover.Apply(&r, layout("openai azure-e azure-w | claude"), func(id string) failover.Option { return options[id] }, func(id, field string) {
			left = append(left, id+" "+field)
		})
		if got := strings.Join(left, ", "); got != want || (err != nil) != (len(left) == 4) {
			t.Errorf("%s, %v\nwant %s", got, err, want)
		}
	}
}

func TestWithoutFallbacksEachModelHasOneTarget(t *testing.T) {
	limit := func(r failover.Routing) (allowed, passed, barred []failover.Pick) {
		models := layout("openai azure-e | claude ; router | unpriced")
		routed, err := failover.Apply(&r, models, func(id string) failover.Option { return options[id] }, func(string, string) {})
		if err != nil {
			t.Fatal(err)
		}
		return routed.Limit([]failover.Pick{{0, 1, 1}, {3, 0, 4}, {0, 0, 0}, {1, 0, 2}, {2, 0, 3}}) // the last three cool
	}
	allowed, passed, barred := limit(failover.Routing{NoFallbacks: true})
	if !slices.Equal(allowed, []failover.Pick{{0, 1, 1}, {3, 0, 4}}) || !slices.Equal(passed, []failover.Pick{{0, 0, 0}, {2, 0, 3}}) ||
		!slices.Equal(barred, []failover.Pick{{1, 0, 2}}) {
		t.Errorf("allowed %v, passed %v, barred %v", allowed, passed, barred)
	}
	if allowed, passed, barred := limit(failover.Routing{}); len(allowed) != 5 || passed != nil || barred != nil {
		t.Errorf("allowed %v, passed %v, barred %v", allowed, passed, barred)
	}
}

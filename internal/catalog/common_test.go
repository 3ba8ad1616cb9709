package catalog_test

import (
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/catalog"
	"github.com/gatehouse-proxy/gatehouse/internal/units"
)

func TestCommonShowsWhatAllModelsHave(t *testing.T) {
	text, vision := []string{"text"}, []string{"text", "image"}
	big := catalog.Model{
		ID: "a/big", Provider: "a", Name: "big", DisplayName: "Big", Description: "big", Mode: "chat", Created: 5, ContextLength: 200, MaxOutput: 10, Known: true,
		InputModalities: vision, OutputModalities: text, SupportedParameters: []string{"tools", "stop"}, OwnedBy: "a", Price: priced(2, 10),
	}
	small := catalog.Model{
		ID: "b/small", Provider: "b", Name: "small", Mode: "responses", Created: 7, ContextLength: 100, MaxOutput: 20, Known: true, Moderated: true,
		InputModalities: text, OutputModalities: text, SupportedParameters: []string{"stop", "n"}, OwnedBy: "b", Price: priced(3, 4),
	}
	want := catalog.Model{
		ID: "fast", Name: "fast", DisplayName: "fast", Mode: "chat", Created: 7, ContextLength: 100, MaxOutput: 10, Known: true, Moderated: true,
		InputModalities: text, OutputModalities: text, SupportedParameters: []string{"stop"}, OwnedBy: "gatehouse",
	}
	got := catalog.Common("fast", []catalog.Model{big, small})
	if got.Price == nil || got.Price.Prompt != catalog.Quoted(3) || got.Price.Completion != catalog.Quoted(10) {
		t.Errorf("price %+v", got.Price)
	}
	if got.Price = nil; !reflect.DeepEqual(got, want) {
		t.Errorf("got\n%+v\nwant\n%+v", got, want)
	}
	if !slices.Equal(big.SupportedParameters, []string{"tools", "stop"}) {
		t.Errorf("the model itself changed: %v", big.SupportedParameters)
	}
	unknown := catalog.Model{Mode: "chat"}
	if got := catalog.Common("fast", []catalog.Model{big, unknown}); got.ContextLength != 200 || got.MaxOutput != 10 || got.Price != nil || got.Known {
		t.Errorf("beside one of which nothing is known: %+v", got)
	}
	if got := catalog.Common("fast", []catalog.Model{big}); got.Price != big.Price || got.OwnedBy != "gatehouse" || got.ID != "fast" {
		t.Errorf("of one: %+v", got)
	}
}

func priced(prompt, completion catalog.Rate) *catalog.Price {
	return &catalog.Price{Rates: catalog.Rates{Prompt: catalog.Quoted(prompt), Completion: catalog.Quoted(completion)}}
}

// What a list shows for an alias is a bound of what a call of it costs.
func TestNoModelCostsMoreThanTheDearestPrice(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	known := 0
	for range 20_000 {
		a, b := randomPrice(r), randomPrice(r)
		both := catalog.Common("x", []catalog.Model{{Price: a}, {Price: b}}).Price
		u := catalog.Tokens{Prompt: r.Int64N(3000), Completion: r.Int64N(3000), KeptLong: r.IntN(2) == 0}
		u.Cached = r.Int64N(u.Prompt + 1)
		u.CacheWrite = r.Int64N(u.Prompt - u.Cached + 1)
		u.Reasoning = r.Int64N(u.Completion + 1)
		if r.IntN(2) == 0 {
			randomUnits(r, &u)
			u.Units[units.Queries], u.Units[units.Images] = r.Int64N(2), r.Int64N(2)
		}
		bound, ok := both.CostNano(u)
		costA, okA := a.CostNano(u)
		costB, okB := b.CostNano(u)
		if okA && okB && (!ok || bound < max(costA, costB)) {
			t.Fatalf("%+v costs %d %v and %d %v, by the dearest price %d %v; %+v and %+v make %+v", u, costA, okA, costB, okB, bound, ok, a, b, both)
		}
		if ok {
			known++
		}
	}
	if known < 1000 {
		t.Errorf("only %d prices could be judged", known)
	}
}

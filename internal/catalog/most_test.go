package catalog_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/catalog"
	"github.com/gatehouse-proxy/gatehouse/internal/units"
)

func TestTheMostACallCanCost(t *testing.T) {
	price := &catalog.Price{
		Rates: catalog.Rates{Prompt: usd(t, "1e-06"), Completion: usd(t, "1e-05"), CacheRead: usd(t, "1e-07"), CacheWrite: usd(t, "2e-06"), Reasoning: usd(t, "2e-05"), Units: catalog.UnitRates{units.AudioInput: usd(t, "1e-04")}},
		Tiers: []catalog.Tier{{From: 1000, Rates: catalog.Rates{Prompt: usd(t, "3e-06"), Completion: usd(t, "4e-05")}}},
	}
	for _, c := range []struct {
		name string
		most catalog.Most
		want int64
		ok   bool
	}{
		{"nothing", catalog.Most{}, 0, true},
		{"all written to the cache, all reasoning", catalog.Most{Prompt: 100, Completion: 10}, 100*2000 + 10*20000, true},
		{"audio may be in it", catalog.Most{Prompt: 100, Units: units.Counts{units.AudioInput: 1}}, 100 * 100000, true},
		{"units without a rate beside tokens", catalog.Most{Prompt: 100, Units: units.Counts{units.Images: 1}}, 100 * 2000, true},
		{"units without a rate alone", catalog.Most{Units: units.Counts{units.Images: 1}}, 0, false},
		{"audio out has no rate", catalog.Most{Completion: 1, Units: units.Counts{units.AudioOutput: 1}}, 0, false},
		{"a tier may be reached", catalog.Most{Prompt: 1000, Completion: 10}, 1000*3000 + 10*40000, true},
		{"more than fits", catalog.Most{Prompt: math.MaxInt64, Completion: 1}, 0, false},
		{"negative", catalog.Most{Prompt: -1}, 0, false},
	} {
		if got, ok := price.MostNano(c.most); got != c.want && ok || ok != c.ok {
			t.Errorf("%s: %d %v, want %d %v", c.name, got, ok, c.want, c.ok)
		}
	}
	var unknown *catalog.Price
	if _, ok := unknown.MostNano(catalog.Most{Prompt: 1}); ok {
		t.Error("no price is a price")
	}
}

// randomPrice returns a price with tiers and gaps.
func randomPrice(r *rand.Rand) *catalog.Price {
	quote := func() catalog.Quote {
		if r.IntN(4) == 0 {
			return catalog.Quote{}
		}
		return catalog.Quoted(catalog.Rate(r.Int64N(1e11)))
	}
	rates := func() catalog.Rates {
		return catalog.Rates{Prompt: quote(), Completion: quote(), CacheRead: quote(), CacheWrite: quote(), CacheHour: quote(), Reasoning: quote(), Units: randomUnitRates(quote)}
	}
	price := &catalog.Price{Rates: rates()}
	for from := r.Int64N(1000); r.IntN(2) == 0; from += 1 + r.Int64N(1000) {
		price.Tiers = append(price.Tiers, catalog.Tier{From: from, Rates: rates()})
	}
	return price
}

func randomUnitRates(quote func() catalog.Quote) (all catalog.UnitRates) {
	for i := range all {
		all[i] = quote()
	}
	return all
}

// randomUnits sets units that are tokens, also of those of u that were cached or are of thoughts.
func randomUnits(r *rand.Rand, u *catalog.Tokens) {
	input, output := u.Prompt, u.Completion
	u.Units[units.AudioInput], u.Units[units.AudioOutput] = r.Int64N(input+1), r.Int64N(output+1)
	u.Units[units.ImageInput] = r.Int64N(input - u.Units[units.AudioInput] + 1)
	u.Units[units.ImageOutput] = r.Int64N(output - u.Units[units.AudioOutput] + 1)
}

// No usage within the bounds costs more than MostNano.
func TestNoUsageCostsMoreThanTheMost(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	known := 0
	for range 20_000 {
		price := randomPrice(r)
		most := catalog.Most{Prompt: r.Int64N(3000), Completion: r.Int64N(3000)}
		for i := range most.Units {
			most.Units[i] = r.Int64N(2) * r.Int64N(9)
		}
		bound, ok := price.MostNano(most)
		if !ok {
			continue
		}
		known++
		u := catalog.Tokens{Prompt: r.Int64N(most.Prompt + 1), Completion: r.Int64N(most.Completion + 1)}
		u.Cached = r.Int64N(u.Prompt + 1)
		u.CacheWrite = r.Int64N(u.Prompt - u.Cached + 1)
		u.Reasoning = r.Int64N(u.Completion + 1)
		randomUnits(r, &u)
		for i, n := range most.Units {
			switch units.Unit(i) {
			case units.Queries, units.Images, units.Characters, units.Millis:
				u.Units[i] = r.Int64N(n + 1)
			default:
				u.Units[i] *= min(n, 1)
			}
		}
		noTokens := u.Prompt+u.Completion == 0 && u.Units != units.Counts{}
		if cost, ok := price.CostNano(u); !ok && !noTokens || cost > bound {
			t.Fatalf("%+v of %+v costs %d (%v), more than %d; %+v", u, most, cost, ok, bound, price)
		}
	}
	if known < 1000 {
		t.Errorf("only %d prices could be judged", known)
	}
}

func TestReportedCostsAreRead(t *testing.T) {
	for text, want := range map[string]int64{"0": 0, "0.00012": 120_000, "1.5e-9": 2, "1e-10": 1, "12": 12_000_000_000} {
		if got, err := catalog.ParseUSD(text); err != nil || got != want {
			t.Errorf("%s: %d %v, want %d", text, got, err, want)
		}
	}
	for _, text := range []string{"", "-1", "x", "NaN", "1e99"} {
		if got, err := catalog.ParseUSD(text); err == nil {
			t.Errorf("%q: %d", text, got)
		}
	}
}

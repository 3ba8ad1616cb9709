package catalog_test

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/catalog"
	"github.com/gatehouse-proxy/gatehouse/internal/units"
)

// usd returns a known quote from USD per token.
func usd(t testing.TB, text string) catalog.Quote {
	t.Helper()
	rate, err := catalog.ParseRate(text)
	if err != nil {
		t.Fatal(err)
	}
	return catalog.Quoted(rate)
}

func TestCostNano(t *testing.T) {
	plain := &catalog.Price{Rates: catalog.Rates{Prompt: usd(t, "2.5e-06"), Completion: usd(t, "1e-05")}}
	full := &catalog.Price{Rates: catalog.Rates{
		Prompt: usd(t, "3e-06"), Completion: usd(t, "1.5e-05"),
		CacheRead: usd(t, "3e-07"), CacheWrite: usd(t, "3.75e-06"), Reasoning: usd(t, "2e-05"),
		Units: catalog.UnitRates{units.AudioInput: usd(t, "4e-05"), units.AudioOutput: usd(t, "8e-05")},
	}}
	hourly := &catalog.Price{Rates: catalog.Rates{
		Prompt: usd(t, "3e-06"), Completion: usd(t, "1.5e-05"), CacheWrite: usd(t, "3.75e-06"), CacheHour: usd(t, "6e-06"),
	}}
	tiny := &catalog.Price{Rates: catalog.Rates{Prompt: usd(t, "1e-15"), Completion: usd(t, "1e-15")}}
	spoken := &catalog.Price{Rates: catalog.Rates{Prompt: usd(t, "1e-06"), Completion: usd(t, "1e-06"), Units: catalog.UnitRates{units.Millis: usd(t, "1e-04")}}}
	for _, tc := range []struct {
		name   string
		price  *catalog.Price
		tokens catalog.Tokens
		want   int64
	}{
		{"nothing used", plain, catalog.Tokens{}, 0},
		{"prompt and completion", plain, catalog.Tokens{Prompt: 1000, Completion: 100}, 3_500_000},
		{"no cache rate: as prompt", plain, catalog.Tokens{Prompt: 1000, Cached: 400, CacheWrite: 100}, 2_500_000},
		{"no reasoning rate: as completion", plain, catalog.Tokens{Completion: 100, Reasoning: 60}, 1_000_000},
		{"cache rates", full, catalog.Tokens{Prompt: 1000, Cached: 400, CacheWrite: 100}, 500*3000 + 400*300 + 100*3750},
		{"kept for an hour", hourly, catalog.Tokens{Prompt: 1000, CacheWrite: 100, KeptLong: true}, 900*3000 + 100*6000},
		{"some kept for an hour", hourly, catalog.Tokens{Prompt: 1000, CacheWrite: 100, CacheHour: 40}, 900*3000 + 60*3750 + 40*6000},
		{"kept for minutes", hourly, catalog.Tokens{Prompt: 1000, CacheWrite: 100}, 900*3000 + 100*3750},
		{"kept for an hour, at no rate of its own", full, catalog.Tokens{Prompt: 1000, CacheWrite: 100, KeptLong: true}, 900*3000 + 100*3750},
		{"reasoning rate", full, catalog.Tokens{Completion: 100, Reasoning: 60}, 40*15000 + 60*20000},
		{"audio rates", full, catalog.Tokens{Prompt: 10, Completion: 10, Units: units.Counts{units.AudioInput: 4, units.AudioOutput: 3}}, 6*3000 + 4*40000 + 7*15000 + 3*80000},
		{"a unit that is no token", spoken, catalog.Tokens{Units: units.Counts{units.Millis: 9200}}, 920_000},
		{"less than a rate is for, rounded up", spoken, catalog.Tokens{Units: units.Counts{units.Millis: 1}}, 100},
		{"tokens or other units, whichever is dearer", spoken, catalog.Tokens{Completion: 1000, Units: units.Counts{units.Millis: 1000}}, 1_000_000},
		{"other units, if they are dearer", spoken, catalog.Tokens{Completion: 10, Units: units.Counts{units.Millis: 1000}}, 100_000},
		{"a unit without a rate beside tokens", plain, catalog.Tokens{Prompt: 1000, Units: units.Counts{units.Images: 1}}, 2_500_000},
		{"parts beside the whole are charged in full", full, catalog.Tokens{Prompt: 10, Cached: 400, Completion: 1, Reasoning: 60}, 400*300 + 60*20000},
		{"rounded up once, not for each kind", tiny, catalog.Tokens{Prompt: 1, Completion: 1}, 1},
		{"rounded up over the nano", tiny, catalog.Tokens{Prompt: 1_000_001}, 2},
		{"not rounded when whole", tiny, catalog.Tokens{Prompt: 1_000_000}, 1},
	} {
		if got, ok := tc.price.CostNano(tc.tokens); !ok || got != tc.want {
			t.Errorf("%s: CostNano(%+v) = %d, %v, want %d", tc.name, tc.tokens, got, ok, tc.want)
		}
	}
}

func TestUnknownPriceIsNeverZero(t *testing.T) {
	promptOnly := &catalog.Price{Rates: catalog.Rates{Prompt: usd(t, "1e-06")}}
	text := &catalog.Price{Rates: catalog.Rates{Prompt: usd(t, "1e-06"), Completion: usd(t, "1e-06")}}
	dear := &catalog.Price{Rates: catalog.Rates{Prompt: catalog.Quoted(math.MaxInt64), Completion: catalog.Quoted(math.MaxInt64)}}
	for _, tc := range []struct {
		name   string
		price  *catalog.Price
		tokens catalog.Tokens
	}{
		{"no price", nil, catalog.Tokens{Prompt: 1}},
		{"no price, nothing used", nil, catalog.Tokens{}},
		{"zero value", &catalog.Price{}, catalog.Tokens{Prompt: 1}},
		{"no completion rate", promptOnly, catalog.Tokens{Prompt: 1, Completion: 1}},
		{"no audio input rate", text, catalog.Tokens{Prompt: 2, Units: units.Counts{units.AudioInput: 1}}},
		{"no audio output rate", text, catalog.Tokens{Completion: 2, Units: units.Counts{units.AudioOutput: 1}}},
		{"no rate of a unit that is no token", text, catalog.Tokens{Units: units.Counts{units.Images: 1}}},
		{"negative units", text, catalog.Tokens{Prompt: 1, Units: units.Counts{units.Images: -1}}},
		{"negative prompt", text, catalog.Tokens{Prompt: -1}},
		{"negative part", text, catalog.Tokens{Prompt: 5, Cached: -1}},
		{"over int64", dear, catalog.Tokens{Prompt: 10_000_000}},
		{"over 128 bits by a million", dear, catalog.Tokens{Prompt: math.MaxInt64, Completion: math.MaxInt64}},
		{"negative rate", &catalog.Price{Rates: catalog.Rates{Prompt: catalog.Quoted(-1)}}, catalog.Tokens{Prompt: 1}},
	} {
		if got, ok := tc.price.CostNano(tc.tokens); ok || got != 0 {
			t.Errorf("%s: CostNano = %d, %v, want 0, false", tc.name, got, ok)
		}
	}
	if _, ok := promptOnly.CostNano(catalog.Tokens{Prompt: 1}); !ok {
		t.Error("a rate that is not used was missed")
	}
}

func TestTiersApplyToTheWholeCall(t *testing.T) {
	price := &catalog.Price{
		Rates: catalog.Rates{
			Prompt: usd(t, "1e-06"), Completion: usd(t, "2e-06"), CacheRead: usd(t, "1e-07"), Reasoning: usd(t, "2e-06"), Units: catalog.UnitRates{units.AudioInput: usd(t, "9e-06")},
		},
		Tiers: []catalog.Tier{
			{From: 201, Rates: catalog.Rates{Prompt: usd(t, "3e-06")}},
			{From: 1001, Rates: catalog.Rates{Prompt: usd(t, "5e-06"), Completion: usd(t, "7e-06")}},
		},
	}
	for _, tc := range []struct {
		name   string
		tokens catalog.Tokens
		want   int64
	}{
		{"below", catalog.Tokens{Prompt: 200, Completion: 1}, 200*1000 + 2000},
		{"at the first", catalog.Tokens{Prompt: 201, Completion: 1}, 201*3000 + 2000},
		{"at the last", catalog.Tokens{Prompt: 1001, Completion: 1}, 1001*5000 + 7000},
		{"what a tier leaves out follows the tier", catalog.Tokens{Prompt: 1001, Cached: 1, Completion: 1, Reasoning: 1}, 1001*5000 + 7000},
		{"audio keeps its rate", catalog.Tokens{Prompt: 1001, Units: units.Counts{units.AudioInput: 1}}, 1000*5000 + 9000},
	} {
		if got, ok := price.CostNano(tc.tokens); !ok || got != tc.want {
			t.Errorf("%s: %d, %v, want %d", tc.name, got, ok, tc.want)
		}
	}
}

// A prompt of sound that was cached is both: Google and OpenAI count it in each.
func TestSoundThatWasCachedIsPaidOnce(t *testing.T) {
	price := &catalog.Price{Rates: catalog.Rates{
		Prompt: usd(t, "3e-06"), Completion: usd(t, "2e-06"), CacheRead: usd(t, "1e-06"),
		Units: catalog.UnitRates{units.AudioInput: usd(t, "10e-06"), units.AudioOutput: usd(t, "20e-06")},
	}}
	for _, tc := range []struct {
		name   string
		tokens catalog.Tokens
		want   int64
	}{
		{"all of both", catalog.Tokens{Prompt: 100, Cached: 100, Units: units.Counts{units.AudioInput: 100}}, 100 * 10_000},
		{"some of both", catalog.Tokens{Prompt: 100, Cached: 80, Units: units.Counts{units.AudioInput: 60}}, 60*10_000 + 40*1000},
		{"none of both", catalog.Tokens{Prompt: 100, Cached: 30, Units: units.Counts{units.AudioInput: 60}}, 60*10_000 + 30*1000 + 10*3000},
		{"written, too", catalog.Tokens{Prompt: 100, Cached: 30, CacheWrite: 50, CacheHour: 50, Units: units.Counts{units.AudioInput: 90}}, 90*10_000 + 10*3000},
		{"thoughts", catalog.Tokens{Completion: 100, Reasoning: 50, Units: units.Counts{units.AudioOutput: 90}}, 90*20_000 + 10*2000},
	} {
		most, bounded := price.MostNano(catalog.Most{Prompt: tc.tokens.Prompt, Completion: tc.tokens.Completion, Units: tc.tokens.Units})
		if got, ok := price.CostNano(tc.tokens); !ok || !bounded || got != tc.want || got > most {
			t.Errorf("%s: %d, %v, want %d and at most %d", tc.name, got, ok, tc.want, most)
		}
	}
}

func TestCostAgreesWithRationals(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	number := func() int64 { return rng.Int64() >> rng.IntN(63) }
	for range 20_000 {
		rates := [4]int64{number(), number(), number(), number()}
		counts := [4]int64{number(), number() >> 2, number() >> 2, number()} // plain, cached, written, completion
		prompt := counts[0]>>2 + counts[1] + counts[2]
		price := &catalog.Price{Rates: catalog.Rates{
			Prompt: catalog.Quoted(catalog.Rate(rates[0])), CacheRead: catalog.Quoted(catalog.Rate(rates[1])),
			CacheWrite: catalog.Quoted(catalog.Rate(rates[2])), Completion: catalog.Quoted(catalog.Rate(rates[3])),
		}}
		sum := new(big.Int)
		for i, count := range [4]int64{counts[0] >> 2, counts[1], counts[2], counts[3]} {
			sum.Add(sum, new(big.Int).Mul(big.NewInt(count), big.NewInt(rates[i])))
		}
		sum.Add(sum, big.NewInt(999_999)).Div(sum, big.NewInt(1_000_000))
		got, ok := price.CostNano(catalog.Tokens{Prompt: prompt, Cached: counts[1], CacheWrite: counts[2], Completion: counts[3]})
		if ok != sum.IsInt64() || ok && got != sum.Int64() {
			t.Fatalf("rates %v, counts %v: %d, %v, want %s", rates, counts, got, ok, sum)
		}
	}
}

package catalog

import (
	"fmt"
	"maps"
	"math/bits"
	"strings"
)

// The variants of a price that a provider block can name. They are other rates for the same model.
const (
	VariantRegional = "regional" // an endpoint that keeps the data in its region
	VariantPriority = "priority" // service tiers
	VariantFlex     = "flex"
)

// ValidVariant returns an error unless there is a variant with this name.
func ValidVariant(name string) error {
	switch name {
	case "", VariantRegional, VariantPriority, VariantFlex:
		return nil
	}
	return fmt.Errorf("price variant %q: want %s, %s or %s", name, VariantRegional, VariantPriority, VariantFlex)
}

// priceMapVariants parses the other rates of an entry of the price map: for a service tier those whose
// names end in it, with the gaps filled from the usual ones, and for a regional endpoint a factor.
func priceMapVariants(f facts, usual *Price) (map[string]*Price, error) {
	var variants map[string]*Price
	for _, tier := range []string{VariantPriority, VariantFlex} {
		own := maps.Clone(f)
		stated := false
		for key, value := range f {
			if name, ok := strings.CutSuffix(key, "_"+tier); ok {
				own[name] = value
				stated = stated || name == "output_cost_per_token"
			}
		}
		if !stated {
			continue
		}
		price, err := priceMapPrice(own)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", tier, err)
		}
		variants = with(variants, tier, price)
	}
	if factor, _, err := parseRate(string(f[regionalFactor]), factorPlaces); usual != nil && err == nil && factor > 0 {
		variants = with(variants, VariantRegional, usual.times(uint64(factor)))
	}
	return variants, nil
}

const (
	regionalFactor = "regional_endpoint_uplift_multiplier"
	factorPlaces   = 6 // decimal places of a factor
	factorOne      = 1_000_000
)

func with(variants map[string]*Price, name string, p *Price) map[string]*Price {
	if variants == nil {
		variants = map[string]*Price{}
	}
	variants[name] = p
	return variants
}

// times returns the price with all rates multiplied by a factor in millionths.
func (p *Price) times(factor uint64) *Price {
	scaled := &Price{Rates: p.Rates.times(factor)}
	for _, t := range p.Tiers {
		scaled.Tiers = append(scaled.Tiers, Tier{From: t.From, Rates: t.Rates.times(factor)})
	}
	return scaled
}

// times rounds up. A rate that would be too large is unknown.
func (r Rates) times(factor uint64) Rates {
	quotes := []*Quote{&r.Prompt, &r.Completion, &r.CacheRead, &r.CacheWrite, &r.CacheHour, &r.Reasoning, &r.Request}
	for i := range r.Units {
		quotes = append(quotes, &r.Units[i])
	}
	for _, q := range quotes {
		hi, lo := bits.Mul64(uint64(q.Rate), factor)
		lo, carry := bits.Add64(lo, factorOne-1, 0)
		if hi += carry; hi >= factorOne/2 {
			*q = Quote{}
			continue
		}
		scaled, _ := bits.Div64(hi, lo, factorOne)
		q.Rate = Rate(scaled)
	}
	return r
}

// priced returns the price that a variant has, the usual one for the variants that the model does not
// have: an entry without a regional factor costs the same everywhere. A service tier that the entry
// does not price has no price.
func (m *Model) priced(variant string) *Price {
	if p, ok := m.Variants[variant]; ok || variant == VariantPriority || variant == VariantFlex {
		return p
	}
	return m.Price
}

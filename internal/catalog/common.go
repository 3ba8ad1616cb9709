package catalog

import (
	"cmp"
	"slices"
)

// Common returns what a list shows for a name that stands for any of the models, which are not
// empty: the smallest of the limits that are known, the dearest price, and the modalities and
// parameters that all of them have.
func Common(id string, models []Model) Model {
	m := models[0]
	m.ID, m.Provider, m.Name, m.DisplayName, m.Description, m.OwnedBy = id, "", id, id, "", "gatehouse"
	for _, other := range models[1:] {
		if other.Mode != m.Mode {
			m.Mode = ModeChat
		}
		m.Created = max(m.Created, other.Created)
		m.ContextLength = lesserKnown(m.ContextLength, other.ContextLength)
		m.MaxOutput = lesserKnown(m.MaxOutput, other.MaxOutput)
		m.InputModalities = both(m.InputModalities, other.InputModalities)
		m.OutputModalities = both(m.OutputModalities, other.OutputModalities)
		m.SupportedParameters = both(m.SupportedParameters, other.SupportedParameters)
		m.Price = dearestPrice(m.Price, other.Price)
		m.Moderated = m.Moderated || other.Moderated
		m.Known = m.Known && other.Known
	}
	return m
}

// lesserKnown returns the lesser of two counts. 0 is unknown.
func lesserKnown(a, b int64) int64 {
	if a == 0 || b > 0 && b < a {
		return b
	}
	return a
}

func both(a, b []string) []string {
	return slices.DeleteFunc(slices.Clone(a), func(word string) bool { return !slices.Contains(b, word) })
}

// dearestPrice returns the price with the higher of each rate, nil if one of the prices is unknown.
// No call costs more at either price.
func dearestPrice(a, b *Price) *Price {
	if a == nil || b == nil {
		return nil
	}
	price := &Price{Rates: dearestRates(a.Rates, b.Rates)}
	for _, tier := range slices.Concat(a.Tiers, b.Tiers) {
		price.Tiers = append(price.Tiers, Tier{tier.From, dearestRates(a.at(tier.From), b.at(tier.From))})
	}
	slices.SortFunc(price.Tiers, func(a, b Tier) int { return cmp.Compare(a.From, b.From) })
	price.Tiers = slices.Compact(price.Tiers)
	return price
}

func dearestRates(a, b Rates) Rates {
	r := Rates{
		Prompt:     dearestIfKnown(a.Prompt, b.Prompt),
		Completion: dearestIfKnown(a.Completion, b.Completion),
		CacheRead:  dearestIfKnown(a.CacheRead.or(a.Prompt), b.CacheRead.or(b.Prompt)),
		CacheWrite: dearestIfKnown(a.writing(false), b.writing(false)),
		CacheHour:  dearestIfKnown(a.writing(true), b.writing(true)),
		Reasoning:  dearestIfKnown(a.Reasoning.or(a.Completion), b.Reasoning.or(b.Completion)),
	}
	for i := range r.Units {
		if r.Units[i] = dearestIfKnown(a.unit(i), b.unit(i)); unitTable[i].part == ofNeither {
			r.Units[i] = dearest(a.Units[i], b.Units[i]) // the model without such a rate is paid by tokens
		}
	}
	return r
}

// dearestIfKnown returns the quote with the higher rate, an unknown one if either is unknown.
func dearestIfKnown(a, b Quote) Quote {
	if !a.Known || !b.Known {
		return Quote{}
	}
	return dearest(a, b)
}

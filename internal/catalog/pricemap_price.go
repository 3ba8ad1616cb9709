package catalog

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"

	"github.com/gatehouse-proxy/gatehouse/internal/units"
)

// priceMapPrice parses the standard rates. Those of other service tiers (_priority, _flex,
// _batches) do not apply to us. A fee for each image beside text cannot be expressed in a Price and
// leaves the model without one.
func priceMapPrice(f facts) (*Price, error) {
	base, tiers, err := textRates(f)
	if err != nil {
		return nil, err
	}
	if err := f.readFee("input_cost_per_request", &base); err != nil {
		return nil, err
	}
	if err := errors.Join(f.read(column{"output_cost_per_reasoning_token", &base.Reasoning}), base.Units.readPriceMap(f)); err != nil {
		return nil, err
	}
	if slices.Contains(mediaModes, f.text("mode")) {
		return newPrice(base, tiers), nil
	}
	keys, outputs := []string{"output_cost_per_video_token"}, f.texts("supported_output_modalities")
	if !slices.Equal(outputs, textOnly) {
		if err := f.read(column{"output_cost_per_image_token", &base.Units[units.ImageOutput]}); err != nil {
			return nil, err
		}
	}
	if !base.Units[units.ImageOutput].Known {
		keys = append(keys, "output_cost_per_image")
	}
	apart, err := pricedApart(f, outputs, base.Completion, keys...)
	if err != nil || apart {
		return nil, err
	}
	if rows, ok := f.list("tiered_pricing"); ok && !base.Prompt.Known && !base.Completion.Known {
		return rangedPrice(rows)
	}
	return newPrice(base, tiers), nil
}

// textKey matches the rates of text. Rates of long prompts, above_200k_tokens, apply from 200,001
// prompt tokens on. Rates of a cache that keeps longer, above_1hr and above_12hr, are the caller's
// choice.
var textKey = regexp.MustCompile(`\A(input_cost_per_token|output_cost_per_token|cache_read_input_token_cost|cache_creation_input_token_cost(?:_above_[0-9]{1,3}hr)?)(?:_above_([0-9]{1,6})k_tokens)?\z`)

func textRates(f facts) (base Rates, tiers []Tier, err error) {
	for _, key := range slices.Sorted(maps.Keys(f)) {
		match := textKey.FindStringSubmatch(key)
		if match == nil {
			continue
		}
		rates := &base
		if match[2] != "" {
			thousands, err := strconv.ParseInt(match[2], 10, 64)
			if err != nil {
				return base, nil, err
			}
			rates = ratesFrom(&tiers, thousands*1000+1)
		}
		quote := &rates.CacheHour
		switch match[1] {
		case "cache_creation_input_token_cost":
			quote = &rates.CacheWrite
		case "input_cost_per_token":
			quote = &rates.Prompt
		case "output_cost_per_token":
			quote = &rates.Completion
		case "cache_read_input_token_cost":
			quote = &rates.CacheRead
		}
		var stated Quote
		if err := f.read(column{key, &stated}); err != nil {
			return base, nil, err
		}
		*quote = dearest(*quote, stated)
	}
	return base, tiers, nil
}

// ratesFrom returns the rates of the tier that begins there, and adds it if there is none.
func ratesFrom(tiers *[]Tier, from int64) *Rates {
	i := slices.IndexFunc(*tiers, func(t Tier) bool { return t.From == from })
	if i < 0 {
		i = len(*tiers)
		*tiers = append(*tiers, Tier{From: from})
	}
	return &(*tiers)[i].Rates
}

// rangedPrice parses tiered_pricing, which states all rates for ranges of prompt tokens: above the
// first number, up to the second. Rows of another form, as search engines have them, leave the
// price unknown.
func rangedPrice(rows []json.RawMessage) (*Price, error) {
	var base Rates
	var tiers []Tier
	for _, value := range rows {
		row := record(value)
		bounds, ok := row.list("range")
		if !ok || len(bounds) != 2 {
			return nil, nil
		}
		var tier Tier
		if err := row.read(
			column{"input_cost_per_token", &tier.Prompt},
			column{"output_cost_per_token", &tier.Completion},
			column{"cache_read_input_token_cost", &tier.CacheRead},
			column{"output_cost_per_reasoning_token", &tier.Reasoning},
		); err != nil {
			return nil, fmt.Errorf("tiered_pricing: %w", err)
		}
		if over := (facts{"over": bounds[0]}).count("over"); over > 0 {
			tier.From = over + 1
			tiers = append(tiers, tier)
		} else {
			base = tier.Rates
		}
	}
	return newPrice(base, tiers), nil
}

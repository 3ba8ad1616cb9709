package catalog

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
)

// priceMapPrice reads the standard rates; those of other service tiers (_priority, _flex, _batches) are not for us. A
// fee for each request cannot be expressed in a Price, so such a model has none.
func priceMapPrice(f facts) (*Price, error) {
	fee, err := f.quote("input_cost_per_request")
	if err != nil || fee.Rate > 0 {
		return nil, err
	}
	var base Rates
	if err := f.read(
		column{"input_cost_per_token", &base.Prompt},
		column{"output_cost_per_token", &base.Completion},
		column{"cache_read_input_token_cost", &base.CacheRead},
		column{"cache_creation_input_token_cost", &base.CacheWrite},
		column{"output_cost_per_reasoning_token", &base.Reasoning},
		column{"input_cost_per_audio_token", &base.AudioInput},
		column{"output_cost_per_audio_token", &base.AudioOutput},
	); err != nil {
		return nil, err
	}
	if rows, ok := f.list("tiered_pricing"); ok && !base.Prompt.Known && !base.Completion.Known {
		return rangedPrice(rows)
	}
	tiers, err := aboveTiers(f)
	if err != nil {
		return nil, err
	}
	return newPrice(base, tiers), nil
}

// aboveKey matches the rates of long prompts: above_200k_tokens holds from 200,001 prompt tokens on.
var aboveKey = regexp.MustCompile(`\A(input_cost_per_token|output_cost_per_token|cache_read_input_token_cost|cache_creation_input_token_cost)_above_([0-9]{1,6})k_tokens\z`)

func aboveTiers(f facts) ([]Tier, error) {
	tiers := map[int64]*Tier{}
	for _, key := range slices.Sorted(maps.Keys(f)) {
		match := aboveKey.FindStringSubmatch(key)
		if match == nil {
			continue
		}
		thousands, err := strconv.ParseInt(match[2], 10, 64)
		if err != nil {
			return nil, err
		}
		tier := tiers[thousands]
		if tier == nil {
			tier = &Tier{From: thousands*1000 + 1}
			tiers[thousands] = tier
		}
		quote := map[string]*Quote{
			"input_cost_per_token":            &tier.Prompt,
			"output_cost_per_token":           &tier.Completion,
			"cache_read_input_token_cost":     &tier.CacheRead,
			"cache_creation_input_token_cost": &tier.CacheWrite,
		}[match[1]]
		if err := f.read(column{key, quote}); err != nil {
			return nil, err
		}
	}
	var out []Tier
	for _, tier := range tiers {
		out = append(out, *tier)
	}
	return out, nil
}

// rangedPrice reads tiered_pricing, which states all rates for ranges of prompt tokens: over the first number, up to
// the second. Rows of another form, as search engines have them, leave the price unknown.
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

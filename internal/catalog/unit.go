package catalog

import (
	"slices"

	"github.com/gatehouse-proxy/gatehouse/internal/units"
)

// part is what a unit is a part of.
type part uint8

const (
	ofNeither    part = iota // the unit is no token
	ofPrompt                 // tokens of the prompt
	ofCompletion             // tokens of the completion
)

// unit says what a unit is, and how the formats of prices name its rate.
type unit struct {
	part     part
	each     uint64   // how many of it a rate is for
	short    string   // in our own form, where a rate is for a million of them
	priceMap []string // in the price map: the dearest counts, for some maps have the same price twice
	listed   string   // in OpenRouter's list
	plain    bool     // without a rate of its own it costs what text costs
	media    bool     // the price map means it only with models that make or hear pictures and sound
}

var unitTable = [units.Number]unit{
	units.AudioInput:  {part: ofPrompt, each: 1, short: "audio_input", priceMap: []string{"input_cost_per_audio_token"}, listed: "audio"},
	units.AudioOutput: {part: ofCompletion, each: 1, short: "audio_output", priceMap: []string{"output_cost_per_audio_token"}, listed: "audio_output"},
	units.ImageInput:  {part: ofPrompt, each: 1, short: "image_input", priceMap: []string{"input_cost_per_image_token"}, plain: true, media: true},
	units.ImageOutput: {part: ofCompletion, each: 1, short: "image_output", listed: "image_output", priceMap: []string{"output_cost_per_image_token"}, plain: true, media: true},
	units.Queries:     {each: 1, short: "query", priceMap: []string{"input_cost_per_query"}},
	units.Images:      {each: 1, short: "image", priceMap: []string{"output_cost_per_image", "input_cost_per_image"}, media: true},
	units.Characters:  {each: 1, short: "character", priceMap: []string{"input_cost_per_character"}, media: true},
	units.Millis:      {each: 1000, short: "second", priceMap: []string{"input_cost_per_second", "output_cost_per_second"}, media: true},
}

// mediaModes are the modes of models that make or hear pictures and sound. Other models have rates of
// the same names in the price map for options of a call.
var mediaModes = []string{ModeImages, ModeImageEdits, ModeSpeech, ModeTranscription}

// readPriceMap reads the rates of an entry of the price map.
func (r *UnitRates) readPriceMap(f facts) error {
	media := slices.Contains(mediaModes, f.text("mode"))
	for i := range unitTable {
		if unitTable[i].media && !media {
			continue
		}
		for _, key := range unitTable[i].priceMap {
			var stated Quote
			if err := f.read(column{key, &stated}); err != nil {
				return err
			}
			r[i] = dearest(r[i], stated)
		}
	}
	return nil
}

// readListed reads the rates of an entry of OpenRouter's list.
func (r *UnitRates) readListed(f facts) error {
	for i := range unitTable {
		if key := unitTable[i].listed; key != "" {
			if err := f.read(column{key, &r[i]}); err != nil {
				return err
			}
		}
	}
	return nil
}

// UnitRates are the rates of units. An unknown one cannot be priced, unless it costs what text costs.
type UnitRates [units.Number]Quote

// Audio returns the rates of tokens of sound.
func (r *UnitRates) Audio() (input, output Quote) {
	return r[units.AudioInput], r[units.AudioOutput]
}

// Other returns the known rates of other units than tokens of sound, in USD for one of what the short form
// names, by that name.
func (r *UnitRates) Other() map[string]Rate {
	var rates map[string]Rate
	for i, q := range r {
		if u := units.Unit(i); q.Known && u != units.AudioInput && u != units.AudioOutput {
			if rates == nil {
				rates = make(map[string]Rate)
			}
			rates[unitTable[i].short] = q.Rate
		}
	}
	return rates
}

// known reports whether there is a rate of a unit that is a token, or of one that is none.
func (r *UnitRates) known(token bool) bool {
	for i, q := range r {
		if q.Known && token == (unitTable[i].part != ofNeither) {
			return true
		}
	}
	return false
}

// unit returns the rate of a unit.
func (r *Rates) unit(u int) Quote {
	switch row := &unitTable[u]; {
	case row.plain && row.part == ofPrompt:
		return r.Units[u].or(r.Prompt)
	case row.plain:
		return r.Units[u].or(r.Completion)
	}
	return r.Units[u]
}

// or returns the rates with the gaps filled from others.
func (r UnitRates) or(others UnitRates) UnitRates {
	for i := range r {
		r[i] = r[i].or(others[i])
	}
	return r
}

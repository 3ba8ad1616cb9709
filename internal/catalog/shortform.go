package catalog

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/gatehouse-proxy/gatehouse/internal/units"
)

// modes are the modes an operator may write. Without this check a mistyped one would silently make
// a model uncallable.
var modes = []string{
	ModeChat, ModeResponses, ModeSpeech, ModeTranscription, ModeCompletes, ModeEmbedding, ModeImageEdits, ModeImages,
	ModeModerates, ModeRealtime, ModeRerank, "video_generation",
}

// parseShort parses our own form; see Parse.
func parseShort(top []member) ([]Model, error) {
	var list []json.RawMessage
	if err := readStrict(top, fields{"models": func(value json.RawMessage) (err error) {
		list, err = elements(value, MaxModels)
		return err
	}}); err != nil {
		return nil, err
	}
	var bad entryErrors
	seen := map[string]bool{}
	models := make([]Model, 0, len(list))
	for i, value := range list {
		m, err := shortModel(value)
		if err == nil && seen[m.ID] {
			err = errors.New("listed twice")
		}
		if err != nil {
			bad.add(fmt.Sprintf("models[%d] %s", i, m.ID), err)
			continue
		}
		seen[m.ID] = true
		models = append(models, m)
	}
	if err := bad.err(); err != nil {
		return nil, err
	}
	slices.SortFunc(models, byID)
	return models, nil
}

func shortModel(value json.RawMessage) (Model, error) {
	var m Model
	var capabilities json.RawMessage
	list, err := members(value, maxMembers)
	if err != nil {
		return Model{}, err
	}
	if err := readStrict(list, fields{
		"id":                   into(&m.ID),
		"name":                 into(&m.DisplayName),
		"description":          into(&m.Description),
		"mode":                 into(&m.Mode),
		"owned_by":             into(&m.OwnedBy),
		"moderated":            into(&m.Moderated),
		"created":              intoCount(&m.Created),
		"context_length":       intoCount(&m.ContextLength),
		"max_output_tokens":    intoCount(&m.MaxOutput),
		"input_modalities":     into(&m.InputModalities),
		"output_modalities":    into(&m.OutputModalities),
		"supported_parameters": into(&m.SupportedParameters),
		"price": func(value json.RawMessage) (err error) {
			m.Price, err = shortPrice(value)
			return err
		},
		"max_units": func(value json.RawMessage) error { return shortUnits(&m.MaxUnits, value) },
		"capabilities": func(value json.RawMessage) error {
			capabilities = value // the name decides what it leaves out
			return nil
		},
	}); err != nil {
		return m, err
	}
	if m.Mode != "" && !slices.Contains(modes, m.Mode) {
		return m, fmt.Errorf("mode %.80q is not one of %s", m.Mode, strings.Join(modes, ", "))
	}
	var slash bool
	if m.Provider, m.Name, slash = strings.Cut(m.ID, "/"); !slash {
		return m, errors.New("id is not of the form <provider>/<name>")
	}
	if m.Capabilities, err = readCapabilities(capabilities, m.Name); err != nil {
		return m, fmt.Errorf("capabilities: %w", err)
	}
	return m, errors.Join(checkProvider(m.Provider), checkName(m.Name))
}

// shortUnits reads counts of units, by the names that their rates have.
func shortUnits(counts *units.Counts, value json.RawMessage) error {
	list, err := members(value, maxMembers)
	if err != nil {
		return err
	}
	table := fields{}
	for i := range unitTable {
		table[unitTable[i].short] = intoCount(&counts[i])
	}
	return readStrict(list, table)
}

func shortPrice(value json.RawMessage) (*Price, error) {
	list, err := members(value, maxMembers)
	if err != nil {
		return nil, err
	}
	var p Price
	table := shortRates(&p.Rates)
	table["tiers"] = func(value json.RawMessage) (err error) {
		p.Tiers, err = shortTiers(value)
		return err
	}
	err = readStrict(list, table)
	p.freeTokens()
	return &p, err
}

// shortTiers requires tiers in order: readers expect it.
func shortTiers(value json.RawMessage) ([]Tier, error) {
	rows, err := elements(value, maxElements)
	if err != nil {
		return nil, err
	}
	var tiers []Tier
	last := int64(0)
	for i, row := range rows {
		list, err := members(row, maxMembers)
		if err != nil {
			return nil, err
		}
		var tier Tier
		table := shortRates(&tier.Rates)
		table["from"] = intoCount(&tier.From)
		if err := readStrict(list, table); err != nil {
			return nil, fmt.Errorf("[%d]: %w", i, err)
		}
		if tier.From <= last {
			return nil, fmt.Errorf("[%d]: \"from\" is required and must be greater than %d", i, last)
		}
		last = tier.From
		tiers = append(tiers, tier)
	}
	return tiers, nil
}

func shortRates(r *Rates) fields {
	table := fields{
		"prompt":      intoQuote(&r.Prompt),
		"completion":  intoQuote(&r.Completion),
		"cache_read":  intoQuote(&r.CacheRead),
		"cache_write": intoQuote(&r.CacheWrite),
		"cache_hour":  intoQuote(&r.CacheHour),
		"reasoning":   intoQuote(&r.Reasoning),
		"request":     intoQuote(&r.Request),
	}
	for i := range unitTable {
		table[unitTable[i].short] = intoQuote(&r.Units[i])
	}
	return table
}

// fields maps each member of a record in our own form to its reader.
type fields map[string]func(json.RawMessage) error

// readStrict reads every member, and refuses unknown and repeated ones: a mistyped price must not
// count as no price.
func readStrict(list []member, table fields) error {
	seen := make(map[string]bool, len(list))
	for _, m := range list {
		read, ok := table[m.key]
		if !ok {
			return fmt.Errorf("unknown field %.80q", m.key)
		}
		if seen[m.key] {
			return fmt.Errorf("field %q is repeated", m.key)
		}
		seen[m.key] = true
		if kind(m.value) == 'n' {
			return fmt.Errorf("%s: null is not a value: leave the field out", m.key)
		}
		if err := read(m.value); err != nil {
			return fmt.Errorf("%s: %w", m.key, err)
		}
	}
	return nil
}

func into[T string | bool | []string](dst *T) func(json.RawMessage) error {
	return func(value json.RawMessage) error { return json.Unmarshal(value, dst) }
}

func intoCount(dst *int64) func(json.RawMessage) error {
	return func(value json.RawMessage) error {
		if err := json.Unmarshal(value, dst); err != nil {
			return err
		}
		if *dst <= 0 {
			return errors.New("not above zero")
		}
		return nil
	}
}

func intoQuote(dst *Quote) func(json.RawMessage) error {
	return func(value json.RawMessage) error {
		text := string(value)
		if kind(value) == '"' {
			if err := json.Unmarshal(value, &text); err != nil {
				return err
			}
		}
		rate, exact, err := parseRate(text, perMillion)
		if err != nil {
			return err
		}
		if !exact {
			return fmt.Errorf("%q is finer than 1e-9 USD per million tokens", text)
		}
		*dst = Quoted(rate)
		return nil
	}
}

package catalog

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// thinkingTypes are the values of "thinking" in a catalog file, and effortNames those of "efforts".
var (
	thinkingTypes = []string{ThinkingAdaptive, ThinkingEnabled, ThinkingDisabled, ThinkingBetweenTools}
	effortNames   = fiveEfforts
)

// readCapabilities reads the member capabilities of a model, nil if it has none. What the object
// leaves out is as the name says.
func readCapabilities(value json.RawMessage, name string) (*Capabilities, error) {
	if len(value) == 0 {
		return nil, nil
	}
	list, err := members(value, maxMembers)
	if err != nil {
		return nil, err
	}
	c := CapabilitiesOf(name)
	err = readStrict(list, fields{
		"thinking":       intoWords(&c.Thinking, thinkingTypes),
		"thinks":         into(&c.Thinks),
		"hides_thoughts": into(&c.HidesThoughts),
		"efforts":        intoWords(&c.Efforts, effortNames),
		"prefill":        into(&c.Prefill),
		"forced_tools":   into(&c.ForcedTools),
		"sampling": func(value json.RawMessage) error {
			if err := json.Unmarshal(value, &c.Sampling); err != nil {
				return err
			}
			if !c.Sampling.valid() {
				return fmt.Errorf("%.80q is not one of %s", c.Sampling, samplingsAllowed)
			}
			return nil
		},
	})
	return &c, err
}

// intoWords reads a list of known words. It replaces the list.
func intoWords(dst *[]string, known []string) func(json.RawMessage) error {
	return func(value json.RawMessage) error {
		words := []string{}
		if err := json.Unmarshal(value, &words); err != nil {
			return err
		}
		for _, word := range words {
			if !slices.Contains(known, word) {
				return fmt.Errorf("%.80q is not one of %s", word, strings.Join(known, ", "))
			}
		}
		*dst = words
		return nil
	}
}

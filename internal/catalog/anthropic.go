package catalog

import "time"

// time returns a time in RFC 3339 as Unix seconds, 0 when unknown. Anthropic writes the first second
// of 1970 for what it does not know.
func (f facts) time(key string) int64 {
	t, err := time.Parse(time.RFC3339, f.text(key))
	if err != nil {
		return 0
	}
	return max(t.Unix(), 0)
}

// anthropicOutput returns the output limit of an entry of Anthropic's list ({"type": "model",
// "max_tokens": …}). Other lists mean other things by that name.
func (f facts) anthropicOutput() int64 {
	if f.text("type") != "model" {
		return 0
	}
	return f.count("max_tokens")
}

// anthropicInputs returns what a model of Anthropic's list takes, nil when unknown:
// "capabilities": {"image_input": {"supported": true}, …}.
func (f facts) anthropicInputs() []string {
	capabilities := f.object("capabilities")
	if capabilities == nil {
		return nil
	}
	inputs := []string{"text"}
	for _, c := range [...]struct{ capability, modality string }{{"image_input", "image"}, {"pdf_input", "file"}} {
		if capabilities.object(c.capability).flag("supported") {
			inputs = append(inputs, c.modality)
		}
	}
	return inputs
}

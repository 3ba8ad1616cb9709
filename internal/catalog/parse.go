package catalog

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

const (
	// MaxCatalogBytes bounds a catalog file. The public price map has 1.4 MB and OpenRouter's list
	// 0.5 MB.
	MaxCatalogBytes = 16 << 20
	// MaxDiscoveryBytes bounds a provider's answer to GET /models. The reader of the body uses it
	// too.
	MaxDiscoveryBytes = 8 << 20
	// MaxModels bounds the models of one file or answer. The public price map has 3,000.
	MaxModels = 50_000

	// maxMembers bounds the members of one record. A price map's record has about 60; its top level
	// has MaxModels.
	maxMembers = 1_000
	// maxNamed bounds how many broken entries one error names.
	maxNamed = 10
)

// Parse parses a catalog file. The content decides the format:
//
//   - the public LiteLLM price map: {"<name>": {"litellm_provider": …, "input_cost_per_token": …},
//     …};
//   - OpenRouter's answer to GET /api/v1/models: {"data": [{"id": …, "pricing": {…}}, …]}, as
//     provider "openrouter";
//   - our short form, below.
//
// In the two public formats unknown fields are ignored, and a fact that is absent, null or of
// another type than expected is unknown. A record without a usable name or with an impossible price
// is an error; the error names such records.
//
// The short form is for an operator's own models and corrections. Unknown or repeated fields are
// errors. Only id is required. Prices are USD per million tokens, as decimal texts or numbers,
// exact to 1e-9:
//
//	{"models": [{
//	  "id": "openai/gpt-x", "name": "GPT X", "description": "…", "mode": "chat", "created": 1700000000, "owned_by": "openai",
//	  "context_length": 400000, "max_output_tokens": 128000, "moderated": true,
//	  "input_modalities": ["text", "image"], "output_modalities": ["text"], "supported_parameters": ["tools"],
//	  "price": {
//	    "prompt": "1.25", "completion": "10", "cache_read": "0.125", "cache_write": "1.25", "cache_hour": "2",
//	    "reasoning": "10", "audio_input": "40", "audio_output": "80",
//	    "tiers": [{"from": 200001, "prompt": "2.50", "completion": "15"}]
//	  },
//	  "capabilities": {
//	    "thinking": ["adaptive", "disabled"], "thinks": true, "hides_thoughts": true, "efforts": ["low", "medium", "high"],
//	    "sampling": "refused", "prefill": false, "forced_tools": true
//	  }
//	}]}
//
// capabilities are for calls that become the Messages API: see [Capabilities]. What the object
// leaves out is as [CapabilitiesOf] the name. A price map may have it too, in the same form.
func Parse(data []byte) ([]Model, error) {
	if len(data) > MaxCatalogBytes {
		return nil, fmt.Errorf("catalog has %d bytes, more than %d", len(data), MaxCatalogBytes)
	}
	top, err := members(data, MaxModels)
	if err != nil {
		return nil, fmt.Errorf("reading the catalog: %w", err)
	}
	for _, m := range top {
		switch {
		case m.key == "models" && kind(m.value) == '[':
			return parseShort(top)
		case m.key == "data" && kind(m.value) == '[':
			return parseOpenRouter(m.value)
		}
	}
	for _, m := range top {
		if f := record(m.value); f.text("litellm_provider") != "" {
			return parsePriceMap(top)
		}
	}
	return nil, errors.New(`catalog is none of: a LiteLLM price map, OpenRouter's {"data": [...]}, our {"models": [...]}`)
}

// member is one member of an object, in the order of the text.
type member struct {
	key   string
	value json.RawMessage
}

// members returns the members of the one object that is the whole of data, including repeated keys.
func members(data []byte, most int) ([]member, error) {
	dec := json.NewDecoder(bytes.NewReader(data))
	if t, err := dec.Token(); err != nil || t != json.Delim('{') {
		return nil, errors.Join(errors.New("not a JSON object"), err)
	}
	var out []member
	for dec.More() {
		key, err := dec.Token()
		if err != nil {
			return nil, err
		}
		if len(out) == most {
			return nil, fmt.Errorf("more than %d members", most)
		}
		m := member{key: key.(string)}
		if err := dec.Decode(&m.value); err != nil {
			return nil, fmt.Errorf("%.80q: %w", m.key, err)
		}
		out = append(out, m)
	}
	return out, atEnd(dec)
}

// elements returns the elements of the one array that is the whole of data.
func elements(data []byte, most int) ([]json.RawMessage, error) {
	dec := json.NewDecoder(bytes.NewReader(data))
	if t, err := dec.Token(); err != nil || t != json.Delim('[') {
		return nil, errors.Join(errors.New("not a JSON array"), err)
	}
	var out []json.RawMessage
	for dec.More() {
		if len(out) == most {
			return nil, fmt.Errorf("more than %d elements", most)
		}
		var value json.RawMessage
		if err := dec.Decode(&value); err != nil {
			return nil, fmt.Errorf("element %d: %w", len(out), err)
		}
		out = append(out, value)
	}
	return out, atEnd(dec)
}

// atEnd reads the closing bracket and refuses anything after it.
func atEnd(dec *json.Decoder) error {
	if _, err := dec.Token(); err != nil {
		return err
	}
	switch _, err := dec.Token(); {
	case err == nil:
		return errors.New("more text after the value")
	case !errors.Is(err, io.EOF):
		return err
	}
	return nil
}

// kind returns the first byte of a JSON value, which determines its type.
func kind(value json.RawMessage) byte {
	if len(value) == 0 {
		return 0
	}
	return value[0]
}

func isNumber(value json.RawMessage) bool {
	return kind(value) == '-' || kind(value) >= '0' && kind(value) <= '9'
}

// entryErrors collects what is wrong with the entries of one file.
type entryErrors struct {
	named []error
	more  int
}

func (f *entryErrors) add(entry string, err error) {
	if err == nil {
		return
	}
	if len(f.named) == maxNamed {
		f.more++
		return
	}
	f.named = append(f.named, fmt.Errorf("%.80q: %w", entry, err))
}

func (f *entryErrors) err() error {
	if f.more > 0 {
		return fmt.Errorf("%w\nand %d more entries", errors.Join(f.named...), f.more)
	}
	return errors.Join(f.named...)
}

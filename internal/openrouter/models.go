package openrouter

import (
	"strconv"
	"strings"

	"github.com/gatehouse-proxy/gatehouse/internal/jsonscan"
)

// ModelInfo is one model of GET /api/v1/models.
type ModelInfo struct {
	ID               string // "<provider>/<name>"
	Name             string // for people; "" takes ID
	Description      string // "" is left out
	Created          int64  // unix seconds
	ContextLength    int64  // tokens; 0 is unknown and null
	MaxOutput        int64  // tokens; 0 is unknown and null
	InputModalities  []string
	OutputModalities []string
	Parameters       []string // supported request parameters
	Pricing          Pricing
	Moderated        bool
}

// Pricing is in USD per token, as decimal strings without exponent. Prompt and
// Completion must be there for the SDKs: "" is shown as "-1", OpenRouter's own
// word for a price that is not fixed, and never as "0". The others are left
// out when "".
type Pricing struct {
	Prompt, Completion      string
	CacheRead, CacheWrite   string
	Reasoning, Image        string
	AudioInput, AudioOutput string
}

// AppendModel appends one model: the answer of GET /api/v1/model/{author}/{slug}
// has it as `data`, the list as an item.
func AppendModel(dst []byte, m ModelInfo) []byte {
	w := writer{dst: append(dst, '{')}
	name := m.Name
	if name == "" {
		name = m.ID
	}
	w.text("id", m.ID)
	w.text("canonical_slug", m.ID)
	w.text("name", name)
	w.number("created", m.Created)
	if m.Description != "" {
		w.text("description", m.Description)
	}
	w.numberOrNull("context_length", m.ContextLength)
	input, output := orText(m.InputModalities), orText(m.OutputModalities)
	w.open("architecture")
	w.text("modality", strings.Join(input, "+")+"->"+strings.Join(output, "+"))
	w.texts("input_modalities", input)
	w.texts("output_modalities", output)
	w.close()
	w.pricing(m.Pricing)
	w.open("top_provider")
	w.numberOrNull("context_length", m.ContextLength)
	w.numberOrNull("max_completion_tokens", m.MaxOutput)
	w.bool("is_moderated", m.Moderated)
	w.close()
	w.null("per_request_limits")
	w.texts("supported_parameters", m.Parameters)
	w.null("default_parameters")
	w.null("supported_voices")
	w.open("links")
	w.text("details", "/api/v1/models/"+m.ID+"/endpoints")
	w.close()
	return append(w.dst, '}')
}

func (w *writer) pricing(p Pricing) {
	orUnknown := func(price string) string {
		if price == "" {
			return "-1"
		}
		return price
	}
	w.open("pricing")
	w.text("prompt", orUnknown(p.Prompt))
	w.text("completion", orUnknown(p.Completion))
	for _, f := range [...]struct{ key, price string }{
		{"input_cache_read", p.CacheRead},
		{"input_cache_write", p.CacheWrite},
		{"internal_reasoning", p.Reasoning},
		{"image", p.Image},
		{"audio", p.AudioInput},
		{"audio_output", p.AudioOutput},
	} {
		if f.price != "" {
			w.text(f.key, f.price)
		}
	}
	w.close()
}

func orText(modalities []string) []string {
	if len(modalities) == 0 {
		return []string{"text"}
	}
	return modalities
}

// AppendModelList appends one page of the list: the given models, how many
// there are in all, and the path of the next page, "" on the last. A page
// beyond the end must be empty: the Go SDK asks until it gets one.
func AppendModelList(dst []byte, page []ModelInfo, total int, next string) []byte {
	dst = append(dst, `{"data":[`...)
	for i, m := range page {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = AppendModel(dst, m)
	}
	dst = append(dst, `],"total_count":`...)
	dst = strconv.AppendInt(dst, int64(total), 10)
	dst = append(dst, `,"links":{"next":`...)
	if next == "" {
		dst = append(dst, "null"...)
	} else {
		dst = jsonscan.AppendString(dst, next)
	}
	return append(dst, `}}`...)
}

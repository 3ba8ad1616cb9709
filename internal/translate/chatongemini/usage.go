package chatongemini

import (
	"bytes"
	"slices"

	"github.com/gatehouse-proxy/gatehouse/internal/jsonscan"
	"github.com/gatehouse-proxy/gatehouse/internal/openai"
	"github.com/gatehouse-proxy/gatehouse/internal/units"
)

// maxUsage bounds the usage that is held, in bytes; real ones have under 1 KiB.
const maxUsage = 16 << 10

// usage is what an answer used. Each event says what was used up to it, so the last one counts. The
// requests that continue an answer add up.
type usage struct {
	last  []byte       // usageMetadata; nil for none
	total openai.Usage // of the requests before
	some  bool         // they said what they used
}

// note takes usageMetadata. It is false for one without counts, as Vertex AI has in all events but the
// last.
func (u *usage) note(object []byte) bool {
	if len(object) > maxUsage || !bytes.Contains(object, []byte(`"promptTokenCount"`)) {
		return false
	}
	u.last = append(u.last[:0], object...)
	return true
}

// all returns what all requests used. It is false if none said so.
func (u *usage) all() (openai.Usage, bool) {
	now, ok := parseUsage(u.last)
	if !ok {
		return u.total, u.some
	}
	now.Prompt += u.total.Prompt
	now.Completion += u.total.Completion
	now.Total += u.total.Total
	now.Cached += u.total.Cached
	now.Reasoning += u.total.Reasoning
	for i, n := range u.total.Units {
		now.Units[i] += n
	}
	return now, true
}

// parseUsage reads usageMetadata. Thoughts are counted beside the candidates, by some models within them:
// the total tells. It is false without the length of the prompt, and for absurd counts.
func parseUsage(object []byte) (u openai.Usage, ok bool) {
	prompt, ok := jsonscan.Int(member(object, "promptTokenCount"))
	candidates, thoughts := countOf(object, "candidatesTokenCount"), countOf(object, "thoughtsTokenCount")
	u = openai.Usage{
		Prompt:     prompt + countOf(object, "toolUsePromptTokenCount"),
		Completion: candidates + thoughts,
		Cached:     countOf(object, "cachedContentTokenCount"),
		Reasoning:  thoughts,
		Units: units.Counts{
			units.AudioInput:  audioTokens(member(object, "promptTokensDetails")),
			units.AudioOutput: audioTokens(member(object, "candidatesTokensDetails")),
		},
	}
	if total := countOf(object, "totalTokenCount"); total > 0 {
		u.Completion = max(candidates, thoughts, total-u.Prompt)
	}
	u.Total = u.Prompt + u.Completion
	return u, ok && prompt >= 0 && max(u.Total, u.Prompt, u.Completion, u.Cached, slices.Max(u.Units[:])) <= openai.MaxTokens
}

// audioTokens returns how many tokens of a list of modalities are of sound.
func audioTokens(list []byte) (n int64) {
	each(list, func(object []byte) {
		if textOf(object, "modality") == "AUDIO" {
			n = countOf(object, "tokenCount")
		}
	})
	return n
}

// tiers are the values of serviceTier (Gemini API) and trafficType (Vertex AI) as chat has them.
var tiers = map[string]string{
	"standard": `"default"`, "flex": `"flex"`, "priority": `"priority"`,
	"ON_DEMAND": `"default"`, "ON_DEMAND_FLEX": `"flex"`, "ON_DEMAND_PRIORITY": `"priority"`,
}

// tier returns the service tier that was billed, nil if it is not known.
func (u *usage) tier() []byte {
	for _, key := range []string{"serviceTier", "trafficType"} {
		if tier := tiers[textOf(u.last, key)]; tier != "" {
			return []byte(tier)
		}
	}
	return nil
}

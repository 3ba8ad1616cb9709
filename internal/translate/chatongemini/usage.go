package chatongemini

import (
	"bytes"

	"github.com/gatehouse-proxy/gatehouse/internal/gemini"
	"github.com/gatehouse-proxy/gatehouse/internal/openai"
	"github.com/gatehouse-proxy/gatehouse/internal/translate"
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

// note takes usageMetadata. It is false for one without counts, as Vertex AI has in all events but
// the last.
func (u *usage) note(object []byte) bool {
	if len(object) > maxUsage || !bytes.Contains(object, []byte(`"promptTokenCount"`)) {
		return false
	}
	u.last = append(u.last[:0], object...)
	return true
}

// all returns what all requests used. It is false if none said so.
func (u *usage) all() (openai.Usage, bool) {
	now, ok := gemini.ParseUsage(u.last)
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

// tiers are the values of serviceTier (Gemini API) and trafficType (Vertex AI) as chat has them.
var tiers = map[string]string{
	"standard": `"default"`, "flex": `"flex"`, "priority": `"priority"`,
	"ON_DEMAND": `"default"`, "ON_DEMAND_FLEX": `"flex"`, "ON_DEMAND_PRIORITY": `"priority"`,
}

// tier returns the service tier that was billed, nil if it is not known.
func (u *usage) tier() []byte {
	for _, key := range []string{"serviceTier", "trafficType"} {
		if tier := tiers[translate.TextOf(u.last, key)]; tier != "" {
			return []byte(tier)
		}
	}
	return nil
}

package chatongemini

import (
	"math"
	"strconv"
	"strings"

	"github.com/gatehouse-proxy/gatehouse/internal/jsonscan"
	"github.com/gatehouse-proxy/gatehouse/internal/translate"
)

const (
	maxStops       = 5 // stop sequences that the provider takes
	maxTopLogprobs = 20
	// usualOutput stands for the output where nobody limits it, to give an effort its part.
	usualOutput = 32_768
)

// putGeneration writes generationConfig.
func (t *translation) putGeneration() {
	t.out.Object("generationConfig")
	if t.limit > 0 {
		t.out.IntMember("maxOutputTokens", t.limit)
	}
	t.putSampling()
	t.putSeed()
	t.out.Member("stopSequences", translate.ReadStop(t.body, maxStops))
	t.putLogprobs()
	t.putFormat()
	t.putModalities()
	t.putThinking()
	t.out.EndOptional()
}

// putSampling maps the numbers that have the same meaning. Penalties are of models before Gemini 3.
func (t *translation) putSampling() {
	for _, f := range []struct {
		key, as     string
		least, most float64
		old         bool
	}{
		{"temperature", "temperature", 0, 2, false},
		{"top_p", "topP", 0, 1, false},
		{"presence_penalty", "presencePenalty", -2, 2, true},
		{"frequency_penalty", "frequencyPenalty", -2, 2, true},
	} {
		value := t.body.Get(f.key)
		if value == nil {
			continue
		}
		n, err := strconv.ParseFloat(string(value), 64)
		switch {
		case err != nil || !(n >= f.least && n <= f.most):
			t.body.Fail(translate.Invalid(f.key, "a number from "+strconv.FormatFloat(f.least, 'g', -1, 64)+" to "+strconv.FormatFloat(f.most, 'g', -1, 64)))
		case f.old && n == 0:
		case f.old && t.model.signs():
			t.original.leftOut = append(t.original.leftOut, f.key)
		default:
			t.out.Member(f.as, value)
		}
	}
	if _, n := t.body.Int("top_k", -1); n > 0 { // 0 and -1 are OpenRouter's words for none
		t.out.IntMember("topK", n)
	}
}

// putSeed maps seed, which has 32 bits.
func (t *translation) putSeed() {
	value := t.body.Get("seed")
	if value == nil {
		return
	}
	n, ok := jsonscan.Int(value)
	if !ok || n < math.MinInt32 || n > math.MaxInt32 {
		t.body.Fail(translate.Invalid("seed", "an integer of 32 bits for this model"))
	}
	t.out.IntMember("seed", n)
}

// putLogprobs maps logprobs and top_logprobs. Few models have them.
func (t *translation) putLogprobs() {
	wanted := t.body.Bool("logprobs")
	_, n := t.body.Int("top_logprobs", 0)
	if n > maxTopLogprobs {
		t.body.Fail(translate.Invalid("top_logprobs", "an integer from 0 to "+strconv.Itoa(maxTopLogprobs)))
	}
	if !wanted {
		return
	}
	t.out.BoolMember("responseLogprobs", true)
	if n > 0 {
		t.out.IntMember("logprobs", n)
	}
}

// putFormat maps response_format. responseJsonSchema takes the caller's schema as it is.
func (t *translation) putFormat() {
	if f := translate.ReadFormat(t.body); f.JSON {
		t.out.StringMember("responseMimeType", "application/json")
		t.out.Member("responseJsonSchema", f.Schema)
	}
}

// putModalities maps modalities. Sound is not possible.
func (t *translation) putModalities() {
	value := t.body.Get("modalities")
	if value == nil {
		return
	}
	spans, err := translate.Elements(value, "modalities", maxStops)
	t.body.Fail(err)
	image := false
	for i, span := range spans {
		switch word, _ := jsonscan.String(span.Value(value)); word {
		case "text":
		case "image":
			image = true
		default:
			t.body.Fail(translate.UnsupportedValue(translate.At("modalities", i), word))
		}
	}
	if image {
		t.out.Member("responseModalities", []byte(`["TEXT","IMAGE"]`))
	}
}

// putThinking maps what the request asks of the model's thoughts. They are shown unless the caller
// does not want them: that costs nothing, and shows that the model works.
func (t *translation) putThinking() {
	r := translate.ReadReasoning(t.body)
	t.original.hideReasoning = r.Hidden
	if !t.model.thinks {
		return
	}
	t.out.Object("thinkingConfig")
	off := r.Effort == translate.EffortOff && t.model.canStop
	if !r.Hidden && !off { // Vertex AI refuses to show thoughts that there are not
		t.out.BoolMember("includeThoughts", true)
	}
	switch {
	case r.Effort == "" && r.Budget == 0:
	case off:
		t.out.IntMember("thinkingBudget", 0)
	case t.model.levels != nil:
		t.out.StringMember("thinkingLevel", strings.ToUpper(r.AtLeast(t.model.levels)))
	default:
		t.out.IntMember("thinkingBudget", t.budget(r))
	}
	t.out.End()
}

// budget returns the tokens of thoughts for an effort, within what the model takes.
func (t *translation) budget(r translate.Reasoning) int64 {
	b, n := &t.model.budget, r.Budget
	if n == 0 {
		limit := t.limit
		if limit == 0 {
			limit = usualOutput
		}
		n = limit * translate.EffortShare[r.Effort] / 100
	}
	return min(max(n, b.least), b.most)
}

package modelcall

import (
	"cmp"

	"go.uber.org/zap"

	"github.com/gatehouse-proxy/gatehouse/internal/activity"
	"github.com/gatehouse-proxy/gatehouse/internal/catalog"
	"github.com/gatehouse-proxy/gatehouse/internal/limits"
	"github.com/gatehouse-proxy/gatehouse/internal/openai"
	"github.com/gatehouse-proxy/gatehouse/internal/openai/params"
)

// used finds what the call has used, notes it in the record and returns what is charged. Served is
// false if the provider cannot have worked on the request. See estimated for an answer without usage.
func (g *charge) used(m *meter, served bool) limits.Amount {
	if g.free {
		return limits.Amount{}
	}
	r := g.record
	reported := m.reported && (m.later == 0 || r.Code == "") // in a whole answer the usage may stand anywhere
	usage := m.usage
	switch {
	case reported && m.impossible():
		r.UsageSource, reported = activity.UsageEstimated, false
		usage = g.completed(m)
	case reported:
		r.UsageSource = activity.UsageProvider
		g.warnOfExcess(m.usage.Completion)
	case !m.reported && (m.unbilled || !served):
		return limits.Amount{}
	default:
		r.UsageSource = activity.UsageEstimated
		usage = g.estimated(m)
	}
	fee, _ := g.price().CostNano(catalog.Tokens{})
	if nano, priced := g.Cost(usage); priced && nano == fee && g.requested.Units.Some() { // the provider did not say
		usage.Units = usage.Units.Max(g.requested.Used())
		r.UsageSource = activity.UsageEstimated
	}
	r.PromptTokens, r.CompletionTokens = usage.Prompt, usage.Completion
	r.ReasoningTokens, r.CachedTokens = usage.Reasoning, usage.Cached
	r.Units = usage.Units
	r.CostNano, r.Priced = g.Cost(usage)
	switch {
	case !r.Priced: // the price is known of what can be used, not of what was: the whole reservation
		r.CostNano = cmp.Or(g.target.allowed.use.most.Nano, g.target.allowed.use.likely.Nano)
	case !reported && g.target.allowed.use.bound.Units.Some(): // how many tokens were audio is not known
		bound := g.target.allowed.use.bound
		bound.Prompt, bound.Completion = usage.Prompt, usage.Completion
		for u, n := range usage.Units {
			if n > 0 {
				bound.Units[u] = n
			}
		}
		if nano, ok := g.price().MostNano(bound); ok {
			r.CostNano = nano
		}
	}
	return limits.Amount{Nano: r.CostNano, Tokens: usage.Prompt + usage.Completion}
}

// estimated is the usage of an answer that reported none, or only that of its beginning. Under a hard
// budget images and stored state count as reserved, text a token for three bytes. It is never more
// than what was reserved.
func (g *charge) estimated(m *meter) openai.Usage {
	choices, use := max(g.requested.Choices, 1), &g.target.allowed.use
	prompt := use.prompt
	if prompt == 0 {
		prompt = params.Tokens(m.requestBytes, params.BytesPerToken)
	}
	completion := m.completion(choices, g.deps.Now())
	made := g.target.made(&g.requested).Heard(cmp.Or(m.heard, g.requested.Heard))
	prompt += made.Prompt
	switch {
	case !g.target.op.Generates:
		completion = made.Units.Output() + min(completion, made.Text)
	case g.target.allowed.output > 0:
		completion = min(completion, g.target.allowed.output*choices)
	}
	if bound := use.bound; bound.Prompt > 0 {
		prompt, completion = min(prompt, bound.Prompt), min(completion, bound.Completion)
	}
	usage := openai.Usage{Prompt: max(prompt, m.usage.Prompt), Completion: max(completion, m.usage.Completion), Units: made.Units.Max(m.usage.Units)}
	if m.usage.Cached+m.usage.CacheWrite > 0 { // Anthropic reports the prompt, in its parts, before the answer
		generated := usage.Completion
		usage = m.usage
		usage.Completion = generated
	}
	usage.Total = usage.Prompt + usage.Completion
	return usage
}

// completed is the reported usage, with an estimate for what cannot be true. Nor can a cost of zero.
func (g *charge) completed(m *meter) openai.Usage {
	usage, estimate := m.usage, g.estimated(m)
	if usage.Prompt == 0 {
		usage.Prompt = estimate.Prompt
	}
	if usage.Completion == 0 && m.text {
		usage.Completion = estimate.Completion
	}
	usage.Total = usage.Prompt + usage.Completion
	if nano, err := catalog.ParseUSD(usage.Cost); err == nil && nano == 0 {
		usage.Cost = ""
	}
	return usage
}

// warnOfExcess warns of a provider that gave more tokens than the request allowed. It may know the
// limit by another name, and then no hard budget bounds it.
func (g *charge) warnOfExcess(given int64) {
	if reserved := g.target.allowed.use.bound.Completion; reserved > 0 && given > reserved {
		g.deps.Sampled().Warn("a provider gave more tokens than the call had reserved; if it ignores the output limit, set max_tokens_field",
			zap.String("request_id", g.record.RequestID), zap.String("provider", g.record.Provider),
			zap.Int64("tokens", given), zap.Int64("reserved", reserved))
	}
}

// Cost implements [wire.Pricer]. The cost that a provider reports counts only if its configuration says so.
func (g *charge) Cost(u openai.Usage) (int64, bool) {
	if u.Cost != "" && g.target != nil && g.target.provider.CostReported {
		if nano, err := catalog.ParseUSD(u.Cost); err == nil {
			return nano, true
		}
	}
	if u.Completion > 0 && !u.PicturesSplit && g.price().PicturesApart() && g.target.op.Generates {
		return 0, false // some of it may be pictures
	}
	for i, cached := range u.CachedUnits { // they have the rate of what was cached
		u.Units[i] -= min(cached, u.Units[i], u.Cached)
	}
	return g.price().CostNano(catalog.Tokens{
		Prompt: u.Prompt, Completion: u.Completion, Cached: u.Cached, CacheWrite: u.CacheWrite, Reasoning: u.Reasoning,
		Units: u.Units, CacheHour: u.CacheWriteHour, KeptLong: g.cacheHour && !u.CacheSplit,
	})
}

// price returns the price of the call, nil if none is known.
func (g *charge) price() *catalog.Price {
	if g.target == nil {
		return nil
	}
	return g.target.price(&g.requested)
}

package gateway

import (
	"context"
	"time"

	"go.uber.org/zap"

	"github.com/gatehouse-proxy/gatehouse/internal/activity"
	"github.com/gatehouse-proxy/gatehouse/internal/catalog"
	"github.com/gatehouse-proxy/gatehouse/internal/limits"
	"github.com/gatehouse-proxy/gatehouse/internal/openai"
)

// settleTimeout bounds how long the end of a call waits for the ledger.
const settleTimeout = 5 * time.Second

// account finds what the call has used and notes in the record what it is
// charged. The rule for an answer that told no usage is in estimated.
func (c *Call) account() limits.Amount {
	r, q := c.Record, &c.quota
	told := c.counted && (c.later == 0 || r.Code == "") // a whole answer's usage is the provider's word, wherever it stands
	usage := c.usage
	switch {
	case told && c.impossible():
		r.UsageSource, told = activity.UsageEstimated, false
		usage = c.completed()
	case told:
		r.UsageSource = activity.UsageProvider
		c.warnOfExcess()
	case !c.counted && (c.seen.refused || c.sent == nil || !c.answered && !c.sent.Delivered()):
		return limits.Amount{}
	default:
		r.UsageSource = activity.UsageEstimated
		usage = c.estimated()
	}
	r.PromptTokens, r.CompletionTokens = usage.Prompt, usage.Completion
	r.ReasoningTokens, r.CachedTokens = usage.Reasoning, usage.Cached
	r.CostNano, r.Priced = c.Cost(usage)
	switch {
	case !r.Priced: // the price is known of what can be used, not of what was: the whole reserve
		r.CostNano = max(q.most.Nano, q.likely.Nano)
	case !told && (q.bound.AudioInput || q.bound.AudioOutput): // which tokens were audio, nobody told
		bound := q.bound
		bound.Prompt, bound.Completion = usage.Prompt, usage.Completion
		if nano, ok := c.model.Price.MostNano(bound); ok {
			r.CostNano = nano
		}
	}
	return limits.Amount{Nano: r.CostNano, Tokens: usage.Prompt + usage.Completion}
}

// impossible reports whether what the provider says was used cannot be true: a prompt
// without tokens, or text without. What failed before its first word may have used nothing.
func (c *Call) impossible() bool {
	return !c.seen.refused && (c.usage.Prompt == 0 || c.usage.Completion == 0 && c.seen.said)
}

// completed is the usage that the provider told, with what cannot be true estimated. So is
// a cost of zero.
func (c *Call) completed() openai.Usage {
	usage, estimate := c.usage, c.estimated()
	if usage.Prompt == 0 {
		usage.Prompt = estimate.Prompt
	}
	if usage.Completion == 0 && c.seen.said {
		usage.Completion = estimate.Completion
	}
	usage.Total = usage.Prompt + usage.Completion
	if nano, err := catalog.ParseUSD(usage.Cost); err == nil && nano == 0 {
		usage.Cost = ""
	}
	return usage
}

// warnOfExcess tells of a provider that gave more than it was told to: it may
// know the limit by another name, and then no hard budget bounds it.
func (c *Call) warnOfExcess() {
	q := &c.quota
	if q.bound.Completion > 0 && c.usage.Completion > q.bound.Completion {
		c.gateway.sampled().Warn("a provider gave more tokens than the call had reserved; if it ignores the output limit, set max_tokens_field",
			zap.String("request_id", c.Record.RequestID), zap.String("provider", c.provider.Name),
			zap.Int64("tokens", c.usage.Completion), zap.Int64("reserved", q.bound.Completion))
	}
}

// settleLimits ends what the call holds of its limits.
func (c *Call) settleLimits() {
	used := c.account()
	q := &c.quota
	q.grant.Adjust(used.Tokens)
	if q.hold != nil {
		ctx, cancel := context.WithTimeout(context.Background(), settleTimeout)
		if err := q.hold.Settle(ctx, used); err != nil {
			c.gateway.logger.Error("what a call has spent was not recorded", zap.String("request_id", c.Record.RequestID), zap.Error(err))
		}
		cancel()
	}
	q.permits[1].Release()
	q.permits[0].Release()
}

// Cost is the price of the usage in nano-USD, and whether it is known. What the
// provider says counts only where its block says so.
func (c *Call) Cost(u openai.Usage) (int64, bool) {
	if u.Cost != "" && c.provider != nil && c.provider.CostReported {
		if nano, err := catalog.ParseUSD(u.Cost); err == nil {
			return nano, true
		}
	}
	return c.model.Price.CostNano(catalog.Tokens{
		Prompt: u.Prompt, Completion: u.Completion, Cached: u.Cached, CacheWrite: u.CacheWrite, Reasoning: u.Reasoning,
		AudioInput: u.AudioInput, AudioOutput: u.AudioOutput, KeptLong: c.keptLong,
	})
}

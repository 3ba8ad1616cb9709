package gateway

import (
	"bytes"
	"context"
	"errors"
	"net"
	"net/http"
	"time"

	"go.uber.org/zap"

	"github.com/gatehouse-proxy/gatehouse/internal/catalog"
	"github.com/gatehouse-proxy/gatehouse/internal/limits"
	"github.com/gatehouse-proxy/gatehouse/internal/openai"
)

const (
	// tokensPerSecond is what a provider is taken to have generated of which
	// nothing was seen: faster than large models are, so it errs high.
	tokensPerSecond = 200

	// settleTimeout bounds how long the end of a call waits for the ledger.
	settleTimeout = 5 * time.Second
)

// seen is what arrived of an answer, for the estimate of one that told no usage.
type seen struct {
	sent     time.Time
	bytes    int64 // of the request
	events   int64
	data     int64 // bytes of all events
	smallest int64 // bytes of the smallest event
	whole    int64 // bytes of an answer that is not streamed
	refused  bool  // the provider answered with another status than 200, or was never reached
}

// Event notes an event of the provider's stream. What is no JSON ([DONE]), and
// events whose name says that they carry no piece of the answer, do not count.
func (c *Call) Event(name, data []byte) {
	c.FirstToken()
	if len(data) == 0 || data[0] != '{' || len(name) > 0 && !bytes.Contains(name, deltaEvent) {
		return
	}
	n := int64(len(data))
	if c.seen.events == 0 || n < c.seen.smallest {
		c.seen.smallest = n
	}
	c.seen.events++
	c.seen.data += n
}

// Whole notes the size of an answer that is not streamed, in bytes.
func (c *Call) Whole(bytes int) { c.seen.whole = int64(bytes) }

// deltaEvent is in the names of the events of a Responses stream that carry text.
var deltaEvent = []byte("delta")

// account finds what the call has used and notes it in the record. The rule for
// an answer that told no usage is in estimated.
func (c *Call) account() (used limits.Amount) {
	r := &c.Record
	usage := c.usage
	switch {
	case c.counted:
		r.UsageSource = usageProvider
	case r.Attempts == 0 || c.seen.refused:
		return limits.Amount{}
	default:
		r.UsageSource = usageEstimated
		usage = c.estimated()
	}
	r.PromptTokens, r.CompletionTokens = usage.Prompt, usage.Completion
	r.ReasoningTokens, r.CachedTokens = usage.Reasoning, usage.Cached
	r.CostNano, r.Priced = c.Cost(usage)
	used = limits.Amount{Nano: r.CostNano, Tokens: usage.Prompt + usage.Completion}
	switch {
	case !r.Priced:
		used.Nano = c.quota.most.Nano // the price is known of what can be used, not of what was: the whole reserve
	case !c.counted && c.quota.hold != nil && c.quota.key.hardMoney && c.quota.priced:
		used.Nano = min(used.Nano, c.quota.most.Nano)
	}
	return used
}

// estimated is the usage of an answer that told none: of the prompt, a token for
// each four bytes; of the answer, a token an event, or one for each three bytes
// by which events exceed the smallest one, which is about the frame that all
// have, whichever is more; of an answer that is not
// streamed, a token for each four bytes. Where nothing was seen, as when a client leaves before
// an answer that is not streamed, 200 tokens for each second and choice. It is
// never more than what was reserved.
func (c *Call) estimated() openai.Usage {
	q, s := &c.quota, &c.seen
	choices := max(q.demand.Choices, 1)
	prompt := (s.bytes + bytesPerToken - 1) / bytesPerToken
	completion := max(s.events, (s.data-s.events*s.smallest)/3)
	switch {
	case s.whole > 0:
		completion = s.whole / bytesPerToken
	case s.events == 0:
		completion = int64(c.gateway.now().Sub(s.sent).Seconds()*tokensPerSecond) * choices
	}
	if q.output > 0 {
		completion = min(completion, q.output*choices)
	}
	if q.most.Tokens > 0 {
		prompt = min(prompt, q.most.Tokens)
		completion = min(completion, q.most.Tokens-prompt)
	}
	return openai.Usage{Prompt: prompt, Completion: completion, Total: prompt + completion}
}

// neverReached tells that a request cannot have got to the provider.
func neverReached(err error) bool {
	var op *net.OpError
	return errors.As(err, &op) && op.Op == "dial"
}

// answeredWith notes the status of the provider's answer: one that is not 200
// is not billed.
func (c *Call) answeredWith(status int) { c.seen.refused = status != http.StatusOK }

// settleLimits ends what the call holds of its limits.
func (c *Call) settleLimits() {
	used := c.account()
	q := &c.quota
	q.grant.Correct(used.Tokens)
	if q.hold != nil {
		ctx, cancel := context.WithTimeout(context.Background(), settleTimeout)
		if err := q.hold.Settle(ctx, used); err != nil {
			c.gateway.logger.Error("what a call has spent was not recorded", zap.String("request_id", c.Record.RequestID), zap.Error(err))
		}
		cancel()
	}
	q.permits[1].Leave()
	q.permits[0].Leave()
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
		AudioInput: u.AudioInput, AudioOutput: u.AudioOutput,
	})
}

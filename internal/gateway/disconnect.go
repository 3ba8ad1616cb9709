package gateway

import (
	"context"
	"time"

	"go.uber.org/zap"
)

// upstreamContext ends with the client, or, where the configuration says so, some
// time after it: what is generated until then tells its usage.
func (c *Call) upstreamContext(client context.Context) (context.Context, context.CancelCauseFunc) {
	drain := c.gateway.limits.Drain
	if drain == 0 {
		return context.WithCancelCause(client)
	}
	ctx, cancel := context.WithCancelCause(context.WithoutCancel(client))
	c.unwatch = context.AfterFunc(client, func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		if !c.over {
			c.gateway.logger.Debug("the client has left; the provider's answer is read on",
				zap.String("request_id", c.Record.RequestID), zap.Duration("at_most", drain))
			c.linger = time.AfterFunc(drain, func() { cancel(context.Cause(client)) })
		}
	})
	return ctx, cancel
}

// stopDraining ends what upstreamContext began.
func (c *Call) stopDraining() {
	if c.unwatch == nil {
		return
	}
	c.unwatch()
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.over = true; c.linger != nil {
		c.linger.Stop()
	}
}

// Drains tells whether the answer is read on after its client has left.
func (c *Call) Drains() bool { return c.gateway.limits.Drain > 0 }

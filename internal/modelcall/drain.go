package modelcall

import (
	"context"
	"sync"
	"time"

	"go.uber.org/zap"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/request"
)

// drain lets a provider's answer be read for some time after its client has left, so that its usage
// becomes known. The zero value does nothing.
type drain struct {
	client  context.Context
	unwatch func() bool // stops watching the client; nil without draining

	mu    sync.Mutex  // guards the following, which another goroutine uses
	timer *time.Timer // cancels the upstream request; nil while the client is there
	over  bool        // the call has finished
}

// context returns a context that ends with the client, or the configured time after it.
func (d *drain) context(client context.Context, deps *Deps, requestID string) (context.Context, context.CancelCauseFunc) {
	d.client = client
	limit := deps.Limits.Drain
	if limit == 0 {
		return context.WithCancelCause(client)
	}
	ctx, cancel := context.WithCancelCause(context.WithoutCancel(client))
	d.unwatch = context.AfterFunc(client, func() {
		d.mu.Lock()
		defer d.mu.Unlock()
		if d.over {
			return
		}
		deps.Logger.Debug("the client has left; the provider's answer is read on",
			zap.String("request_id", requestID), zap.Duration("at_most", limit))
		d.timer = time.AfterFunc(limit, func() { cancel(context.Cause(client)) })
	})
	return ctx, cancel
}

// stop ends what context began.
func (d *drain) stop() {
	if d.unwatch == nil {
		return
	}
	d.unwatch()
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.over = true; d.timer != nil {
		d.timer.Stop()
	}
}

// drains reports whether an answer is read on after its client has left.
func (u *upstream) drains() bool { return u.deps.Limits.Drain > 0 }

// leftWhileDraining returns a failure if the answer was only read for its usage.
func (u *upstream) leftWhileDraining(client context.Context) *apierror.Error {
	if err := client.Err(); err != nil && u.drains() {
		return request.ClientGone(err)
	}
	return nil
}

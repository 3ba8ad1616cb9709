package gateway

import (
	"context"
	"time"

	"go.uber.org/zap"
)

// workstationsRetry is how often a storage that could not be read is tried again.
const workstationsRetry = 5 * time.Second

// startWorkstations reads what is stored of workstations. Where that fails their half
// waits, and is tried again until ctx ends: the model half needs none of it.
func (g *Gateway) startWorkstations(ctx context.Context) {
	err := g.workstations.Start(ctx)
	if err == nil {
		return
	}
	g.logger.Error("workstations are not available until their records can be read", zap.Error(err))
	go func() {
		retry := time.NewTicker(workstationsRetry)
		defer retry.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-retry.C:
			}
			before := err.Error()
			if err = g.workstations.Start(ctx); err == nil {
				g.logger.Info("workstations are available")
				return
			}
			if err.Error() != before { // one was mended, the next is found
				g.logger.Error("workstations are not available yet", zap.Error(err))
			}
		}
	}()
}

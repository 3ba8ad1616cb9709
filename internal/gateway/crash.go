package gateway

import (
	"context"
	"fmt"
	"net/http"
	"strings"

	"go.uber.org/zap"

	"github.com/gatehouse-proxy/gatehouse/internal/activity"
	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/limits"
)

// recordCrashes leaves a row for every call that the last process left behind;
// the ledger has charged them as reserved.
func (s *State) recordCrashes(g *Gateway, crashed []limits.Crash) {
	for _, crash := range crashed {
		request, caller, _ := strings.Cut(crash.Call, reservationMark)
		tenant, key, _ := strings.Cut(caller, reservationMark)
		s.log.Append(&activity.Record{
			ID: request, RequestID: request, CreatedAt: crash.At, Tenant: tenant, Key: key, Family: crashedRoute, Route: crashedRoute,
			Status: http.StatusInternalServerError, Code: string(apierror.Internal), UsageSource: activity.UsageCrashed,
			PromptTokens: crash.Amount.Tokens, CostNano: crash.Amount.Nano, Priced: crash.Amount.Nano > 0, Attempts: 1,
		})
	}
	if len(crashed) > 0 {
		g.logger.Warn("calls that the last process left behind were charged what they had reserved", zap.Int("calls", len(crashed)))
	}
}

// crashedRoute stands for what nobody remembers of such a call.
const crashedRoute = "unknown"

// warnOfUnnamed tells which subjects have spent something and are not
// configured any more: the counts of a renamed key start at zero.
func (g *Gateway) warnOfUnnamed(ctx context.Context) error {
	named := map[string]bool{}
	for _, s := range g.limits.subjects() {
		named[s.Name] = true
	}
	unnamed, err := limits.Unnamed(ctx, g.ledger, g.now(), func(name string) bool { return named[name] })
	if err != nil {
		return fmt.Errorf("ledger: %w", err)
	}
	for _, name := range unnamed {
		g.logger.Warn("a budget that was used in the current period is not configured any more; if its subject was renamed, the new name starts at zero", zap.String("subject", name))
	}
	return nil
}

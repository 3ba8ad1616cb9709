package gateway

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"go.uber.org/zap"

	"github.com/gatehouse-proxy/gatehouse/internal/activity"
	"github.com/gatehouse-proxy/gatehouse/internal/admission"
	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/limits"
)

// RecordCrashes writes a row for every call that was under way when the last process died. The
// ledger has charged each the amount that it had reserved.
func RecordCrashes(log activity.Log, logger *zap.Logger, crashed []limits.Crash) {
	for _, crash := range crashed {
		request, tenant, key := admission.ParseReservationID(crash.Call)
		log.Append(&activity.Record{
			ID: request, RequestID: request, CreatedAt: crash.At, Tenant: tenant, Key: key, Family: crashedRoute, Route: crashedRoute,
			Status: http.StatusInternalServerError, Code: string(apierror.Internal), UsageSource: activity.UsageCrashed,
			PromptTokens: crash.Amount.Tokens, CostNano: crash.Amount.Nano, Priced: crash.Amount.Nano > 0, Attempts: 1,
		})
	}
	if len(crashed) > 0 {
		logger.Warn("calls that the last process left behind were charged what they had reserved", zap.Int("calls", len(crashed)))
	}
}

// crashedRoute is the route and the family of such a call, which the ledger does not have.
const crashedRoute = "unknown"

// warnOfUnnamed logs the subjects that have spent something in the current period and are not
// configured any more: the counts of a renamed key start at zero.
func warnOfUnnamed(ctx context.Context, ledger limits.Ledger, now time.Time, configured []limits.Subject, others KeySource, logger *zap.Logger) error {
	named := map[string]bool{}
	for _, s := range configured {
		named[s.Name] = true
	}
	unnamed, err := limits.Unnamed(ctx, ledger, now, func(name string) bool {
		return named[name] || others != nil && others.IsSubject(name)
	})
	if errors.Is(err, limits.ErrUnavailable) { // a gateway starts without the engine of its cluster
		logger.Warn("which budgets are not configured any more is not known", zap.Error(err))
		return nil
	}
	if err != nil {
		return fmt.Errorf("ledger: %w", err)
	}
	for _, name := range unnamed {
		logger.Warn("a budget that was used in the current period is not configured any more; if its subject was renamed, the new name starts at zero", zap.String("subject", name))
	}
	return nil
}

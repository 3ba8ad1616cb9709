package gateway

import (
	"context"
	"time"

	"go.uber.org/zap"

	"github.com/gatehouse-proxy/gatehouse/internal/desktop"
	"github.com/gatehouse-proxy/gatehouse/internal/keys"
	"github.com/gatehouse-proxy/gatehouse/internal/vncsession"
)

// workstationsRetry is the wait before records that could not be read are read again.
const workstationsRetry = 5 * time.Second

// vncParts are the workstations of a configuration, and what their sessions use.
type vncParts struct {
	workstations *desktop.Service // nil: none
	sessions     vncsession.Deps
}

// startWorkstations reads the stored records of workstations. If that fails, workstations are not
// available, and it is tried again until ctx ends. Model calls need no workstations and go on.
func startWorkstations(ctx context.Context, service *desktop.Service, logger *zap.Logger) {
	err := service.Start(ctx)
	if err == nil {
		return
	}
	logger.Error("workstations are not available until their records can be read", zap.Error(err))
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
			if err = service.Start(ctx); err == nil {
				logger.Info("workstations are available")
				return
			}
			if err.Error() != before { // that one was mended, and another was found
				logger.Error("workstations are not available yet", zap.Error(err))
			}
		}
	}()
}

// mayConnect returns a function that reports whether a key may still open the desktops for which it
// has VNC addresses, or that an agent has open with it. The key is the one that holds the secret
// with which they were asked for.
func mayConnect(keyring *keys.Keyring, now func() time.Time) func(desktop.Issuer) bool {
	return func(by desktop.Issuer) bool {
		key, ok := keyring.Holding(by.KeyHash)
		return ok && key.Name == by.Key && key.Tenant == by.Tenant && key.Has(scopeOf(by)) && key.Valid(now())
	}
}

// mayConnectWith returns a function that reports whether a key, of the configuration or another
// source, may still open the desktops for which it has VNC addresses, and the user who has asked
// for them the key.
func mayConnectWith(g *Gateway) func(desktop.Issuer) bool {
	configured := mayConnect(g.keyring, g.now)
	return func(by desktop.Issuer) bool {
		if g.others.any(func(s KeySource) bool { return s.MayStill(by.KeyHash, by.Tenant, scopeOf(by)) }) {
			return true // a sign-on gives keys of the configuration alone
		}
		for _, f := range g.features {
			if f.MayUse != nil && !f.MayUse(by.User, by.Key) {
				return false
			}
		}
		return configured(by)
	}
}

// scopeOf is the scope that keeps a desktop open.
func scopeOf(by desktop.Issuer) keys.Scope {
	if by.Agent {
		return keys.WorkstationsAutomate
	}
	return keys.WorkstationsConnect
}

// Package recordings is the feature of a gateway that records sessions of desktops and shows them
// later.
package recordings

import (
	"context"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/gateway"
	"github.com/gatehouse-proxy/gatehouse/internal/keys"
	"github.com/gatehouse-proxy/gatehouse/internal/recording"
	"github.com/gatehouse-proxy/gatehouse/internal/replay"
	"github.com/gatehouse-proxy/gatehouse/internal/request"
)

// Recordings are those of a configuration.
type Recordings struct {
	store   *recording.Store // nil: no session is recorded
	callers gateway.Callers
}

// Feature lets sessions be recorded as the settings say; nil: none is.
func Feature(c gateway.Core, settings *recording.Settings) gateway.Feature {
	r := &Recordings{callers: c.Callers}
	if settings == nil {
		return gateway.Feature{Offers: r}
	}
	r.store = recording.NewStore(*settings, c.VNC.Node, c.Requests.Logger, c.Requests.Now)
	c.Sessions.Recordings = r.store
	return gateway.Feature{Offers: r, Start: func(ctx context.Context) { go r.store.Run(ctx) }}
}

// Open returns the recordings. Where no session can be recorded the error is [apierror.UnknownURL].
func (r *Recordings) Open() (replay.Recordings, error) {
	if r.store == nil {
		return replay.Recordings{}, apierror.New(apierror.UnknownURL, "this gateway records no sessions")
	}
	return replay.Recordings{Store: r.store}, nil
}

// Viewer is the key of a request that watches or exports a recording. It sees what a configuration
// that has started lets it see: before the one before has stopped a reload may still fail.
func (r *Recordings) Viewer(q *request.Request) replay.Viewer {
	by := &q.Caller
	hash := by.SecretHash()
	return replay.Viewer{Tenant: by.Tenant, Key: by.Name, Sees: func(tenant string) bool {
		return r.callers.Any(by.Tenant, by.Name, hash, func(now request.Caller) bool {
			return now.Has(keys.RecordingsRead) && now.Tenants("").Has(tenant)
		})
	}}
}

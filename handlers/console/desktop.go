package console

import (
	"net/http"
	"time"

	"go.uber.org/zap"

	"github.com/gatehouse-proxy/gatehouse/internal/caddykit"
	"github.com/gatehouse-proxy/gatehouse/internal/request"
	"github.com/gatehouse-proxy/gatehouse/internal/vncrelay"
	"github.com/gatehouse-proxy/gatehouse/internal/vncsocket"
)

// desktops returns what serves the sockets of desktops, with the newest configuration: a session
// outlives the one that has begun it. Origins are those of the console behind a proxy.
func desktops(vnc vncrelay.Server, origins []string, logger *zap.Logger) func(http.ResponseWriter, *http.Request, request.Caller, func(func() time.Time, func()) func()) {
	return func(w http.ResponseWriter, r *http.Request, by request.Caller, onSignOut func(func() time.Time, func()) func()) {
		vncsocket.Serve(w, r, vncsocket.Options{
			Gateway:   vnc.Current(r.Context()),
			SignedIn:  vncsocket.Key{Tenant: by.Tenant, Hash: by.Hash},
			OnSignOut: onSignOut,
			Viewer:    caddykit.ClientAddr(r),
			Origins:   origins,
			Logger:    logger,
		})
	}
}

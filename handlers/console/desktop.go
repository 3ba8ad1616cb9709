package console

import (
	"net/http"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/request"

	"go.uber.org/zap"

	"github.com/gatehouse-proxy/gatehouse/internal/caddykit"
	"github.com/gatehouse-proxy/gatehouse/internal/gateway"
	"github.com/gatehouse-proxy/gatehouse/internal/vncsocket"
)

// desktops returns what serves the sockets of desktops, with the newest configuration: a session
// outlives the one that has begun it. Origins are those of the console behind a proxy.
func desktops(g *gateway.Gateway, origins []string, logger *zap.Logger) func(http.ResponseWriter, *http.Request, request.Caller, func(func() time.Time, func()) func()) {
	return func(w http.ResponseWriter, r *http.Request, by request.Caller, onSignOut func(func() time.Time, func()) func()) {
		o := vncsocket.Options{
			SignedIn:  vncsocket.Key{Tenant: by.Tenant, Hash: by.Hash},
			OnSignOut: onSignOut,
			Viewer:    caddykit.ClientAddr(r),
			Origins:   origins,
			Logger:    logger,
		}
		if current := g.Current(); current != nil && current.VNC().Workstations() != nil {
			o.Gateway = current.VNC()
		}
		vncsocket.Serve(w, r, o)
	}
}

package caddykit

import (
	"net/http"

	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
)

// Client returns the IP address of a request's client. Behind proxies in the server's trusted_proxies, it
// is the one that they report.
func Client(r *http.Request) string {
	if address, ok := caddyhttp.GetVar(r.Context(), caddyhttp.ClientIPVarKey).(string); ok && address != "" {
		return address
	}
	return r.RemoteAddr
}

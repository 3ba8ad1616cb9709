package caddykit

import (
	"crypto/x509"
	"time"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
)

const (
	// renewalWindow is the part of a certificate's lifetime in which Caddy renews it, by default.
	renewalWindow = 1.0 / 3
	// windowLeft is the part of that time that is left when the renewal is late: some attempts may fail.
	windowLeft = 3.0 / 4
	// mostLeft bounds it for a certificate of a year that an operator renews by hand.
	mostLeft = 21 * 24 * time.Hour
)

// RenewBy returns from when on the renewal of a certificate is late. The window is what
// renewal_window_ratio says, 0 for Caddy's default.
func RenewBy(c *x509.Certificate, window float64) time.Time {
	if window == 0 {
		window = renewalWindow
	}
	left := time.Duration(float64(c.NotAfter.Sub(c.NotBefore)) * window * windowLeft)
	return c.NotAfter.Add(-min(left, mostLeft))
}

// SiteHosts returns the host names of the sites of a server that have one of the handlers.
func SiteHosts(s *caddyhttp.Server, ours func(caddy.ModuleID) bool) []string {
	return hostsIn(s.Routes, nil, ours)
}

// hostsIn looks at routes of a site with the hosts above.
func hostsIn(routes caddyhttp.RouteList, above []string, ours func(caddy.ModuleID) bool) (found []string) {
	for i := range routes {
		hosts := above
		for _, set := range routes[i].MatcherSets {
			for _, matcher := range set {
				if m, ok := matcher.(*caddyhttp.MatchHost); ok {
					hosts = append(hosts[:len(hosts):len(hosts)], *m...)
				}
			}
		}
		for _, handler := range routes[i].Handlers {
			if within, ok := handler.(*caddyhttp.Subroute); ok {
				found = append(found, hostsIn(within.Routes, hosts, ours)...)
			} else if m, ok := handler.(caddy.Module); ok && ours(m.CaddyModule().ID) {
				found = append(found, hosts...)
			}
		}
	}
	return found
}

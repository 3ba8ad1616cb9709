package l4vnc

import (
	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"
	"github.com/caddyserver/caddy/v2/modules/caddytls"

	"github.com/gatehouse-proxy/gatehouse/internal/caddykit"
)

// UnmarshalCaddyfile reads the handler. connection_policy has the syntax of the layer-4 tls handler
// and may be given several times:
//
//	vnc {
//		connection_policy { … }
//		tls_first_wait DURATION|off
//		step_timeout DURATION
//		auth_timeout DURATION
//		max_pending NUMBER
//		max_pending_per_network NUMBER
//	}
func (h *Handler) UnmarshalCaddyfile(d *caddyfile.Dispenser) error {
	d.Next()
	if d.NextArg() {
		return d.ArgErr()
	}
	return caddykit.Options{
		"connection_policy": {Many: true, Read: func(d *caddyfile.Dispenser) error {
			policy := new(caddytls.ConnectionPolicy)
			h.ConnectionPolicies = append(h.ConnectionPolicies, policy)
			return policy.UnmarshalCaddyfile(d.NewFromNextSegment())
		}},
		"tls_first_wait": caddykit.Value(&h.TLSFirstWait, func(text string) (caddy.Duration, error) {
			if text == "off" {
				return -1, nil
			}
			return caddykit.ParseDuration(text)
		}),
		"step_timeout":            caddykit.Value(&h.StepTimeout, caddykit.ParseDuration),
		"auth_timeout":            caddykit.Value(&h.AuthTimeout, caddykit.ParseDuration),
		"max_pending":             caddykit.Value(&h.MaxPending, caddykit.ParseCount),
		"max_pending_per_network": caddykit.Value(&h.MaxPendingPerNetwork, caddykit.ParseCount),
	}.Block(d)
}

// UnmarshalCaddyfile reads the matcher, which has no options:
//
//	vnc_token
func (m *MatchToken) UnmarshalCaddyfile(d *caddyfile.Dispenser) error {
	d.Next()
	if d.NextArg() {
		return d.ArgErr()
	}
	return caddykit.Options{}.Block(d)
}

var (
	_ caddyfile.Unmarshaler = (*Handler)(nil)
	_ caddyfile.Unmarshaler = (*MatchToken)(nil)
)

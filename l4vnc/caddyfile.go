package l4vnc

import (
	"fmt"
	"strconv"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"
	"github.com/caddyserver/caddy/v2/modules/caddytls"

	"github.com/gatehouse-proxy/gatehouse/internal/caddykit"
)

// UnmarshalCaddyfile reads the handler; connection_policy has the syntax of the
// layer-4 tls handler and may stand several times:
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
			return parseDuration(text)
		}),
		"step_timeout":            caddykit.Value(&h.StepTimeout, parseDuration),
		"auth_timeout":            caddykit.Value(&h.AuthTimeout, parseDuration),
		"max_pending":             caddykit.Value(&h.MaxPending, parseCount),
		"max_pending_per_network": caddykit.Value(&h.MaxPendingPerNetwork, parseCount),
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

func parseDuration(text string) (caddy.Duration, error) {
	duration, err := caddy.ParseDuration(text)
	if err == nil && duration <= 0 {
		err = fmt.Errorf("duration %q: want more than 0", text)
	}
	return caddy.Duration(duration), err
}

func parseCount(text string) (int, error) {
	n, err := strconv.Atoi(text)
	if err != nil || n <= 0 {
		return 0, fmt.Errorf("%q: want a number above 0", text)
	}
	return n, nil
}

var (
	_ caddyfile.Unmarshaler = (*Handler)(nil)
	_ caddyfile.Unmarshaler = (*MatchToken)(nil)
)

package l4vnc

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"
	"github.com/caddyserver/caddy/v2/modules/caddytls"

	"github.com/gatehouse-proxy/gatehouse/internal/caddykit"
	"github.com/gatehouse-proxy/gatehouse/internal/connlimit"
	"github.com/gatehouse-proxy/gatehouse/internal/rfb"
)

func TestModulesHaveTheirNames(t *testing.T) {
	for id, module := range map[string]caddy.Module{"layer4.handlers.vnc": new(Handler), "tls.handshake_match.vnc_token": new(MatchToken)} {
		info, err := caddy.GetModule(id)
		if err != nil {
			t.Fatal(err)
		}
		if got := info.New().CaddyModule().ID; got != caddy.ModuleID(id) || module.CaddyModule().ID != got {
			t.Errorf("%s makes %s", id, got)
		}
	}
}

func TestModulesNeedTheGlobalOption(t *testing.T) {
	ctx, cancel := caddy.NewContext(caddy.Context{Context: context.Background()})
	defer cancel()
	for name, module := range map[string]caddy.Provisioner{"vnc": new(Handler), "vnc_token": new(MatchToken)} {
		if err := module.Provision(ctx); !errors.Is(err, caddykit.ErrNoApp) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestTheHandlersDefaultsAndOptions(t *testing.T) {
	var h Handler
	if err := h.configure(domain); err != nil {
		t.Fatal(err)
	}
	if s := h.settings; s.tlsFirstWait != 400*time.Millisecond || s.times != (rfb.Timeouts{Step: 10 * time.Second, Person: 2 * time.Minute}) ||
		s.limits != (connlimit.Limits{}) || s.dial == nil {
		t.Errorf("defaults %+v", s)
	}
	if p := h.ConnectionPolicies; len(p) != 1 || p[0].DefaultSNI != "*."+domain || p[0].FallbackSNI != "*."+domain {
		t.Errorf("connection policies %+v", p)
	}
	h = Handler{
		TLSFirstWait: caddy.Duration(time.Second), StepTimeout: caddy.Duration(2 * time.Second), AuthTimeout: caddy.Duration(3 * time.Second),
		MaxPending: 4, MaxPendingPerNetwork: 5,
		ConnectionPolicies: caddytls.ConnectionPolicies{{DefaultSNI: "a.test"}, {FallbackSNI: "b.test"}},
	}
	if err := h.configure(domain); err != nil {
		t.Fatal(err)
	}
	if s := h.settings; s.tlsFirstWait != time.Second || s.times != (rfb.Timeouts{Step: 2 * time.Second, Person: 3 * time.Second}) ||
		s.limits != (connlimit.Limits{Pending: 4, PendingPerNetwork: 5}) {
		t.Errorf("options %+v", s)
	}
	if p := h.ConnectionPolicies; len(p) != 2 || p[0].DefaultSNI != "a.test" || p[0].FallbackSNI != "*."+domain || p[1].FallbackSNI != "b.test" {
		t.Errorf("connection policies %+v", p)
	}
	for _, bad := range []Handler{{StepTimeout: -1}, {AuthTimeout: -1}, {MaxPending: -1}, {MaxPendingPerNetwork: -1}} {
		if err := bad.configure(domain); err == nil {
			t.Errorf("%+v is taken", bad)
		}
	}
}

func TestTheHandlersCaddyfile(t *testing.T) {
	var h Handler
	err := h.UnmarshalCaddyfile(caddyfile.NewTestDispenser(`vnc {
		connection_policy {
			default_sni a.test
		}
		connection_policy {
			fallback_sni b.test
		}
		tls_first_wait 1s
		step_timeout 2s
		auth_timeout 3s
		max_pending 4
		max_pending_per_network 5
	}`))
	if err != nil || len(h.ConnectionPolicies) != 2 || h.ConnectionPolicies[0].DefaultSNI != "a.test" || h.ConnectionPolicies[1].FallbackSNI != "b.test" ||
		h.TLSFirstWait != caddy.Duration(time.Second) || h.StepTimeout != caddy.Duration(2*time.Second) || h.AuthTimeout != caddy.Duration(3*time.Second) ||
		h.MaxPending != 4 || h.MaxPendingPerNetwork != 5 {
		t.Errorf("%+v, %v", h, err)
	}
	h = Handler{}
	if err := h.UnmarshalCaddyfile(caddyfile.NewTestDispenser("vnc {\ntls_first_wait off\n}")); err != nil || h.TLSFirstWait >= 0 {
		t.Errorf("off: %v, %v", h.TLSFirstWait, err)
	}
	for _, bad := range []string{"vnc argument", "vnc {\nunknown\n}", "vnc {\nmax_pending many\n}", "vnc {\ntls_first_wait\n}", "vnc {\nconnection_policy {\nunknown\n}\n}"} {
		if err := new(Handler).UnmarshalCaddyfile(caddyfile.NewTestDispenser(bad)); err == nil {
			t.Errorf("%q is taken", bad)
		}
	}
	if err := new(MatchToken).UnmarshalCaddyfile(caddyfile.NewTestDispenser("vnc_token")); err != nil {
		t.Error(err)
	}
	for _, bad := range []string{"vnc_token argument", "vnc_token {\nunknown\n}"} {
		if err := new(MatchToken).UnmarshalCaddyfile(caddyfile.NewTestDispenser(bad)); err == nil {
			t.Errorf("%q is taken", bad)
		}
	}
}

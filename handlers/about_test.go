package handlers

import (
	"strings"
	"testing"
	"time"

	makekeys "github.com/gatehouse-proxy/gatehouse/internal/features/runtimekeys"
	"github.com/gatehouse-proxy/gatehouse/internal/gateway"
	"github.com/gatehouse-proxy/gatehouse/internal/keys"
	"github.com/gatehouse-proxy/gatehouse/internal/limits"
	"github.com/gatehouse-proxy/gatehouse/internal/pattern"
	"github.com/gatehouse-proxy/gatehouse/internal/policy"
	"github.com/gatehouse-proxy/gatehouse/internal/runtimekeys"
	"github.com/gatehouse-proxy/gatehouse/internal/version"
)

// making lets keys be made as the block says.
func making(b *runtimekeys.Block) func(gateway.Core) []gateway.Feature {
	return func(c gateway.Core) []gateway.Feature { return []gateway.Feature{makekeys.Feature(c, b)} }
}

func TestAboutTellsEachKeyWhatItMayKnow(t *testing.T) {
	block := &runtimekeys.Block{Scopes: keys.ChatWrite, Max: 10, Shared: new(policy.Limits)}
	g := startGateway(t, setup{Workstations: true, Features: making(block)})
	for key, want := range map[string]struct{ reads, operates bool }{"chat": {}, "full": {reads: true}, "operator": {true, true}} {
		a := call(t, g, "GET", "/v1/about", key, "")
		if a.Code != 200 || a.At(t, "object") != "about" || !strings.HasPrefix(a.At(t, "go_version").(string), "go1.") || a.At(t, "version") != version.Read().Version || a.At(t, "commit") != version.Read().Commit ||
			a.At(t, "desktops", "domain") != "vnc.example.com" || a.At(t, "desktops", "port") != 5900.0 || a.At(t, "runtime_keys") != true || a.At(t, "cluster") != nil {
			t.Errorf("%s: %d %s", key, a.Code, a.Body)
		}
		reads := a.At(t, "configured_at") == "2026-03-18T12:00:00Z" && a.At(t, "keep", "rows_seconds") == 30*86400.0 &&
			a.At(t, "keep", "series_seconds") == 400*86400.0 && a.At(t, "keep", "size_bytes") == float64(10<<30)
		if reads != want.reads || strings.Contains(a.Body.String(), `"store"`) != want.reads {
			t.Errorf("%s: %s", key, a.Body)
		}
		if want.reads && a.At(t, "store", "bytes").(float64) < 4096 {
			t.Errorf("%s: %s", key, a.Body)
		}
		if operates := a.At(t, "condition", "state") == "ready"; operates != want.operates {
			t.Errorf("%s: %s", key, a.Body)
		}
	}
	block.Models, block.Tools, block.Caps.Output = pattern.List{"acme/*"}, pattern.List{"demo/*"}, 4096
	block.Limits = limits.Subject{
		Rates:   []limits.Rate{{Unit: limits.Requests, Limit: 60, Window: time.Minute}},
		Budgets: []limits.Budget{{Unit: limits.Money, Limit: 10e9, Period: limits.Daily}}, Concurrency: limits.Concurrency{Limit: 4, Queue: 2, Wait: 10 * time.Second},
	}
	for _, c := range []struct {
		block *runtimekeys.Block
		key   string
		want  string // a part of the answer
	}{
		{block, "operator", `"new_keys":{"scopes":["chat:write"],"models":["acme/*"],"mcp":["demo/*"],"rates":["60/min"],"budgets":["10usd/day"],"concurrency":"4 queue 2 10s","max_output_tokens":4096},`},
		{&runtimekeys.Block{Scopes: keys.ChatWrite | keys.ModelsRead, Max: 10, Shared: new(policy.Limits)}, "operator",
			`"new_keys":{"scopes":["chat:write","models:read"],"models":[],"mcp":[],"rates":[],"budgets":[],"concurrency":null,"max_output_tokens":null},`},
		{block, "chat", ""},
		{nil, "operator", ""},
	} {
		a := call(t, startGateway(t, setup{Features: making(c.block)}), "GET", "/v1/about", c.key, "")
		if shown := strings.Contains(a.Body.String(), "new_keys"); a.Code != 200 || shown != (c.want != "") || !strings.Contains(a.Body.String(), c.want) {
			t.Errorf("%s with %+v: %d %s", c.key, c.block, a.Code, a.Body)
		}
	}
	call(t, g, "GET", "/v1/about?verbose=1", "chat", "").Want(t, 400, "unsupported_parameter", "verbose")
	bare := call(t, startGateway(t, setup{}), "GET", "/v1/about", "chat", "")
	if bare.At(t, "desktops") != nil || bare.At(t, "runtime_keys") != false {
		t.Errorf("%s", bare.Body)
	}
}

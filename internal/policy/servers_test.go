package policy

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/guardrail"
	"github.com/gatehouse-proxy/gatehouse/internal/guardrail/judge"
	"github.com/gatehouse-proxy/gatehouse/internal/keys"
	"github.com/gatehouse-proxy/gatehouse/internal/limits"
)

func TestTheLimitsOfAServerAreSharedAndHaveNoBudgets(t *testing.T) {
	once := limits.Rate{Unit: limits.Requests, Limit: 1, Window: time.Minute}
	l := Limits{Servers: map[string]*limits.Subject{
		"github": {Name: ServerSubject("github"), Rates: []limits.Rate{once}}, "demo": {Name: ServerSubject("demo")},
	}}
	if err := l.Prepare(); err != nil {
		t.Fatal(err)
	}
	if s := l.Server("github"); s == nil || s.Name != "mcp:github" {
		t.Errorf("github has %+v", s)
	}
	for _, name := range []string{"demo", "other", ""} {
		if s := l.Server(name); s != nil {
			t.Errorf("%q has %+v", name, s)
		}
	}
	all := slices.Collect(l.Limited("", keys.EveryTenant("")))
	if len(all) != 1 || !all[0].Shared() {
		t.Fatalf("%+v", all)
	}
	if name, ok := all[0].Server(); name != "github" || !ok {
		t.Errorf("the server is %q", name)
	}
	if len(l.Subjects()) != 0 {
		t.Errorf("with budgets: %+v", l.Subjects())
	}
	for want, s := range map[string]limits.Subject{
		"budgets belong to keys": {Budgets: []limits.Budget{{Unit: limits.Money, Limit: 1, Period: limits.Daily}}},
		"tools use no tokens":    {Rates: []limits.Rate{{Unit: limits.Tokens, Limit: 1, Window: time.Minute}}},
		`mcp "github": `:         {Rates: []limits.Rate{once, once}},
	} {
		s.Name = ServerSubject("github")
		bad := Limits{Servers: map[string]*limits.Subject{"github": &s}}
		if err := bad.Prepare(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

func TestGuardrailsOfKeyServerAndGatewayAreJoined(t *testing.T) {
	a, b := words(t, judge.Deny), words(t, judge.Redact)
	g := &Guardrails{Join: judge.Join,
		Keys: map[string][]guardrail.Guardrail{"dev": {a}}, Servers: map[string][]guardrail.Guardrail{"github": {b}},
		Models: []ModelGuardrails{{Pattern: "*", Guardrails: []guardrail.Guardrail{b}}},
	}
	if g.OfServer("other", "demo") != nil {
		t.Error("guardrails of models or of other servers apply")
	}
	if g.OfServer("dev", "demo") == nil || g.OfServer("other", "github") == nil || g.OfServer("dev", "github") == g.OfServer("dev", "demo") {
		t.Error("those of the key or of the server do not apply")
	}
	if (&Guardrails{Servers: g.Servers}).Empty() || !slices.Contains(g.Names(), b.Name()) {
		t.Error("a guardrail of a server is not counted")
	}
}

package policy

import (
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/guardrail"
	"github.com/gatehouse-proxy/gatehouse/internal/guardrail/judge"
)

func TestGuardrailsOfKeyModelAndGatewayAreJoinedOnce(t *testing.T) {
	a, b := words(t, judge.Deny), words(t, judge.Redact)
	g := &Guardrails{Join: judge.Join,
		Keys: map[string][]guardrail.Guardrail{"dev": {a}}, All: []guardrail.Guardrail{a},
		Models: []ModelGuardrails{{Pattern: "acme/*", Guardrails: []guardrail.Guardrail{b}}},
	}
	if err := g.Check(); err != nil {
		t.Fatal(err)
	}
	if g.Of("dev", "acme/m") != g.Of("dev", "acme/other") {
		t.Error("the same guardrails are joined twice")
	}
	if g.Of("dev", "other/m") == g.Of("dev", "acme/m") || g.Of("other", "other/m") == nil {
		t.Error("the guardrails do not follow key and model")
	}
	if g.OfAny("other") != g.Of("other", "acme/m") || g.OfAny("other") == g.Of("other", "other/m") {
		t.Error("not all guardrails of models hold where the model is not known")
	}
	if (&Guardrails{}).Of("dev", "acme/m") != nil {
		t.Error("a set of no guardrails")
	}
	bad := &Guardrails{Models: []ModelGuardrails{{Pattern: ""}}}
	if err := bad.Check(); err == nil {
		t.Error("an empty pattern is accepted")
	}
}

func words(t *testing.T, action judge.Action) *judge.Guardrail {
	t.Helper()
	g, err := judge.Compile(judge.Spec{Name: "words", On: guardrail.Input, Rules: []judge.Rule{
		{Action: action, Detector: judge.Words, Words: []string{"mellon"}},
	}})
	if err != nil {
		t.Fatal(err)
	}
	return g
}

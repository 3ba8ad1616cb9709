package modelcall

import (
	"strings"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/modelcall/wire"
	"github.com/gatehouse-proxy/gatehouse/internal/policy"

	"github.com/gatehouse-proxy/gatehouse/internal/activity"
	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/catalog"
	"github.com/gatehouse-proxy/gatehouse/internal/limits"
	"github.com/gatehouse-proxy/gatehouse/internal/provider"
)

func TestATargetServesTheOperationOrItsTranslation(t *testing.T) {
	chatOnly := func(c *provider.Config) { c.Translate = new(provider.Translate) }
	responsesOnly := func(c *provider.Config) { c.ResponsesOnly = true }
	both := func(*provider.Config) {}
	for _, c := range []struct {
		name     string
		provider func(*provider.Config)
		mode     string
		op       *wire.Operation
		sent     provider.Operation
		refused  string
	}{
		{"chat", both, "", wire.Chat, provider.Chat, ""},
		{"responses", both, "", wire.Responses, provider.Responses, ""},
		{"responses as chat", chatOnly, "", wire.Responses, provider.Chat, ""},
		{"chat as chat", chatOnly, "", wire.Chat, provider.Chat, ""},
		{"chat as responses", responsesOnly, "", wire.Chat, provider.Responses, ""},
		{"a model without chat", both, catalog.ModeResponses, wire.Chat, "", "does not serve chat"},
		{"a model without the one API", chatOnly, catalog.ModeResponses, wire.Responses, "", "the one API of its provider"},
	} {
		r := newRig(t, answering(200, "{}"))
		r.models = testModels{newProvider(t, answering(200, "{}"), c.provider), catalog.Model{Mode: c.mode}}
		found, err := findTargets(t.Context(), &r.Deps, &r.key, c.op, "acme/m", nil)
		targets := found.targets
		if c.refused != "" {
			wantRefusal(t, err, apierror.ModelNotCallable, c.refused)
			continue
		}
		if err != nil || len(targets) != 1 || targets[0].route.Wire.Name != c.sent || targets[0].route.Translated != strings.Contains(c.name, " as ") && c.name != "chat as chat" {
			t.Errorf("%s: %+v, %v", c.name, targets, err)
		}
	}
}

// A client whose settings are mixed up sends its key as the model's name.
func TestAModelsNameThatHoldsAKeyIsNotRecorded(t *testing.T) {
	const key = "sk-0123456789abcdefghij"
	for _, c := range []struct {
		name, recorded string
		code           apierror.Code
		text           string
	}{
		{key, "[redacted]", apierror.ModelNotFound, `"[redacted]" does not exist`},
		{"acme/m", "acme/m", "", ""},
		{"other/m", "other/m", apierror.ModelNotFound, "does not exist"},
	} {
		r := newRig(t, answering(200, chatAnswerBody))
		_, refusal := r.serve(t, wire.Chat, strings.Replace(hello, "acme/m", c.name, 1))
		if c.code != "" {
			wantRefusal(t, refusal, c.code, c.text)
		} else if refusal != nil {
			t.Error(refusal)
		}
		if row := r.rows(t)[0]; row.Model != c.recorded {
			t.Errorf("recorded as %q, want %q", row.Model, c.recorded)
		}
	}
	// A model that may be listed soon is not refused for the form of its name.
	soon := apierror.New(apierror.NoProvider, "not listed yet")
	if name, err := recordedName("acme/"+key, "", false, soon); name != "acme/[redacted]" || err != error(soon) {
		t.Errorf("recorded as %q, %v", name, err)
	}
}

func TestTheLimitsOfAllMatchingModelBlocksHold(t *testing.T) {
	r := newRig(t, answering(200, "{}"), func(r *rig) {
		r.Limits.Models = []policy.ModelLimits{
			{Pattern: "acme/*", Subject: limits.Subject{Name: "model:acme/*"}, Caps: policy.Caps{Output: 100, Clamp: true, Body: 1000}},
			{Pattern: "acme/m", Caps: policy.Caps{Output: 200, Messages: 3}, Subject: limits.Subject{Name: "model:acme/m"}},
			{Pattern: "other/*", Subject: limits.Subject{Name: "model:other/*"}, Caps: policy.Caps{Output: 1}},
		}
	})
	found, err := findTargets(t.Context(), &r.Deps, &r.key, wire.Chat, "acme/m", nil)
	if err != nil {
		t.Fatal(err)
	}
	g := charge{key: &policy.KeyLimits{Caps: policy.Caps{Tools: 5}}, record: &activity.Record{Model: "acme/m"}}
	caps := g.capsOf(found.limits, found.targets[0].own)
	if want := (policy.Caps{Output: 100, Messages: 3, Tools: 5, Body: 1000}); caps != want {
		t.Errorf("caps %+v, want %+v: a block that refuses is not clamped away", caps, want)
	}
	wantRefusal(t, g.checkSize(&target{allowed: allowed{caps: caps}}, 1001), apierror.RequestTooLarge, "the limit of the model \"acme/m\" is 1000 bytes")
	if err := g.checkSize(&target{allowed: allowed{caps: caps}}, 1000); err != nil {
		t.Error(err)
	}
}

func TestAModelThatCannotBeCalledIsNamedWhereItStands(t *testing.T) {
	for param, want := range map[string]string{"model": "models[1]", "key": "key"} {
		err := new(Deps).notCallable(apierror.New(apierror.ModelNotFound, "the model does not exist").WithParam(param), "acme/x", "models[1]")
		if got := apierror.From(err).Param; got != want {
			t.Errorf("an error of %q names %q, want %q", param, got, want)
		}
	}
}

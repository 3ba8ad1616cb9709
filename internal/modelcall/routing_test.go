package modelcall

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/guardrail"
	"github.com/gatehouse-proxy/gatehouse/internal/modelcall/wire"
	"github.com/gatehouse-proxy/gatehouse/internal/policy"
	"github.com/gatehouse-proxy/gatehouse/internal/testkit/jsontest"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/catalog"
	"github.com/gatehouse-proxy/gatehouse/internal/failover"
	"github.com/gatehouse-proxy/gatehouse/internal/guardrail/judge"
	"github.com/gatehouse-proxy/gatehouse/internal/keys"
	"github.com/gatehouse-proxy/gatehouse/internal/limits"
	"github.com/gatehouse-proxy/gatehouse/internal/provider"
)

// known are the models of a rig, each at its provider. A nil provider has not listed its models yet. A
// name without a slash is an alias of the provider's model m. Whoever waits for a list finds its models
// at the provider listing.
type known map[string]*provider.Provider

const listing = "listing"

func (m known) Await(_ context.Context, names ...string) error {
	for _, name := range names {
		if p, ok := m[name]; ok && p == nil {
			m[name] = m[listing]
		}
	}
	return nil
}

func (known) NotListed(string) {}

func (m known) Find(_ *keys.Key, name string) (Found, error) {
	p, ok := m[name]
	if !ok {
		return Found{}, apierror.New(apierror.ModelNotFound, "no model %q", name).WithParam("model")
	}
	if p == nil {
		return Found{}, apierror.New(apierror.NoProvider, "not listed yet")
	}
	of, upstream, isModel := strings.Cut(name, "/")
	if !isModel {
		of, upstream, name = p.Name, "m", p.Name+"/m"
	}
	return Found{Alias: !isModel, Groups: [][]Candidate{{{Provider: p, Model: &catalog.Model{
		ID: name, Provider: of, Name: upstream, Known: !strings.HasPrefix(upstream, "unknown"),
	}}}}}, nil
}

// knowing gives a rig these models.
func knowing(m known) func(*rig) {
	return func(r *rig) {
		r.Models = m
		r.Health = failover.NewHealth(r.Now, func() float64 { return 0 }, func(failover.Change) {})
	}
}

// chatWith is a chat request for a model, with further members.
func chatWith(model, members string) string {
	return `{"model":"` + model + `",` + members + `"messages":[{"role":"user","content":"hello mellon"}]}`
}

// A suffix is a way to choose among targets, and no way around what holds for a model.
func TestGuardrailsOfAModelHoldForItsNameWithASuffix(t *testing.T) {
	r := newRig(t, answering(200, chatAnswerBody))
	knowing(known{"acme/m": r.models.provider})(r)
	r.Guardrails.Models = []policy.ModelGuardrails{{Pattern: "acme/m", Guardrails: []guardrail.Guardrail{words(t, judge.Deny, guardrail.Input)}}}
	for _, model := range []string{"acme/m", "acme/m:floor"} {
		_, refusal := r.serve(t, wire.Chat, chatWith(model, ""))
		wantRefusal(t, refusal, apierror.GuardrailBlocked, "words")
	}
}

// An alias is not left by naming it as a further model.
func TestWhatHoldsForAnAliasHoldsWhereverItIsNamed(t *testing.T) {
	for _, body := range []string{chatWith("fast", ""), chatWith("acme/m", `"models":["fast"],"provider":{"only":["other"]},`)} {
		r := newRig(t, answering(200, chatAnswerBody), func(r *rig) {
			r.Limits.Models = []policy.ModelLimits{{Pattern: "fast", Subject: limits.Subject{Name: "model:fast"}, Caps: policy.Caps{Output: 10}}}
		})
		other := newProvider(t, answering(200, chatAnswerBody), func(c *provider.Config) { c.Name = "other" })
		knowing(known{"acme/m": r.models.provider, "fast": other})(r)
		if _, refusal := r.serve(t, wire.Chat, body); refusal != nil || r.rows(t)[0].OutputCap != 10 {
			t.Errorf("%s: %v, record %+v", body, refusal, r.rows(t)[0])
		}
		r.Guardrails.Models = []policy.ModelGuardrails{{Pattern: "fast", Guardrails: []guardrail.Guardrail{words(t, judge.Deny, guardrail.Input)}}}
		_, refusal := r.serve(t, wire.Chat, body)
		wantRefusal(t, refusal, apierror.GuardrailBlocked, "words")
	}
}

// A router sorts its upstreams itself.
func TestARouterGetsTheSuffixOfItsModel(t *testing.T) {
	for _, suffix := range []string{"", ":floor", ":nitro"} {
		p := &recording{chat: chatAnswerBody}
		r := newRig(t, p)
		knowing(known{"acme/m": newProvider(t, p, func(c *provider.Config) { c.Dialect = "openrouter" })})(r)
		_, refusal := r.serve(t, wire.Chat, chatWith("acme/m"+suffix, ""))
		if refusal != nil || !jsontest.Has(t, p.bodies[0], `{"model":"m`+suffix+`"}`) {
			t.Errorf("%q: %v, sent %v", suffix, refusal, p.bodies)
		}
	}
}

// What a caller asks of a router is not lost in a translation: where its prompt may go, above all.
func TestARouterGetsThePreferencesOfItsModelTranslatedToo(t *testing.T) {
	for _, d := range directions {
		for text, want := range map[string]string{
			"1M tokens/day": `"provider":{"zdr":true}`,
			"1usd/day":      `"provider":{"zdr":true,"max_price":{"prompt":1,"completion":1}}`,
		} {
			p := &recording{chat: chatAnswerBody, responses: responsesAnswerBody}
			r := newRig(t, p, limited(budget(t, text)), func(r *rig) {
				r.models.provider = newProvider(t, p, func(c *provider.Config) { d.provider(c); c.Dialect = "openrouter" })
			})
			_, refusal := r.serve(t, d.op, strings.Replace(d.body, "{", `{"provider":{"zdr":true},`, 1))
			if refusal != nil || strings.Count(p.bodies[0], `"provider"`) != 1 || !strings.Contains(p.bodies[0], want) {
				t.Errorf("%s under %s: %v, sent %v", d.name, text, refusal, p.bodies)
			}
		}
	}
}

// Names of models that a caller makes up are no values of a metric's label, also if the request names
// another model that is known.
func TestAMadeUpNameIsNoLabel(t *testing.T) {
	r := newRig(t, answering(200, chatAnswerBody))
	other := newProvider(t, answering(200, chatAnswerBody), func(c *provider.Config) { c.Name = "other" })
	knowing(known{"acme/unknown": r.models.provider, "other/m": other})(r)
	c := r.begin(t, chatWith("acme/unknown", `"models":["other/m"],"provider":{"only":["other"]},`))
	defer c.req.Finish()
	if err := c.admit(t.Context()); err != nil || len(c.to.targets) != 1 {
		t.Fatalf("%v, %d targets", err, len(c.to.targets))
	}
	if c.req.Outcome.KnownModel {
		t.Error("the name is a label")
	}
}

// A provider that was never reached keeps no call from the others that its caller named: only a call
// without another target waits.
func TestAModelThatIsNotListedYetIsPassedOver(t *testing.T) {
	for _, c := range []struct{ first, further string }{{"soon/m", "acme/m"}, {"acme/m", "soon/m"}} {
		p := &recording{chat: chatAnswerBody}
		r := newRig(t, p)
		all := known{"acme/m": newProvider(t, p, nil), "soon/m": nil, listing: newProvider(t, p, nil)}
		knowing(all)(r)
		_, refusal := r.serve(t, wire.Chat, chatWith(c.first, `"models":["`+c.further+`"],`))
		if refusal != nil || len(p.bodies) != 1 || all["soon/m"] != nil {
			t.Errorf("%+v: %v, asked %d times; waited: %v", c, refusal, len(p.bodies), all["soon/m"] != nil)
		}
		if _, refusal = r.serve(t, wire.Chat, chatWith("soon/m", `"models":["soon/m"],`)); refusal != nil || len(p.bodies) != 2 {
			t.Errorf("a call that needs the list: %v, asked %d times", refusal, len(p.bodies))
		}
	}
	r := newRig(t, answering(200, chatAnswerBody))
	knowing(known{"soon/m": nil})(r)
	_, refusal := r.serve(t, wire.Chat, chatWith("soon/m", `"models":["soon/m"],`))
	wantRefusal(t, refusal, apierror.NoProvider, "not listed yet")
}

// OpenRouter's clients often name the model in `models` again.
func TestAModelThatIsNamedTwiceIsOneTarget(t *testing.T) {
	r := newRig(t, answering(200, chatAnswerBody))
	knowing(known{"acme/m": r.models.provider, "acme/n": r.models.provider})(r)
	c := r.begin(t, chatWith("acme/m", `"models":["acme/m","acme/n","acme/n"],`))
	defer c.req.Finish()
	if err := c.admit(t.Context()); err != nil || len(c.to.targets) != 2 {
		t.Errorf("%v, %d targets", err, len(c.to.targets))
	}
}

// A model's weight is shared by the endpoints of its provider.
func TestEndpointsShareTheWeightOfTheirModel(t *testing.T) {
	r := newRig(t, answering(200, chatAnswerBody))
	several := newProvider(t, roundTrip(nil), func(c *provider.Config) {
		c.Name, c.Endpoints = "several", []provider.EndpointConfig{
			{Name: "east", BaseURL: "http://east.invalid"}, {Name: "west", BaseURL: "http://west.invalid"}, {Name: "north", BaseURL: "http://north.invalid"},
		}
	})
	knowing(nil)(r)
	model := func(id string) *catalog.Model { return &catalog.Model{ID: id, Known: true} }
	r.Models = aliasModels{groups: [][]Candidate{{{Provider: several, Model: model("several/m")}, {Provider: r.models.provider, Model: model("acme/m")}}}}
	const calls = 2000
	first := 0
	for i := range calls {
		req := post(strings.NewReader(chatWith("fast", "")), -1)
		req.Header.Set("X-Session-Id", time.Unix(int64(i), 0).String())
		c := r.beginWith(t, nil, req)
		if err := c.admit(t.Context()); err != nil {
			t.Fatal(err)
		}
		if c.order()[0].provider == several {
			first++
		}
		c.req.Finish()
	}
	if first < calls*4/10 || first > calls*6/10 {
		t.Errorf("%d of %d calls begin at the provider with three endpoints, want half", first, calls)
	}
}

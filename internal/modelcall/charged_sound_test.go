package modelcall

import (
	"math/rand/v2"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/activity"
	"github.com/gatehouse-proxy/gatehouse/internal/catalog"
	"github.com/gatehouse-proxy/gatehouse/internal/modelcall/wire"
	"github.com/gatehouse-proxy/gatehouse/internal/openai"
	"github.com/gatehouse-proxy/gatehouse/internal/openai/params"
	"github.com/gatehouse-proxy/gatehouse/internal/provider"
	"github.com/gatehouse-proxy/gatehouse/internal/units"
)

// Whatever a model costs and a provider answers within the bound, a call of sound is charged no more than a
// hard budget reserved for it.
func TestSoundIsChargedNoMoreThanWasReserved(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	quote := func() (q catalog.Quote) {
		if random.IntN(2) > 0 {
			q = catalog.Quoted(catalog.Rate(random.Int64N(20_000_000_000)))
		}
		return q
	}
	r := newRig(t, answering(200, `{}`), limited(budget(t, "1usd/day")))
	begun := r.begin(t, hello)
	checked := 0
	for range 20_000 {
		price := &catalog.Price{Rates: catalog.Rates{Prompt: quote(), Completion: quote()}}
		for _, u := range []units.Unit{units.AudioInput, units.AudioOutput, units.Characters, units.Millis} {
			price.Units[u] = quote()
		}
		op, n := wire.Speech, 1+random.Int64N(4096)
		model := &catalog.Model{ID: "a/b", Price: price, MaxUnits: units.Counts{units.AudioOutput: 1 + random.Int64N(5000), units.Millis: 1 + random.Int64N(600_000)}}
		requested := params.RequestedLimits{Units: units.Counts{units.Characters: n}}
		m := meter{heard: random.Int64N(1_000_000), whole: random.Int64N(100_000)}
		if random.IntN(2) > 0 {
			op, m.heard = wire.Transcriptions, 0
			requested = params.RequestedLimits{Choices: 1, Units: units.Counts{units.Millis: 2 * n}, Heard: n * random.Int64N(2)}
		}
		to := &target{op: op, route: &op.Routes[0], model: model, provider: new(provider.Provider)}
		g := charge{deps: begun.charge.deps, record: new(activity.Record), key: begun.charge.key, target: to, requested: requested}
		if g.estimateMost(to, 100+n, params.Content{}) != nil {
			continue
		}
		bound := to.allowed.use.bound
		if random.IntN(2) > 0 {
			m.reported = true
			m.usage = openai.Usage{Prompt: 1 + random.Int64N(bound.Prompt), Completion: random.Int64N(bound.Completion + 1)}
			if op == wire.Speech {
				m.usage.Units[units.AudioOutput] = m.usage.Completion
			} else if price.Units[units.AudioInput].Known {
				m.usage.Units[units.AudioInput] = random.Int64N(m.usage.Prompt + 1)
			}
			if op == wire.Transcriptions && random.IntN(2) > 0 {
				m.usage = openai.Usage{Units: units.Counts{units.Millis: 1 + random.Int64N(bound.Units[units.Millis])}}
			}
		}
		checked++
		if used := g.used(&m, true); used.Nano > to.allowed.use.most.Nano {
			t.Fatalf("%s: %d nano-USD, reserved %d; price %+v, max %v, requested %+v, usage %+v heard %d",
				op.Name, used.Nano, to.allowed.use.most.Nano, price.Rates, model.MaxUnits, requested, m.usage, m.heard)
		}
	}
	if checked < 1000 {
		t.Errorf("only %d calls could be reserved", checked)
	}
}

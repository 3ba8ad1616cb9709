package gateway_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	"github.com/gatehouse-proxy/gatehouse/internal/catalog"
	"github.com/gatehouse-proxy/gatehouse/internal/failover"
	"github.com/gatehouse-proxy/gatehouse/internal/gateway"
	"github.com/gatehouse-proxy/gatehouse/internal/provider"
)

// attempts are attempts of calls that have another target.
func attempts(s *gateway.State, id string, class failover.Class, n int) {
	for range n {
		trial := s.Health.Begin(id, false)
		trial.End(failover.Result{Class: class})
	}
}

// knownModels has the models m and x@y of the provider acme, and m of the provider regions.
func knownModels(t *testing.T) *catalog.Catalog {
	return newCatalog(t, []catalog.Model{{Provider: "acme", Name: "m"}, {Provider: "acme", Name: "x@y"}, {Provider: "regions", Name: "m"}},
		catalog.Source{Provider: "acme", Patterns: []string{"*"}}, catalog.Source{Provider: "regions", Patterns: []string{"*"}})
}

// knownProviders are acme, which has one endpoint, and regions with the endpoints east and west.
func knownProviders(t *testing.T) []*provider.Provider {
	regions, err := provider.New(provider.Config{Name: "regions", Transport: answering(200, "{}"), Endpoints: []provider.EndpointConfig{
		{Name: "east", BaseURL: "https://east.example/v1"}, {Name: "west", BaseURL: "https://west.example/v1"},
	}})
	if err != nil {
		t.Fatal(err)
	}
	return []*provider.Provider{newProvider(t, "acme", true, answering(200, "{}")), regions}
}

// States that nobody waits for are those of made-up models, of endpoints that the configuration no
// longer has, and pauses for a rate limit.
func TestHealthIsReportedForModelsOfTheCatalog(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var events []string
		emitter := func(name string, data map[string]any) {
			events = append(events, fmt.Sprint(name, " ", data["target"], " ", data["model"], " ", data["endpoint"], " ", data["class"], " ", data["until"] != nil))
		}
		core, logs := observer.New(zap.InfoLevel)
		r := newRig(t, gateway.Config{Catalog: knownModels(t), Providers: knownProviders(t), Emitter: emitter, Logger: zap.New(core)}).start(t, t.Context())
		r.Subscribe()
		for _, id := range []string{"acme/m", "regions/m@east", "acme/x@y", "acme/made-up", "other/m", "acme/m@east", "regions/m@gone", "regions/m"} {
			attempts(r.state, id, failover.Failure, 3)
		}
		attempts(r.state, "regions/m@west", failover.RateLimited, 1)
		attempts(r.state, "regions/m@east", failover.Lasting, 1)
		attempts(r.state, "acme/m", failover.Success, 1)
		synctest.Wait()
		want := []string{
			"provider_unhealthy acme/m acme/m <nil> failure true",
			"provider_unhealthy regions/m@east regions/m east failure true",
			"provider_unhealthy acme/x@y acme/x@y <nil> failure true",
			"provider_unhealthy regions/m@east regions/m east lasting true",
			"provider_healthy acme/m acme/m <nil> <nil> false",
		}
		if !slices.Equal(events, want) {
			t.Errorf("events\n%s\nwant\n%s", strings.Join(events, "\n"), strings.Join(want, "\n"))
		}
		var levels []string
		for _, line := range logs.FilterField(zap.String("target", "regions/m@east")).All() {
			levels = append(levels, line.Level.String()+" "+line.Message)
		}
		if want := []string{"warn provider_unhealthy", "error provider_unhealthy"}; !slices.Equal(levels, want) {
			t.Errorf("log %v, want %v", levels, want)
		}
		for target, up := range map[string]float64{
			`endpoint="",model="acme/m",provider="acme"`: 1, `endpoint="east",model="regions/m",provider="regions"`: 0,
			`endpoint="west",model="regions/m",provider="regions"`: 1,
		} {
			if got := counted(t, r, "gatehouse_provider_up{"+target+"}"); got != up {
				t.Errorf("provider_up of %s is %v, want %v", target, got, up)
			}
		}
		var shown []string
		for _, target := range r.Models().Targets(func(model string) bool { return model != "acme/x@y" }) {
			shown = append(shown, target.ID+" "+target.State)
		}
		if want := []string{"acme/m healthy", "regions/m@east cooling", "regions/m@west cooling"}; !slices.Equal(shown, want) {
			t.Errorf("targets %v, want %v", shown, want)
		}
	})
}

// A reload forgets no outage. What an operator had to mend may be mended by it.
func TestHealthOutlivesAConfiguration(t *testing.T) {
	r := newRig(t, gateway.Config{Catalog: knownModels(t)}).start(t, t.Context())
	attempts(r.state, "acme/m", failover.Failure, 3)
	attempts(r.state, "acme/x@y", failover.Lasting, 1)
	next := newRig(t, gateway.Config{State: r.state, Catalog: knownModels(t)}).start(t, t.Context())
	var got []string
	for _, target := range next.Models().Targets(nil) {
		got = append(got, target.ID+" "+target.State)
	}
	if want := []string{"acme/m cooling", "acme/x@y probing"}; !slices.Equal(got, want) {
		t.Errorf("targets %v, want %v", got, want)
	}
	if until := next.Models().Targets(nil)[0].Until; time.Until(until) > 5*time.Second {
		t.Errorf("cools until %v", until)
	}
}

package gateway_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/gatehouse-proxy/gatehouse/internal/activity"
	"github.com/gatehouse-proxy/gatehouse/internal/gateway"
	"github.com/gatehouse-proxy/gatehouse/internal/metrics"
)

// steps are what happened to features, in order.
type steps struct{ taken []string }

// features returns two features of a configuration that note their steps.
func (s *steps) features(configuration string) func(gateway.Core) []gateway.Feature {
	return func(c gateway.Core) (all []gateway.Feature) {
		for _, name := range []string{"a", "b"} {
			note := func(step string) { s.taken = append(s.taken, configuration+name+" "+step) }
			all = append(all, gateway.Feature{
				Start: func(context.Context) {
					if c.Requests.Activity == nil {
						note("without stores")
					}
					note("starts")
				},
				Apply:  func() { note("applies") },
				Gauges: []metrics.Collector{metrics.NewGauge("feature_"+name, "", []string{"of"}, func(put metrics.Show) { put(1, configuration) })},
			})
		}
		return all
	}
}

func TestFeaturesFollowTheirConfiguration(t *testing.T) {
	var s steps
	first := newRig(t, gateway.Config{Features: s.features("1")}).start(t, t.Context())
	second := newRig(t, gateway.Config{State: first.state, Features: s.features("2")})
	registry := prometheus.NewPedanticRegistry()
	if err := first.state.Metrics.Register(registry); err != nil {
		t.Fatal(err)
	}
	shown := func(want string) {
		t.Helper()
		families, err := registry.Gather()
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, f := range families {
			if name, ours := strings.CutPrefix(f.GetName(), "gatehouse_feature_"); ours {
				got = append(got, name+f.GetMetric()[0].GetLabel()[0].GetValue())
			}
		}
		if text := strings.Join(got, " "); text != want {
			t.Errorf("a scrape shows %q, want %q", text, want)
		}
	}
	shown("a1 b1")
	if err := second.Start(t.Context(), activity.Retention{}); err != nil {
		t.Fatal(err)
	}
	shown("a2 b2")
	second.Close() // another app did not start
	shown("a1 b1")
	want := []string{
		"1a starts", "1b starts", "1a applies", "1b applies",
		"2a starts", "2b starts", "2a applies", "2b applies",
		"1a applies", "1b applies",
	}
	if !slices.Equal(s.taken, want) {
		t.Errorf("got  %q\nwant %q", s.taken, want)
	}
}

type kept struct{ by string }

func TestASlotOutlivesAConfiguration(t *testing.T) {
	var seen []*kept
	keep := func(by string) func(gateway.Core) []gateway.Feature {
		return func(c gateway.Core) []gateway.Feature {
			mine := gateway.Kept(c.Slots, func() *kept { return &kept{by} })
			seen = append(seen, mine)
			return []gateway.Feature{{Offers: mine}}
		}
	}
	first := newRig(t, gateway.Config{Features: keep("first")})
	second := newRig(t, gateway.Config{State: first.state, Features: keep("second")})
	other := newRig(t, gateway.Config{Features: keep("other")})
	if seen[0] != seen[1] || seen[0].by != "first" || seen[2].by != "other" {
		t.Errorf("%+v", seen)
	}
	if part, ok := gateway.Offered[*kept](second.Gateway); !ok || part != seen[0] {
		t.Errorf("offered is %v, %v", part, ok)
	}
	if _, ok := gateway.Offered[*steps](other.Gateway); ok {
		t.Error("a part that no feature has")
	}
}

package metrics_test

import (
	"fmt"
	"slices"
	"sort"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/gatehouse-proxy/gatehouse/internal/metrics"
)

func newMetrics() *metrics.Metrics {
	return metrics.New(metrics.Gauges{
		ActivityLost: func() float64 { return 3 }, InFlight: func() float64 { return 2 },
		Sessions: func() float64 { return 4 }, HalfOpen: func() float64 { return 5 },
		Providers: func() []metrics.ProviderUp {
			return []metrics.ProviderUp{{Provider: "acme", Model: "acme/m", Up: true}, {Provider: "acme", Model: "acme/m", Endpoint: "east"}}
		},
	})
}

// gather returns every series of a registry with its value, sorted; of a histogram the number of
// observations.
func gather(t *testing.T, registry *prometheus.Registry) []string {
	t.Helper()
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	for _, f := range families {
		for _, m := range f.GetMetric() {
			var labels []string
			for _, l := range m.GetLabel() {
				labels = append(labels, l.GetName()+"="+l.GetValue())
			}
			value := fmt.Sprint(m.GetCounter().GetValue() + m.GetGauge().GetValue())
			if h := m.GetHistogram(); h != nil {
				value = fmt.Sprintf("%d in %gs", h.GetSampleCount(), h.GetSampleSum())
			}
			lines = append(lines, fmt.Sprintf("%s{%s} %s", strings.TrimPrefix(f.GetName(), "gatehouse_"), strings.Join(labels, ","), value))
		}
	}
	sort.Strings(lines)
	return lines
}

func register(t *testing.T, m *metrics.Metrics) *prometheus.Registry {
	t.Helper()
	registry := prometheus.NewPedanticRegistry() // like Caddy's
	if err := m.Register(registry); err != nil {
		t.Fatal(err)
	}
	return registry
}

func TestAnEndedCallIsCounted(t *testing.T) {
	m := newMetrics()
	registry := register(t, m)
	m.Ended(metrics.Call{
		Route: "POST /v1/chat/completions", Provider: "acme", Model: "acme/m", Status: 200,
		Duration: 2 * time.Second, FirstToken: time.Second, Prompt: 5, Completion: 7,
	})
	m.Ended(metrics.Call{Route: "POST /v1/chat/completions", Provider: "acme", Status: 502, Code: "upstream_error", Duration: time.Second})
	m.Ended(metrics.Call{Route: "POST /v1/chat/completions", Status: 404, Code: "model_not_found", Duration: time.Second, Prompt: 1})
	m.Attempted("acme", "upstream_error")
	m.Attempted("acme", "upstream_error")
	m.Attempted("acme", "")
	m.Unauthenticated("POST /v1/chat/completions")
	got := strings.Join(gather(t, registry), "\n")
	want := strings.Join([]string{
		"activity_rows_lost_total{} 3",
		"first_token_seconds{provider=acme,route=POST /v1/chat/completions} 1 in 1s",
		"provider_attempts_total{code=,provider=acme} 1",
		"provider_attempts_total{code=upstream_error,provider=acme} 2",
		"provider_up{endpoint=,model=acme/m,provider=acme} 1",
		"provider_up{endpoint=east,model=acme/m,provider=acme} 0",
		"request_duration_seconds{provider=acme,route=POST /v1/chat/completions} 2 in 3s",
		"requests_in_flight{} 2",
		"requests_total{code=,model=acme/m,provider=acme,route=POST /v1/chat/completions,status=200} 1",
		"requests_total{code=model_not_found,model=,provider=,route=POST /v1/chat/completions,status=404} 1",
		"requests_total{code=upstream_error,model=,provider=acme,route=POST /v1/chat/completions,status=502} 1",
		"tokens_total{direction=completion,model=acme/m,provider=acme} 7",
		"tokens_total{direction=prompt,model=acme/m,provider=acme} 5",
		"unauthenticated_total{route=POST /v1/chat/completions} 1",
		"vnc_connections_half_open{} 5",
		"vnc_session_duration_seconds{} 0 in 0s",
		"vnc_sessions_open{} 4",
	}, "\n")
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestAnEndedSessionIsCounted(t *testing.T) {
	m := newMetrics()
	registry := register(t, m)
	m.SessionEnded(metrics.Session{Security: "x509none", Ended: "released", Duration: time.Minute, Up: 10, Down: 1000})
	m.SessionEnded(metrics.Session{Security: "x509none", Ended: "released", Duration: time.Second, Up: 1})
	m.VNCRefused("token_expired")
	got := gather(t, registry)
	got = slices.DeleteFunc(got, func(line string) bool { return !strings.HasPrefix(line, "vnc_") })
	want := []string{
		"vnc_bytes_total{direction=down} 1000",
		"vnc_bytes_total{direction=up} 11",
		"vnc_connections_half_open{} 5",
		"vnc_refused_total{reason=token_expired} 1",
		"vnc_session_duration_seconds{} 2 in 61s",
		"vnc_sessions_open{} 4",
		"vnc_sessions_total{ended=released,security=x509none} 2",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// A configuration brings a new registry; the values continue.
func TestValuesOutliveARegistry(t *testing.T) {
	m := newMetrics()
	register(t, m)
	m.Unauthenticated("r")
	second := register(t, m)
	m.Unauthenticated("r")
	if got := strings.Join(gather(t, second), "\n"); !strings.Contains(got, "unauthenticated_total{route=r} 2") {
		t.Errorf("got\n%s", got)
	}
	if err := m.Register(second); err != nil {
		t.Errorf("the same set twice: %v", err)
	}
}

func TestANameThatSomebodyElseTookIsAnError(t *testing.T) {
	registry := prometheus.NewPedanticRegistry()
	registry.MustRegister(prometheus.NewCounterVec(prometheus.CounterOpts{Name: "gatehouse_tokens_total", Help: "other"}, []string{"x"}))
	if err := newMetrics().Register(registry); err == nil {
		t.Error("no error")
	}
}

func TestFoundSeriesAreThoseOfTheLabels(t *testing.T) {
	found, looked := newMetrics(), newMetrics()
	count := func(c metrics.Call) {
		found.Ended(c)
		looked.Forget() // so that each is looked up by its labels
		looked.Ended(c)
	}
	for range 2 {
		for _, route := range []string{"POST /v1/chat/completions", "POST /v1/responses"} {
			for _, provider := range []string{"", "acme", "other"} {
				for i, code := range []string{"", "upstream_error", "internal"} {
					for kind := range int64(8) {
						count(metrics.Call{
							Route: route, Provider: provider, Model: "acme/m", Code: code, Status: 200 + 150*i, Duration: time.Second,
							FirstToken: time.Duration(kind & 1), Prompt: kind & 2, Completion: kind & 4,
						})
					}
				}
			}
		}
	}
	if got, want := gather(t, register(t, found)), gather(t, register(t, looked)); !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
	one, none := newMetrics(), newMetrics()
	one.Ended(metrics.Call{Route: "r", Provider: "p", Status: 200})
	if more := len(gather(t, register(t, one))) - len(gather(t, register(t, none))); more != 2 {
		t.Errorf("a call without tokens made %d series, want the count and the duration", more)
	}
}

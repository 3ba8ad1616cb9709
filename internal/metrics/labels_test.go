package metrics_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/gatehouse-proxy/gatehouse/internal/metrics"
)

func TestOnlyTheFirstTenantsHaveSeriesOfTheirOwn(t *testing.T) {
	m := newMetrics()
	registry := register(t, m)
	for range 2 {
		for i := range 600 {
			m.Ended(metrics.Call{Route: "r", Provider: "p", Status: 200, Tenant: fmt.Sprintf("tenant%d", i), Prompt: 1, CostNano: 1e9})
		}
	}
	var own, cost, tokens int
	for _, line := range gather(t, registry) {
		switch {
		case strings.HasPrefix(line, "tenant_cost_usd_total{tenant=tenant"):
			own++
			if !strings.HasSuffix(line, " 2") {
				t.Error(line)
			}
		case line == "tenant_cost_usd_total{tenant=other} 200":
			cost++
		case line == "tenant_tokens_total{direction=prompt,tenant=other} 200":
			tokens++
		}
	}
	if own != 500 || cost != 1 || tokens != 1 {
		t.Errorf("%d tenants have their own series, want 500; the others have a cost: %d, tokens: %d", own, cost, tokens)
	}
}

// Prometheus sees an increase only from a value that it has seen before.
func TestSeriesOfAConfigurationExistBeforeTheirFirstEvent(t *testing.T) {
	m := newMetrics()
	registry := register(t, m)
	m.Prepare(metrics.Names{
		Tenants: []string{"one"}, Providers: []string{"acme"}, Attempts: []metrics.Attempt{{Code: "upstream_auth_error", Outcome: metrics.Auth}},
		Guardrails: []string{"mask"}, Routes: []string{"GET /v1/models"}, Refusals: []string{"expired"},
	})
	got := gather(t, registry)
	for _, want := range []string{
		"guardrail_actions_total{action=deny,guardrail=mask} 0",
		"guardrail_actions_total{action=redact,guardrail=mask} 0",
		"guardrail_actions_total{action=unavailable,guardrail=mask} 0",
		"ledger_errors_total{} 0",
		"provider_attempts_total{code=upstream_auth_error,outcome=auth,provider=acme} 0",
		"tenant_cost_usd_total{tenant=one} 0",
		"tenant_cost_usd_total{tenant=other} 0",
		"tenant_tokens_total{direction=completion,tenant=one} 0",
		"tenant_tokens_total{direction=prompt,tenant=one} 0",
		"unauthenticated_total{route=GET /v1/models} 0",
		"vnc_refused_total{reason=expired} 0",
	} {
		if !slices.Contains(got, want) {
			t.Errorf("no %s in\n%s", want, strings.Join(got, "\n"))
		}
	}
}

func TestATraceIsTheExemplarOfItsDurations(t *testing.T) {
	m := newMetrics()
	registry := register(t, m)
	call := metrics.Call{
		Route: "r", Provider: "p", Status: 200, Duration: 4 * time.Second, FirstToken: time.Second, Completion: 7, Counted: true,
	}
	m.Ended(call)
	if got := exemplars(t, registry); len(got) > 0 {
		t.Errorf("exemplars without a trace: %q", got)
	}
	call.TraceID = "4bf92f3577b34da6a3ce929d0e0e4736"
	m.Ended(call)
	want := []string{
		"gatehouse_first_token_seconds trace_id=4bf92f3577b34da6a3ce929d0e0e4736 1",
		"gatehouse_request_duration_seconds trace_id=4bf92f3577b34da6a3ce929d0e0e4736 4",
		"gatehouse_time_per_output_token_seconds trace_id=4bf92f3577b34da6a3ce929d0e0e4736 0.5",
	}
	if got := exemplars(t, registry); !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func exemplars(t *testing.T, registry *prometheus.Registry) (found []string) {
	t.Helper()
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range families {
		for _, m := range f.GetMetric() {
			for _, b := range m.GetHistogram().GetBucket() {
				if e := b.GetExemplar(); e != nil {
					label := e.GetLabel()[0]
					found = append(found, fmt.Sprintf("%s %s=%s %g", f.GetName(), label.GetName(), label.GetValue(), e.GetValue()))
				}
			}
		}
	}
	return found
}

func TestTimePerTokenNeedsTokensThatTheProviderHasCounted(t *testing.T) {
	m := newMetrics()
	registry := register(t, m)
	whole := metrics.Call{Route: "r", Provider: "p", Status: 200, Duration: 4 * time.Second, FirstToken: time.Second, Completion: 7, Counted: true}
	for _, change := range []func(*metrics.Call){
		func(c *metrics.Call) { c.FirstToken = 0 },
		func(c *metrics.Call) { c.Completion = 1 },
		func(c *metrics.Call) { c.Counted = false },
		func(c *metrics.Call) { c.Code = "upstream_error" },
	} {
		call := whole
		change(&call)
		m.Ended(call)
	}
	for _, line := range gather(t, registry) {
		if strings.HasPrefix(line, "time_per_output_token_seconds") {
			t.Error(line)
		}
	}
}

func TestAnEndedCallAllocatesNothing(t *testing.T) {
	m := newMetrics()
	call := metrics.Call{
		Route: "r", Provider: "p", Model: "p/m", Tenant: "one", Status: 200, Duration: 4 * time.Second, FirstToken: time.Second,
		Prompt: 3, Completion: 7, Counted: true, CostNano: 5, Overhead: time.Millisecond,
	}
	m.Ended(call)
	if n := testing.AllocsPerRun(100, func() { m.Ended(call) }); n > 0 {
		t.Errorf("%g allocations", n)
	}
}

func TestTheBuildIsNamed(t *testing.T) {
	for _, line := range gather(t, register(t, newMetrics())) {
		if strings.HasPrefix(line, "build_info{") {
			if want := "build_info{commit=c0ffee,version=v1.2.3} 1"; line != want {
				t.Errorf("%s, want %s", line, want)
			}
			return
		}
	}
	t.Error("no build_info")
}

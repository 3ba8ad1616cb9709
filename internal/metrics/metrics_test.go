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
	"github.com/gatehouse-proxy/gatehouse/internal/units"
)

func newMetrics() *metrics.Metrics {
	return metrics.New(metrics.Gauges{
		Build:        map[string]string{"version": "v1.2.3", "commit": "c0ffee"},
		ActivityLost: func() float64 { return 3 }, InFlight: func() float64 { return 2 },
		Sessions: func() float64 { return 4 }, HalfOpen: func() float64 { return 5 },
		BodyMemory: func() float64 { return 6 }, BodyMemoryLimit: func() float64 { return 7 }, StoreQueue: func() float64 { return 8 },
		StoreUp: func() float64 { return 1 }, AnswerMemory: func() float64 { return 10 }, AnswerMemoryLimit: func() float64 { return 11 },
		CertificateEnds: func() time.Time { return time.Unix(12, 0) },
		Sources:         func() map[string]bool { return map[string]bool{"lab": true, "far": false} },
		Queues:          func() map[metrics.Queue]int { return map[metrics.Queue]int{metrics.ModelQueue: 9} },
		Budgets: func() []metrics.BudgetSpent {
			return []metrics.BudgetSpent{{Scope: "key:dev", Budget: "10usd/day", Ratio: 0.5}}
		},
		Credentials: func() []metrics.CredentialLeft {
			return []metrics.CredentialLeft{{Provider: "acme", Endpoint: "east", Seconds: 14}}
		},
		Features: func() []metrics.Collector {
			return []metrics.Collector{metrics.NewGauge("mcp_server_up", "", []string{"server"}, func(put metrics.Show) { put(0, "demo") })}
		},
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
		Route: "POST /v1/chat/completions", Provider: "acme", Model: "acme/m", Tenant: "one", Status: 200,
		Duration: 4 * time.Second, FirstToken: time.Second, Overhead: 5 * time.Millisecond, Prompt: 5, Completion: 7, Counted: true,
		CostNano: 250_000_000, Unpriced: true, Units: units.Counts{units.Millis: 9200},
		Operation: metrics.Operation{Name: "chat", Provider: "openai", Duration: 3 * time.Second},
	})
	m.Ended(metrics.Call{Route: "POST /v1/chat/completions", Provider: "acme", Status: 502, Code: "upstream_error", Duration: time.Second,
		Operation: metrics.Operation{Name: "chat", Provider: "openai", Duration: 2 * time.Second}})
	m.Ended(metrics.Call{Route: "POST /v1/chat/completions", Status: 404, Code: "model_not_found", Duration: time.Second, Prompt: 1})
	for _, c := range []metrics.Call{
		{Status: 200, Sent: true, Duration: time.Second}, {Status: 200, Sent: true, IsError: true, Duration: time.Second},
		{Status: 502, Code: "upstream_error", Sent: true, Duration: time.Second}, {Status: 429, Code: "rate_limit_exceeded"},
		{Status: 499, Code: "client_closed_request", Sent: true, Duration: time.Second},
	} {
		c.Route, c.Provider, c.Method = "POST /mcp/{server}", "demo", "tools/call"
		m.Ended(c)
	}
	m.Attempted(metrics.Attempt{Provider: "acme", Code: "upstream_error", Outcome: metrics.Connection})
	m.Attempted(metrics.Attempt{Provider: "acme", Code: "upstream_error", Outcome: metrics.Connection})
	m.Attempted(metrics.Attempt{Provider: "acme", Outcome: metrics.OK})
	m.Unauthenticated("POST /v1/chat/completions")
	m.Guarded("mask", metrics.GuardrailRedact)
	m.Queued(metrics.KeyQueue, time.Second)
	m.Committed(time.Millisecond)
	m.StoreFailed(nil)
	m.LedgerFailed()
	got := strings.Join(slices.DeleteFunc(gather(t, registry), func(line string) bool { return strings.HasPrefix(line, "build_info{") }), "\n")
	want := strings.Join([]string{
		"activity_rows_lost_total{} 3",
		"answer_memory_bytes{} 10",
		"answer_memory_limit_bytes{} 11",
		"body_memory_bytes{} 6",
		"body_memory_limit_bytes{} 7",
		"budget_spent_ratio{budget=10usd/day,scope=key:dev} 0.5",
		"console_sign_ins_total{result=invalid_key} 0",
		"console_sign_ins_total{result=ok} 0",
		"console_sign_ins_total{result=unavailable} 0",
		"console_sign_ins_total{result=user_refused} 0",
		"cost_usd_total{model=acme/m,provider=acme} 0.25",
		"first_token_seconds{provider=acme,route=POST /v1/chat/completions} 1 in 1s",
		"gen_ai_client_operation_duration_seconds{error_type=,gen_ai_operation_name=chat,gen_ai_provider_name=openai,gen_ai_request_model=acme/m} 1 in 3s",
		"gen_ai_client_operation_duration_seconds{error_type=upstream_error,gen_ai_operation_name=chat,gen_ai_provider_name=openai,gen_ai_request_model=} 1 in 2s",
		"gen_ai_client_token_usage{gen_ai_operation_name=chat,gen_ai_provider_name=openai,gen_ai_request_model=acme/m,gen_ai_token_type=input} 1 in 5s",
		"gen_ai_client_token_usage{gen_ai_operation_name=chat,gen_ai_provider_name=openai,gen_ai_request_model=acme/m,gen_ai_token_type=output} 1 in 7s",
		"guardrail_actions_total{action=redact,guardrail=mask} 1",
		"ledger_errors_total{} 1",
		"mcp_request_duration_seconds{method=tools/call,server=demo} 4 in 4s",
		"mcp_requests_total{method=tools/call,outcome=canceled,server=demo} 1",
		"mcp_requests_total{method=tools/call,outcome=failed,server=demo} 1",
		"mcp_requests_total{method=tools/call,outcome=ok,server=demo} 1",
		"mcp_requests_total{method=tools/call,outcome=refused,server=demo} 1",
		"mcp_requests_total{method=tools/call,outcome=tool_error,server=demo} 1",
		"mcp_server_up{server=demo} 0",
		"overhead_seconds{route=POST /mcp/{server}} 4 in 0s",
		"overhead_seconds{route=POST /v1/chat/completions} 2 in 0.005s",
		"provider_attempts_total{code=,outcome=ok,provider=acme} 1",
		"provider_attempts_total{code=upstream_error,outcome=connection,provider=acme} 2",
		"provider_credential_remaining_seconds{endpoint=east,provider=acme} 14",
		"provider_up{endpoint=,model=acme/m,provider=acme} 1",
		"provider_up{endpoint=east,model=acme/m,provider=acme} 0",
		"queue_length{queue=gateway} 0",
		"queue_length{queue=key} 0",
		"queue_length{queue=mcp} 0",
		"queue_length{queue=model} 9",
		"queue_length{queue=tenant} 0",
		"queue_wait_seconds{queue=key} 1 in 1s",
		"request_duration_seconds{provider=acme,route=POST /v1/chat/completions} 2 in 5s",
		"request_duration_seconds{provider=demo,route=POST /mcp/{server}} 4 in 4s",
		"requests_in_flight{} 2",
		"requests_total{code=,model=,provider=demo,route=POST /mcp/{server},status=200} 2",
		"requests_total{code=,model=acme/m,provider=acme,route=POST /v1/chat/completions,status=200} 1",
		"requests_total{code=client_closed_request,model=,provider=demo,route=POST /mcp/{server},status=499} 1",
		"requests_total{code=model_not_found,model=,provider=,route=POST /v1/chat/completions,status=404} 1",
		"requests_total{code=rate_limit_exceeded,model=,provider=demo,route=POST /mcp/{server},status=429} 1",
		"requests_total{code=upstream_error,model=,provider=acme,route=POST /v1/chat/completions,status=502} 1",
		"requests_total{code=upstream_error,model=,provider=demo,route=POST /mcp/{server},status=502} 1",
		"source_up{source=far} 0",
		"source_up{source=lab} 1",
		"store_commit_seconds{} 1 in 0.001s",
		"store_errors_total{} 1",
		"store_queue_length{} 8",
		"store_up{} 1",
		"tenant_cost_usd_total{tenant=one} 0.25",
		"tenant_cost_usd_total{tenant=other} 0",
		"tenant_tokens_total{direction=completion,tenant=one} 7",
		"tenant_tokens_total{direction=completion,tenant=other} 0",
		"tenant_tokens_total{direction=prompt,tenant=one} 5",
		"tenant_tokens_total{direction=prompt,tenant=other} 0",
		"time_per_output_token_seconds{provider=acme,route=POST /v1/chat/completions} 1 in 0.5s",
		"tokens_total{direction=completion,model=acme/m,provider=acme} 7",
		"tokens_total{direction=prompt,model=acme/m,provider=acme} 5",
		"unauthenticated_total{route=POST /v1/chat/completions} 1",
		"units_total{model=acme/m,provider=acme,unit=audio_ms} 9200",
		"unpriced_requests_total{model=acme/m,provider=acme} 1",
		"vnc_certificate_expires_timestamp_seconds{} 12",
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
		"vnc_certificate_expires_timestamp_seconds{} 12",
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
					for kind := range int64(64) {
						count(metrics.Call{
							Route: route, Provider: provider, Model: "acme/m", Code: code, Status: 200 + 150*i, Duration: time.Second,
							FirstToken: time.Duration(kind & 1), Prompt: kind & 2, Completion: kind & 4,
							Counted: kind&8 > 0, CostNano: kind & 16, Unpriced: kind&32 > 0, Tenant: "one",
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
	if more := len(gather(t, register(t, one))) - len(gather(t, register(t, none))); more != 3 {
		t.Errorf("a call without tokens made %d series, want the count, the duration and the overhead", more)
	}
}

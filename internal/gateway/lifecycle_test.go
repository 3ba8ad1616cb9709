package gateway_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/gatehouse-proxy/gatehouse/internal/activity"
	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/gateway"
	"github.com/gatehouse-proxy/gatehouse/internal/policy"
	"github.com/gatehouse-proxy/gatehouse/internal/provider"
)

func TestTheStateIsReleasedAfterTheLastCall(t *testing.T) {
	r := newRig(t, gateway.Config{}).start(t, t.Context())
	first, second := r.begin(t), r.begin(t)
	if n := counted(t, r, "gatehouse_requests_in_flight"); n != 2 {
		t.Errorf("%v calls under way, want 2", n)
	}
	r.Close()
	first.Outcome.Succeed(200)
	first.Finish()
	if r.released.Load() != 0 {
		t.Fatal("released while a call is under way")
	}
	second.Outcome.Succeed(200)
	second.Finish()
	if r.released.Load() != 1 {
		t.Fatalf("released %d times", r.released.Load())
	}
	if rows := r.records(t); len(rows) != 2 {
		t.Errorf("%d records, want both", len(rows))
	}
}

// A connection that was open when the next configuration took over can carry
// a request to this one long after its end.
func TestALateCallReacquiresTheState(t *testing.T) {
	r := newRig(t, gateway.Config{}).start(t, t.Context())
	r.Close()
	for late := int32(2); late < 4; late++ {
		call := r.begin(t)
		if n := counted(t, r, "gatehouse_requests_in_flight"); n != 1 {
			t.Errorf("%v calls under way, want 1", n)
		}
		call.Outcome.Succeed(200)
		call.Finish()
		if r.released.Load() != late {
			t.Fatalf("released %d times, want %d", r.released.Load(), late)
		}
	}
	r.gone.Store(true)
	_, err := r.beginNumbered(4)
	wantRefusal(t, err, apierror.ShuttingDown, "try again")
	if r.released.Load() != 3 {
		t.Error("a call that was not let in has released the State")
	}
}

func TestWaitingForAStartEndsWithIt(t *testing.T) {
	r := newRig(t, gateway.Config{})
	waiting := make(chan error, 1)
	go func() { waiting <- r.Ready(t.Context()) }()
	r.start(t, t.Context())
	if err := <-waiting; err != nil {
		t.Error(err)
	}

	never := newRig(t, gateway.Config{})
	go func() { waiting <- never.Ready(t.Context()) }()
	never.Close()
	wantRefusal(t, <-waiting, apierror.ShuttingDown, "did not start")
	if never.released.Load() != 1 {
		t.Error("a gateway that never started holds its State")
	}
}

func TestNothingIsOnDiskBeforeStart(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	r := newRig(t, gateway.Config{State: gateway.NewState(dir, time.Now)})
	if _, err := os.Stat(dir); !os.IsNotExist(err) {
		t.Errorf("the data directory: %v", err)
	}
	r.Close()
	if err := r.state.Close(); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(dir); !os.IsNotExist(err) {
		t.Errorf("after closing an unopened State: %v", err)
	}
}

// The newest configuration's bounds hold; where it goes at once, because
// another app of its could not start, those before are back.
func TestAConfigurationThatCouldNotStayLeavesTheBoundsAsTheyWere(t *testing.T) {
	first := newRig(t, gateway.Config{BodyMemory: 100}).start(t, t.Context())
	second := newRig(t, gateway.Config{BodyMemory: 50, State: first.state})
	if err := second.Start(t.Context(), activity.Retention{}); err != nil {
		t.Fatal(err)
	}
	if first.state.Bodies.Take(60) {
		t.Fatal("the newest bound does not apply")
	}
	second.Close()
	if !first.state.Bodies.Take(60) {
		t.Error("the bound of the configuration that failed still applies")
	}
	first.state.Bodies.Give(60)

	third := newRig(t, gateway.Config{BodyMemory: 50, State: first.state})
	if err := third.Start(t.Context(), activity.Retention{}); err != nil {
		t.Fatal(err)
	}
	first.Close()
	if first.state.Bodies.Take(60) {
		t.Error("the end of the older configuration brought its bound back")
	}
}

func TestAProviderCannotBeConfiguredTwice(t *testing.T) {
	p := newProvider(t, "acme", true, answering(200, "{}"))
	_, err := gateway.New(gateway.Config{Providers: []*provider.Provider{p, p}, State: gateway.NewState(t.TempDir(), time.Now), Logger: nopLogger,
		Keyring: newRing(t), Limits: new(policy.Limits), Guardrails: new(policy.Guardrails)})
	if err == nil || !strings.Contains(err.Error(), `"acme" is configured twice`) {
		t.Errorf("error %v", err)
	}
}

// counted is the value of one metric, written as Prometheus writes it.
func counted(t *testing.T, r *rig, series string) float64 {
	t.Helper()
	registry := prometheus.NewPedanticRegistry()
	if err := r.state.Metrics.Register(registry); err != nil {
		t.Fatal(err)
	}
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	name, labels, _ := strings.Cut(strings.TrimSuffix(series, "}"), "{")
	for _, family := range families {
		for _, m := range family.GetMetric() {
			var got []string
			for _, l := range m.GetLabel() {
				got = append(got, l.GetName()+`="`+l.GetValue()+`"`)
			}
			if family.GetName() == name && strings.Join(got, ",") == labels {
				return m.GetCounter().GetValue() + m.GetGauge().GetValue()
			}
		}
	}
	return 0
}

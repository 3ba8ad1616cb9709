package gateway_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	"github.com/gatehouse-proxy/gatehouse/internal/activity"
	"github.com/gatehouse-proxy/gatehouse/internal/desktop"
	"github.com/gatehouse-proxy/gatehouse/internal/gateway"
	"github.com/gatehouse-proxy/gatehouse/internal/keys"
)

func TestAStopEndsTheSessionsThatTheNextConfigurationDoesNotAllow(t *testing.T) {
	state := gateway.NewState(t.TempDir(), time.Now)
	older := startDesktops(t, state, "dev", "one", "two")
	one, two := older.view(t, "one"), older.view(t, "two")
	newer := startDesktops(t, state, "dev", "one")
	wantSession(t, "before the older one stops", two, "")
	older.Stop()
	older.Close()
	wantSession(t, "still configured", one, "")
	wantSession(t, "not configured any more", two, desktop.ReasonRemoved)

	last := startDesktops(t, state, "other", "one") // the secret belongs to another key
	newer.Stop()
	newer.Close()
	wantSession(t, "asked for with a key that is gone", one, desktop.ReasonRemoved)

	one = last.view(t, "one")
	last.Stop() // the next configuration has no gatehouse app
	wantSession(t, "without a gateway", one, desktop.ReasonRemoved)
	last.Close()
	if err := state.Close(); err != nil {
		t.Error(err)
	}
}

func TestARollBackEndsNoSession(t *testing.T) {
	state := gateway.NewState(t.TempDir(), time.Now)
	older := startDesktops(t, state, "dev", "one")
	one := older.view(t, "one")
	failed := startDesktops(t, state, "other", "two")
	failed.Stop()
	failed.Close()
	wantSession(t, "after a roll-back", one, "")
	if failed.Current() != older.Gateway {
		t.Error("connections of the configuration that failed do not get the older one")
	}
	state.Exit(0)
	older.Stop()
	wantSession(t, "at the end of the process", one, desktop.ReasonShutdown)
	older.Close()
	if older.Current() != nil {
		t.Error("a gateway is current after the last one is closed")
	}
	if err := state.Close(); err != nil {
		t.Error(err)
	}
}

// A session may have begun after the listeners were closed.
func TestAShutdownEndsTheSessions(t *testing.T) {
	state := gateway.NewState(t.TempDir(), time.Now)
	r := startDesktops(t, state, "dev", "one")
	one := r.view(t, "one")
	r.onRelease = func() {
		if err := state.Close(); err != nil {
			t.Error(err)
		}
	}
	r.Close()
	if err := state.Shutdown(time.Minute); err != nil {
		t.Error(err)
	}
	wantSession(t, "after a shutdown", one, desktop.ReasonShutdown)
}

func TestNewConnectionsGetTheNewestConfiguration(t *testing.T) {
	older := newRig(t, gateway.Config{}).start(t, t.Context())
	newer := newRig(t, gateway.Config{State: older.state})
	if err := newer.Start(t.Context(), activity.Retention{}); err != nil {
		t.Fatal(err)
	}
	if older.Current() != older.Gateway {
		t.Error("a gateway that is not closed does not serve its own connections")
	}
	older.Close()
	if older.Current() != newer.Gateway || newer.Current() != newer.Gateway {
		t.Error("the newest gateway does not serve the connections of the older one")
	}
}

func TestEventsGoToTheConfigurationThatWasStartedWhole(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var got []string
		state := gateway.NewState(t.TempDir(), time.Now)
		begin := func(name string) *rig {
			r := newRig(t, gateway.Config{State: state, Emitter: func(event string, _ map[string]any) { got = append(got, name+" "+event) },
				Observed: func(event string) bool { return event == name }})
			if err := r.Start(t.Context(), activity.Retention{}); err != nil {
				t.Fatal(err)
			}
			return r
		}
		emit := func(event string) {
			state.Emit(event, nil)
			synctest.Wait()
		}
		observed := func(want ...string) {
			for _, event := range []string{"first", "second"} {
				if state.Observed(event) != slices.Contains(want, event) {
					t.Errorf("%s is observed: %v, want only %q", event, state.Observed(event), want)
				}
			}
		}
		observed()
		emit("lost") // there is no subscriber yet
		first := begin("first")
		first.Subscribe()
		observed("first")
		emit("a")
		second := begin("second")
		emit("b") // another app of the second may fail
		second.Subscribe()
		observed("second")
		emit("c")
		second.Close()
		emit("d") // a roll-back
		first.Close()
		if err := state.Close(); err != nil {
			t.Error(err)
		}
		observed()
		emit("lost")
		if want := "first a, first b, second c, first d"; strings.Join(got, ", ") != want {
			t.Errorf("events %q, want %q", got, want)
		}
	})
}

func TestASlowSubscriberDelaysNobody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		core, lines := observer.New(zap.WarnLevel)
		var events int
		held := make(chan struct{})
		r := newRig(t, gateway.Config{Logger: zap.New(core), Emitter: func(string, map[string]any) { events++; <-held }})
		if err := r.Start(t.Context(), activity.Retention{}); err != nil {
			t.Fatal(err)
		}
		r.Subscribe()
		r.Subscribe() // events still come one after another
		const queued = 1024
		burst := func(n int) {
			for range n {
				r.state.Emit("e", nil)
				synctest.Wait() // the first is with the subscriber
			}
		}
		burst(1 + queued + 10)
		if lines.Len() != 1 {
			t.Errorf("%d lines in the log for one burst", lines.Len())
		}
		held <- struct{}{}
		synctest.Wait()
		burst(1 + 1)
		if lines.Len() != 2 {
			t.Errorf("%d lines in the log for two bursts", lines.Len())
		}
		r.Close()
		if err := r.state.Close(); err != nil {
			t.Error(err)
		}
		close(held)
		synctest.Wait()
		if events != 1+queued+1 {
			t.Errorf("%d events, want those that were not dropped", events)
		}
	})
}

func TestAStartOnDataThatAnotherStateHasFails(t *testing.T) {
	dir := t.TempDir()
	newRig(t, gateway.Config{State: gateway.NewState(dir, time.Now)}).start(t, t.Context())
	second := newRig(t, gateway.Config{State: gateway.NewState(dir, time.Now)})
	if err := second.Start(t.Context(), activity.Retention{}); err == nil || !strings.Contains(err.Error(), "in use by another gatehouse") {
		t.Errorf("error %v", err)
	}
	second.Close()
	if second.Current() != nil {
		t.Error("a gateway that did not start is current")
	}
}

func TestTheRetentionOfTheCurrentConfigurationIsUsed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const pruned = 2 * time.Minute // the store prunes every minute
		older := newRig(t, gateway.Config{})
		ctx, end := context.WithCancel(t.Context())
		begin := func(r *rig, age time.Duration) {
			if err := r.Start(ctx, activity.Retention{Age: age}); err != nil {
				t.Fatal(err)
			}
		}
		begin(older, time.Hour)
		older.Requests().Activity.Append(&activity.Record{ID: "gen-1", CreatedAt: time.Now(), Tenant: keys.DefaultTenant})
		time.Sleep(30*time.Minute + 30*time.Second) // not in the moment of a pruning
		failed := newRig(t, gateway.Config{State: older.state})
		begin(failed, time.Minute)
		failed.Close()
		time.Sleep(pruned)
		if n := len(older.records(t)); n != 1 {
			t.Errorf("%d rows after a roll-back, want 1", n)
		}
		newer := newRig(t, gateway.Config{State: older.state})
		begin(newer, time.Minute)
		older.Close()
		time.Sleep(pruned)
		if n := len(newer.records(t)); n != 0 {
			t.Errorf("%d rows that are too old for the newer configuration", n)
		}
		newer.Close()
		end()
		if err := older.state.Close(); err != nil {
			t.Error(err)
		}
	})
}

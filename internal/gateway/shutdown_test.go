package gateway_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/modelcall"
	"github.com/gatehouse-proxy/gatehouse/internal/modelcall/wire"
	"github.com/gatehouse-proxy/gatehouse/internal/request"

	"github.com/gatehouse-proxy/gatehouse/internal/activity"
	"github.com/gatehouse-proxy/gatehouse/internal/api"
	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/gateway"
	"github.com/gatehouse-proxy/gatehouse/internal/provider"
)

// serveModelCall runs a model call as a handler does.
func (r *rig) serveModelCall(t *testing.T) error {
	t.Helper()
	body := strings.NewReader(`{"model":"acme/m","input":"hello"}`)
	caller, err := r.Authenticate(secret, "")
	if err != nil {
		return err
	}
	q, err := request.Begin(&r.Requests().Deps.Deps, httptest.NewRecorder(), httptest.NewRequest(http.MethodPost, "/v1/responses", body), caller,
		request.Route{Name: "POST /v1/responses", Recorded: true}, request.IDs{})
	if err != nil {
		return err
	}
	defer q.Finish()
	if err = modelcall.Serve(r.Requests(), q, wire.Responses, api.OpenAI{}); err != nil {
		q.Outcome.Fail(apierror.From(err))
	}
	return err
}

// The process is about to exit: the calls of all configurations end, and their records are on disk
// before Shutdown returns.
func TestAShutdownEndsCallsAndWaitsForTheirRecords(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir := t.TempDir()
		providers := []*provider.Provider{newProvider(t, "acme", true, roundTrip(silent))}
		older := newRig(t, gateway.Config{State: gateway.NewState(dir, time.Now), Providers: providers})
		newest := newRig(t, gateway.Config{State: older.state, Providers: providers})
		var references atomic.Int32
		references.Store(2)
		var handlers sync.WaitGroup
		for _, r := range []*rig{older, newest} {
			r.onRelease = func() {
				if references.Add(-1) == 0 {
					if err := r.state.Close(); err != nil {
						t.Error(err)
					}
				}
			}
			if err := r.Start(t.Context(), activity.Retention{}); err != nil {
				t.Fatal(err)
			}
			handlers.Go(func() { wantRefusal(t, r.serveModelCall(t), apierror.ShuttingDown, "shutting down") })
			synctest.Wait() // the call waits for its provider
			r.Close()
		}
		if err := newest.state.Shutdown(2 * time.Second); err != nil {
			t.Error(err)
		}
		handlers.Wait()

		after := newRig(t, gateway.Config{State: gateway.NewState(dir, time.Now)}).start(t, t.Context())
		rows := after.records(t)
		for _, row := range rows {
			if row.Code != string(apierror.ShuttingDown) || row.Status != http.StatusServiceUnavailable {
				t.Errorf("record %+v", row)
			}
		}
		if len(rows) != 2 {
			t.Errorf("%d records, want those of both configurations", len(rows))
		}
		after.Close()
	})
}

func TestAShutdownWaitsNoLongerThanItsTimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		providers := []*provider.Provider{newProvider(t, "acme", true, roundTrip(silent))}
		r := newRig(t, gateway.Config{Providers: providers}).start(t, t.Context())
		call := r.begin(t)
		begun := time.Now()
		if err := r.state.Shutdown(2 * time.Second); err == nil || time.Since(begun) != 2*time.Second {
			t.Errorf("after %s: %v", time.Since(begun), err)
		}
		wantRefusal(t, r.serveModelCall(t), apierror.ShuttingDown, "") // one that comes only now
		call.Finish()
		r.Close()
	})
}

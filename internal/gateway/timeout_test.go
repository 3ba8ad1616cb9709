package gateway_test

import (
	"context"
	"io"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/activity"
	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/gateway"
	"github.com/gatehouse-proxy/gatehouse/internal/provider"
)

// silent never answers; it ends with the request's context.
func silent(r *http.Request) (*http.Response, error) {
	<-r.Context().Done()
	return nil, r.Context().Err()
}

// dripping answers with a piece after each pause and is silent then, until
// the request's context ends.
func dripping(pauses ...time.Duration) roundTrip {
	return func(r *http.Request) (*http.Response, error) {
		reader, writer := io.Pipe()
		go func() {
			for _, pause := range pauses {
				time.Sleep(pause) // the bubble's clock
				if _, err := writer.Write([]byte("data: {}\n\n")); err != nil {
					return
				}
			}
			<-r.Context().Done()
			_ = writer.CloseWithError(r.Context().Err())
		}()
		return &http.Response{StatusCode: 200, Header: http.Header{}, Body: reader}, nil
	}
}

// inBubble runs a call against a provider on a clock of its own.
func inBubble(t *testing.T, rt roundTrip, run func(t *testing.T, r *rig, call *gateway.Call)) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, gateway.Config{Providers: []*provider.Provider{newProvider(t, "acme", true, rt)}})
		if err := r.Start(t.Context(), activity.Retention{}); err != nil {
			t.Fatal(err)
		}
		call := r.begin(t)
		if err := call.Admit(t.Context(), provider.Chat, "acme/m"); err != nil {
			t.Fatal(err)
		}
		run(t, r, call)
		call.Finish()
		r.Close()
		if err := r.state.Close(); err != nil {
			t.Error(err)
		}
	})
}

func TestAProviderThatDoesNotAnswerIsTimedOut(t *testing.T) {
	inBubble(t, silent, func(t *testing.T, _ *rig, call *gateway.Call) {
		begun := time.Now()
		wantFault(t, sendAndRead(t.Context(), call), apierror.UpstreamTimeout, "did not answer within 10m0s")
		if took := time.Since(begun); took != 10*time.Minute {
			t.Errorf("after %s", took)
		}
	})
}

// Every read pushes the idle timeout ahead: a long answer is no silent one.
func TestOnlySilenceEndsAnAnswer(t *testing.T) {
	pauses := []time.Duration{4 * time.Minute, 4 * time.Minute, 4 * time.Minute}
	inBubble(t, dripping(pauses...), func(t *testing.T, _ *rig, call *gateway.Call) {
		begun := time.Now()
		wantFault(t, sendAndRead(t.Context(), call), apierror.UpstreamTimeout, "sent nothing for 5m0s")
		if took := time.Since(begun); took != 17*time.Minute {
			t.Errorf("after %s, want the 12 minutes of the answer and 5 of silence", took)
		}
	})
}

func TestTheUpstreamRequestEndsWithTheClient(t *testing.T) {
	inBubble(t, silent, func(t *testing.T, _ *rig, call *gateway.Call) {
		client, leave := context.WithCancel(t.Context())
		time.AfterFunc(time.Second, leave)
		err := sendAndRead(client, call)
		wantFault(t, err, apierror.ClientGone, "the client left")
		call.Fail(apierror.From(err))
		if call.Record.Status != apierror.StatusClientGone {
			t.Errorf("status %d", call.Record.Status)
		}
	})
}

// The process is about to exit: calls end, and their records are on disk
// before Shutdown returns.
func TestShutdownEndsCallsAndWaitsForTheirRecords(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir := t.TempDir()
		providers := []*provider.Provider{newProvider(t, "acme", true, dripping(0))}
		older := newRig(t, gateway.Config{State: gateway.NewState(dir, time.Now), Providers: providers})
		newest := newRig(t, gateway.Config{State: older.state, Providers: providers})
		var holders atomic.Int32 // what the pool of the app counts
		holders.Store(2)
		var handlers sync.WaitGroup
		for _, r := range []*rig{older, newest} {
			r.onRelease = func() {
				if holders.Add(-1) == 0 {
					if err := r.state.Close(); err != nil {
						t.Error(err)
					}
				}
			}
			if err := r.Start(t.Context(), activity.Retention{}); err != nil {
				t.Fatal(err)
			}
			call := r.begin(t)
			if err := call.Admit(t.Context(), provider.Chat, "acme/m"); err != nil {
				t.Fatal(err)
			}
			handlers.Go(func() {
				defer call.Finish()
				err := sendAndRead(t.Context(), call)
				wantFault(t, err, apierror.ShuttingDown, "shutting down")
				call.Fail(apierror.From(err))
			})
			synctest.Wait() // the call is in the middle of its answer
			r.Close()
		}
		if err := newest.state.Shutdown(2 * time.Second); err != nil {
			t.Error(err)
		}
		handlers.Wait()

		after := newRig(t, gateway.Config{State: gateway.NewState(dir, time.Now)})
		if err := after.Start(t.Context(), activity.Retention{}); err != nil {
			t.Fatal(err)
		}
		for _, record := range after.records(t) {
			if record.Code != string(apierror.ShuttingDown) || record.Status != 503 {
				t.Errorf("record %+v", record)
			}
		}
		if n := len(after.records(t)); n != 2 {
			t.Errorf("%d records, want those of both configurations", n)
		}
		after.Close()
		if err := after.state.Close(); err != nil {
			t.Error(err)
		}
	})
}

func TestShutdownDoesNotWaitForEver(t *testing.T) {
	inBubble(t, silent, func(t *testing.T, r *rig, call *gateway.Call) {
		begun := time.Now()
		if err := r.state.Shutdown(2 * time.Second); err == nil || time.Since(begun) != 2*time.Second {
			t.Errorf("after %s: %v", time.Since(begun), err)
		}
		wantFault(t, sendAndRead(t.Context(), call), apierror.ShuttingDown, "") // one that comes to Send only now
	})
}

package modelcall

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/modelcall/wire"
	"github.com/gatehouse-proxy/gatehouse/internal/policy"
	"github.com/gatehouse-proxy/gatehouse/internal/request"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/failover"
	"github.com/gatehouse-proxy/gatehouse/internal/limits"
)

// S07: heartbeats go on while a target is waited for, whether it has sent its header or not.
func TestHeartbeatsBridgeAllAttempts(t *testing.T) {
	for _, behaviours := range [][]string{{"hang", "delayed-headers-20000"}, {"late"}} {
		synctest.Test(t, func(t *testing.T) {
			f := newFleet(t, families[0], behaviours)
			time.AfterFunc(50*time.Second, func() { f.servers[0].provider.Step("late", 1) })
			w, refusal := f.ask(t, true)
			body := w.Body.String()
			before, _, _ := strings.Cut(body, "You ")
			// At 20 and 35 s, and perhaps at 50 s, when the answer comes.
			if n := strings.Count(before, ": keep-alive\n"); refusal != nil || n < 2 || n > 3 || !f.family.looksWhole(true, body) {
				t.Errorf("%q: %v, %d heartbeats:\n%s", behaviours, refusal, n, body)
			}
			if took := time.Since(f.began); took != 50*time.Second {
				t.Errorf("%q: after %v", behaviours, took)
			}
		})
	}
}

// S15: a target is out for a minute while a call comes every 4 s.
func TestAnOutageCostsCallersNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newFleetRig(t)
		for _, family := range families {
			for _, stream := range []bool{true, false} {
				f := r.fleet(t, family, []string{"echo", "no-done"})
				first := f.servers[0].provider
				first.Become("echo", "after-none-err-503")
				outage, back := 0, time.Duration(0)
				for ; back == 0 && time.Since(f.began) < 2*time.Minute; time.Sleep(4 * time.Second) {
					if time.Since(f.began) >= time.Minute {
						first.Become("echo", "echo")
					}
					at := time.Since(f.began)
					if w, refusal := f.ask(t, stream); refusal != nil || !family.looksWhole(stream, w.Body.String()) {
						t.Fatalf("after %v: %v\n%s", at, refusal, w.Body)
					}
					switch row := f.rows(t)[0]; {
					case at < time.Minute:
						outage = first.Attempts("echo")
					case row.Provider == "first":
						back = at
					}
				}
				if outage > 6 || back == 0 || back > 90*time.Second {
					t.Errorf("%s: %d attempts in the outage, used again after %v", family.name, outage, back)
				}
				f.wantNothingHeld(t)
			}
		}
	})
}

// Nothing is gained by avoiding the only target, whether callers know it by an alias or not.
func TestTheOnlyTargetIsNotCooled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFleet(t, families[0], []string{"err-401"})
		for range 3 {
			_, refusal := f.ask(t, false)
			wantRefusal(t, refusal, apierror.UpstreamAuth, "")
		}
		if s := f.health(0); s.State != failover.StateFailing {
			t.Errorf("the only target is %s", s.State)
		}
	})
}

// A call that panics as the probe of a target must not keep others from probing it.
func TestAPanicEndsItsAttempt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFleet(t, families[0], []string{"err-401", "echo"})
		if _, refusal := f.ask(t, false); refusal != nil {
			t.Fatal(refusal)
		}
		time.Sleep(time.Hour) // a probe is due
		f.panicAt = len(f.asked) + 1
		func() {
			defer func() {
				if recover() == nil {
					t.Error("no panic")
				}
			}()
			f.ask(t, false)
		}()
		f.wantNothingHeld(t)
	})
}

// What may be asked of a model at a time holds for the second request to it too.
func TestASecondRequestCountsAgainstTheLimitsOfItsTarget(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		one := func(n int) limits.Subject {
			return limits.Subject{
				Name: "model:" + targetNames[n], Concurrency: limits.Concurrency{Limit: 1},
				Rates: []limits.Rate{{Unit: limits.Requests, Limit: 3, Window: time.Minute}},
			}
		}
		f := newFleet(t, families[0], []string{"err-500", "echo"}, func(r *rig) {
			r.Limits.Models = []policy.ModelLimits{{Pattern: "first/*", Subject: one(0)}, {Pattern: "second/*", Subject: one(1)}}
		})
		busy, _ := f.Concurrency.Acquire([]limits.Subject{one(1)}, nil)
		defer busy.Release()
		inUse := 0
		f.sending = func(string) {
			n, _ := f.Concurrency.InUse("model:first")
			inUse += n
		}
		_, refusal := f.ask(t, false)
		if wantRefusal(t, refusal, apierror.UpstreamError, ""); inUse != 2 || len(f.asked) != 2 {
			t.Errorf("%d requests held %d slots", len(f.asked), inUse)
		}
		_, refusal = f.ask(t, false) // the third request, and no fourth
		if wantRefusal(t, refusal, apierror.UpstreamError, ""); len(f.asked) != 3 {
			t.Errorf("%d requests of 3 in a minute", len(f.asked))
		}
	})
}

// An attempt is what was sent.
func TestAnAttemptThatWasNotSentIsNotRecorded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFleet(t, families[0], []string{"echo", "echo"})
		body := f.family.body
		q := f.request(t, httptest.NewRecorder(), post(strings.NewReader(body), int64(len(body))))
		c := newCall(&f.Deps, q, wire.Chat, openaiAPI{})
		if err := c.admit(t.Context()); err != nil {
			t.Fatal(err)
		}
		client, leave := context.WithCancel(t.Context())
		leave()
		err := c.dispatch(client)
		wantRefusal(t, err, apierror.ClientGone, "")
		q.Outcome.Fail(apierror.From(err))
		q.Finish()
		if row := f.rows(t)[0]; len(row.Attempted) != 0 || row.Attempts != 0 {
			t.Errorf("%d attempts: %+v", row.Attempts, row.Attempted)
		}
	})
}

// A call that waits before its last target is asked again ends with its client and with the gateway.
func TestAPauseEndsWithTheClientAndTheGateway(t *testing.T) {
	for _, drain := range []time.Duration{0, time.Minute} {
		for _, stream := range []bool{true, false} {
			for code, end := range map[apierror.Code]func(f *fleet, leave func()){
				apierror.ClientGone:   func(_ *fleet, leave func()) { leave() },
				apierror.ShuttingDown: func(f *fleet, _ func()) { f.calls.Interrupt(request.ErrShutdown) },
			} {
				synctest.Test(t, func(t *testing.T) {
					f := newFleet(t, families[0], []string{"after-3-err-429", "after-3-err-429"}, func(r *rig) { r.Limits.Drain = drain })
					ctx, leave := context.WithCancel(t.Context())
					defer leave()
					time.AfterFunc(time.Second, func() { end(f, leave) })
					_, refusal := f.ask(t, stream, func(r *http.Request) { *r = *r.WithContext(ctx) })
					if wantRefusal(t, refusal, code, ""); time.Since(f.began) != time.Second || len(f.asked) != 2 {
						t.Errorf("drain %v, stream %v: after %v, asked %v", drain, stream, time.Since(f.began), f.asked)
					}
					f.wantNothingHeld(t)
				})
			}
		}
	}
}

// A gateway whose limit for the first byte is short goes on to the next target all the same.
func TestTheHeaderTimeoutIsThatOfOneAttempt(t *testing.T) {
	for _, stream := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			f := newFleet(t, families[0], []string{"hang", "hang", "echo"}, func(r *rig) { r.Timeouts.Header = 20 * time.Second })
			w, refusal := f.ask(t, stream)
			if refusal != nil || !f.family.looksWhole(stream, w.Body.String()) || time.Since(f.began) != 40*time.Second {
				t.Errorf("stream %v: after %v: %v\n%s", stream, time.Since(f.began), refusal, w.Body)
			}
		})
	}
}

// The time of all attempts together is bounded: no client waits for so many.
func TestNoAttemptBeginsAfterTheClientHasGivenUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFleet(t, families[0], []string{"hang", "hang", "echo"}, func(r *rig) { r.Timeouts.Header = time.Hour })
		for i := range 2 {
			f.Models.(aliasModels).groups[i][0].Provider.Timeouts.Whole = 6 * time.Minute
		}
		_, refusal := f.ask(t, false)
		if wantRefusal(t, refusal, apierror.UpstreamTimeout, ""); time.Since(f.began) != 12*time.Minute {
			t.Errorf("after %v", time.Since(f.began))
		}
	})
}

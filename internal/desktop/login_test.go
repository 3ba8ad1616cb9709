package desktop_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/desktop"
)

// outcome is what one call of Login came to.
type outcome struct {
	done func(desktop.RefusalCode)
	why  desktop.RefusalCode
}

// login begins a login in a bubble; got has its outcome once there is one.
func login(ctx context.Context, d *desktop.Service, id desktop.ID) (got chan outcome) {
	got = make(chan outcome, 1)
	go func() {
		done, why, _ := d.Login(ctx, id)
		got <- outcome{done, why}
	}()
	synctest.Wait()
	return got
}

// wantLogin asserts an outcome, or with the code "waits" that there is none yet.
func wantLogin(t *testing.T, what string, got chan outcome, want desktop.RefusalCode) (done func(desktop.RefusalCode)) {
	t.Helper()
	synctest.Wait()
	select {
	case o := <-got:
		if o.why != want || (o.done == nil) != (want != "") {
			t.Errorf("%s: %q, want %q", what, o.why, want)
		}
		return o.done
	default:
		if want != waits {
			t.Fatalf("%s: it waits, want %q", what, want)
		}
	}
	return nil
}

const waits desktop.RefusalCode = "waits"

func TestLoginsWaitForEachOtherUntilOneWasRight(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d, ctx := newService(t, nil), t.Context()
		first := wantLogin(t, "the first", login(ctx, d, desk1), "")
		second, third := login(ctx, d, desk1), login(ctx, d, desk1)
		wantLogin(t, "the second", second, waits)
		wantLogin(t, "another workstation's", login(ctx, d, desk2), "")("")
		gone, leave := context.WithCancel(ctx)
		leave()
		wantLogin(t, "who has no time left", login(gone, d, desk1), desktop.WorkstationTimeout)
		first("")
		done := wantLogin(t, "the second", second, "")
		wantLogin(t, "the third", third, "")("")
		wantLogin(t, "a later one", login(ctx, d, desk1), "")("")
		done(desktop.WorkstationRefused) // right no more
		fourth := wantLogin(t, "after a failure", login(ctx, d, desk1), "")
		wantLogin(t, "the next", login(ctx, d, desk1), waits)
		fourth("")
	})
}

// If each tried for itself, many viewers of a silent workstation would wait the whole timeout one
// after the other.
func TestWhoeverWaitsSharesTheFailureOfTheLoginUnderWay(t *testing.T) {
	for _, c := range []struct {
		why  desktop.RefusalCode
		left time.Duration // how long the workstation is not asked then
	}{
		{desktop.WorkstationPassword, 30 * time.Second}, {desktop.WorkstationBlacklisted, 30 * time.Second},
		{desktop.WorkstationTimeout, 5 * time.Second}, {desktop.WorkstationUnreachable, 5 * time.Second},
		{desktop.WorkstationCertificate, 0},
	} {
		synctest.Test(t, func(t *testing.T) {
			d, again := reload(t)
			ctx := t.Context()
			first := wantLogin(t, "the first", login(ctx, d, desk1), "")
			second, third := login(ctx, d, desk1), login(ctx, d, desk1)
			next := again(nil) // it may know a better password
			newer := login(ctx, next, desk1)
			first(c.why)
			wantLogin(t, "the second", second, c.why)
			wantLogin(t, "the third", third, c.why)
			wantLogin(t, "one of a later configuration", newer, "")(c.why)
			if c.left > 0 {
				wantLogin(t, "at once", login(ctx, next, desk1), c.why)
				time.Sleep(c.left - 1)
				wantLogin(t, "a moment before its time", login(ctx, next, desk1), c.why)
				time.Sleep(time.Nanosecond)
			}
			wantLogin(t, "after its time", login(ctx, next, desk1), "")("")
			wantLogin(t, "another tenant's", login(ctx, next, desktop.ID{Tenant: "other", Name: "desk1"}), "")("")
		})
	}
}

func TestALoginThatWasRightEndsTheTimeInWhichAWorkstationIsNotAsked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d, ctx := newService(t, nil), t.Context()
		wantLogin(t, "the first", login(ctx, d, desk1), "")("")
		slow, quick := wantLogin(t, "slow", login(ctx, d, desk1), ""), wantLogin(t, "quick", login(ctx, d, desk1), "")
		quick(desktop.WorkstationTimeout)
		slow("")
		wantLogin(t, "the next", login(ctx, d, desk1), "")("")
	})
}

func TestViewersThatWaitForAWorkstationAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newService(t, nil)
		ctx, leave := context.WithCancel(t.Context())
		first := wantLogin(t, "the first", login(ctx, d, desk1), "")
		var waiting []chan outcome
		for range desktop.MaxConnecting - 1 {
			waiting = append(waiting, login(ctx, d, desk1))
		}
		wantLogin(t, "one more", login(ctx, d, desk1), desktop.RefusedTooManyConnections)
		wantLogin(t, "elsewhere", login(ctx, d, desk2), "")("")
		leave()
		for _, w := range waiting {
			wantLogin(t, "who leaves", w, desktop.WorkstationTimeout)
		}
		first("")
		wantLogin(t, "afterwards", login(t.Context(), d, desk1), "")("")

		for n := range desktop.MaxConnectingInAll {
			wantLogin(t, "each at its own", login(t.Context(), d, desktop.ID{Tenant: "default", Name: string(rune('a' + n))}), "")
		}
		wantLogin(t, "one more of all", login(t.Context(), d, desk2), desktop.RefusedTooManyConnections)
	})
}

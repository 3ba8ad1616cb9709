package replay

import (
	"context"
	"errors"
	"io"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/zap"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/recording"
)

func TestAKeyLeavesReplaysToOthers(t *testing.T) {
	r := Recordings{recording.NewStore(recording.Settings{Dir: t.TempDir()}, func() string { return "" }, zap.NewNop(), time.Now)}
	code := func(by Viewer) apierror.Code {
		by.Sees = func(string) bool { return true }
		_, err := r.Export(httptest.NewRecorder(), httptest.NewRequest("GET", "/", nil), recording.Entry{ID: "vnc-0123456789abcdef"}, by)
		return apierror.From(err).Code
	}
	greedy := Viewer{Tenant: "default", Key: "greedy"}
	held := 0
	for code(greedy) == apierror.NotFound { // it had a place
		release, ok := underWay.Acquire(greedy.Tenant, greedy.Key, maxUnderWay)
		if !ok {
			t.Fatal("a place is not free again")
		}
		defer release()
		held++
	}
	if got := code(greedy); got != apierror.GatewayBusy || held >= maxUnderWay {
		t.Errorf("%s with %d of %d", got, held, maxUnderWay)
	}
	for _, other := range []Viewer{{Tenant: "default", Key: "other"}, {Tenant: "acme", Key: "greedy"}} {
		if got := code(other); got != apierror.NotFound {
			t.Errorf("%s of %s: %s", other.Key, other.Tenant, got)
		}
	}
}

// A recording is watched by requests that last: their key is looked at again and again.
func TestAKeyThatEndsTakesItsReplayWithIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var ended atomic.Bool
		by := Viewer{Tenant: "default", Key: "one", Sees: func(tenant string) bool { return tenant == "acme" && !ended.Load() }}
		ctx, end, err := by.begin(httptest.NewRequest("GET", "/", nil), "acme")
		if err != nil {
			t.Fatal(err)
		}
		defer end()
		time.Sleep(time.Hour)
		if ctx.Err() != nil {
			t.Fatal(context.Cause(ctx))
		}
		ended.Store(true)
		begun := time.Now()
		<-ctx.Done()
		if took := time.Since(begun); took > time.Second || !errors.Is(context.Cause(ctx), errKeyEnded) {
			t.Errorf("after %v: %v", took, context.Cause(ctx))
		}
		if err := export(ctx, io.Discard, colours().open); !errors.Is(err, errKeyEnded) {
			t.Errorf("an export goes on: %v", err)
		}
	})
}

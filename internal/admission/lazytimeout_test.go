package admission

import (
	"context"
	"testing"
	"testing/synctest"
	"time"
)

func TestALazyTimeoutBeginsWhenItIsAskedFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		unused := &lazyTimeout{limit: time.Minute}
		unused.stop()
		ctx := &lazyTimeout{limit: 5 * time.Second}
		defer ctx.stop()
		time.Sleep(time.Hour)
		if ends, ok := ctx.Deadline(); !ok || time.Until(ends) != 5*time.Second || ctx.Err() != nil {
			t.Errorf("it ends at %v, %v; %v", ends, ok, ctx.Err())
		}
		inner, cancel := context.WithTimeout(ctx, time.Hour) // as a ledger behind a network makes it
		defer cancel()
		<-inner.Done()
		if ctx.Err() != context.DeadlineExceeded || inner.Err() != context.DeadlineExceeded {
			t.Errorf("%v, %v", ctx.Err(), inner.Err())
		}
	})
}

func TestALazyTimeoutCanBeStopped(t *testing.T) {
	ctx := &lazyTimeout{limit: time.Hour}
	done := ctx.Done()
	ctx.stop()
	<-done
	if ctx.Err() != context.Canceled {
		t.Error(ctx.Err())
	}
}

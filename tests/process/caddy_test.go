//go:build unix

package process

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

func TestEventuallyWaitsNoLongerThanItMust(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began, calls := time.Now(), 0
		err := Eventually(t.Context(), time.Minute, func() error {
			if calls++; calls < 4 {
				return errors.New("not yet")
			}
			return nil
		})
		if took := time.Since(began); err != nil || calls != 4 || took > time.Second {
			t.Errorf("%v after %d calls and %v", err, calls, took)
		}
		never := errors.New("never")
		began = time.Now()
		if err := Eventually(t.Context(), time.Minute, func() error { return never }); err != never {
			t.Errorf("%v, want the last error of the check", err)
		}
		if took := time.Since(began); took != time.Minute {
			t.Errorf("a timeout of a minute took %v", took)
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if err := Eventually(ctx, time.Minute, func() error { return never }); err != never {
			t.Errorf("%v after the context ended", err)
		}
	})
}

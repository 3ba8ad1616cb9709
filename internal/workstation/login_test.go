package workstation_test

import (
	"context"
	"testing"
	"testing/synctest"
)

// Until a password was right once, one login at a time: a wrong one is then
// known before the next.
func TestLoginsToAWorkstationTakeTurnsUntilOneWasRight(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDesk(t, nil)
		first, err := d.Login(t.Context(), desk1)
		if err != nil {
			t.Fatal(err)
		}
		entered := 0
		var done func(bool)
		wait := func() {
			go func() {
				if f, err := d.Login(t.Context(), desk1); err == nil {
					entered, done = entered+1, f
				}
			}()
			synctest.Wait()
		}
		if wait(); entered != 0 {
			t.Fatal("a second login began while the first was under way")
		}
		gone, leave := context.WithCancel(t.Context())
		leave()
		if _, err := d.Login(gone, desk1); err == nil {
			t.Error("who left was let in")
		}
		first(false)
		synctest.Wait()
		if entered != 1 {
			t.Fatal("after the first, the second may try")
		}
		done(true)
		for range 3 {
			wait()
		}
		if entered != 4 {
			t.Errorf("%d logins began after one was right, want 3 at once", entered-1)
		}
		done(false) // the password was changed
		if wait(); entered != 5 {
			t.Fatal("one may try")
		}
		if wait(); entered != 5 {
			t.Error("logins take turns again after one was wrong")
		}
		done(true)
		synctest.Wait()
		done(true)
	})
}

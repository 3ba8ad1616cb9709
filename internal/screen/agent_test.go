package screen_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
)

func TestOneCallActsAtATime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLab(t, nil)
		x := l.mustOpen()
		defer x.Release()
		_, done, err := x.Turn(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		time.AfterFunc(5*time.Second, func() { done(0, 0) })
		begun := time.Now()
		impatient, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		_, _, err = x.Turn(impatient)
		if wantCode(t, err, apierror.ClientGone); time.Since(begun) != time.Second {
			t.Errorf("after %v", time.Since(begun))
		}
		if _, done, err = x.Turn(t.Context()); err != nil || time.Since(begun) != 5*time.Second {
			t.Fatalf("after %v: %v", time.Since(begun), err)
		}
		time.AfterFunc(time.Second, func() { x.Session().End("released") })
		_, _, err = x.Turn(t.Context())
		wantCode(t, err, apierror.NotFound)
		done(0, 0)
	})
}

func TestACheckSaysWhyNothingCanBeSent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLab(t, nil)
		x := l.mustOpen()
		defer x.Release()
		check, done, err := x.Turn(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		defer done(0, 0)
		must(t, check())
		l.person().Input.Press()
		wantCode(t, check(), apierror.ControlHeld)
		x.Session().End("released")
		wantCode(t, check(), apierror.NotFound)
	})
}

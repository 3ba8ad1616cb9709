//go:build linux

package main

import (
	"context"
	"errors"
	"os/exec"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"
)

func TestWhatAProcessSaysIsReadWithoutLineBreaks(t *testing.T) {
	cmd := exec.Command("printf", "one\n    two  three\n")
	p, err := start(cmd, filepath.Join(t.TempDir(), "log"))
	if err != nil {
		t.Fatal(err)
	}
	<-p.Exited
	if err := p.says("one two three"); err != nil {
		t.Error(err)
	}
	if p.says("four") == nil {
		t.Error("it has not said four")
	}
}

func TestEventuallyWaitsNoLongerThanItMust(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began, calls := time.Now(), 0
		err := eventually(t.Context(), time.Minute, func() error {
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
		if err := eventually(t.Context(), time.Minute, func() error { return never }); err != never {
			t.Errorf("%v, want the last error of the check", err)
		}
		if took := time.Since(began); took != time.Minute {
			t.Errorf("patience of a minute took %v", took)
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if err := eventually(ctx, time.Minute, func() error { return never }); err != never {
			t.Errorf("%v after the context ended", err)
		}
	})
}

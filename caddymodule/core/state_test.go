package core

import (
	"path/filepath"
	"testing"
)

func TestAStateIsSharedAndReacquiredOnlyWhileItLives(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	first, err := acquireState(dir)
	if err != nil {
		t.Fatal(err)
	}
	second, err := acquireState(dir)
	if err != nil || second != first {
		t.Fatalf("a second configuration got another State, %v", err)
	}
	release := func() {
		t.Helper()
		if err := releaseState(dir); err != nil {
			t.Fatal(err)
		}
	}
	release()
	if !reacquireState(dir, first) {
		t.Error("a State in use could not be acquired again")
	}
	release()
	release()
	if reacquireState(dir, first) {
		t.Error("a State that is gone was acquired again")
	}
	third, err := acquireState(dir)
	if err != nil || third == first {
		t.Fatalf("a closed State was given out, %v", err)
	}
	if reacquireState(dir, first) {
		t.Error("another State was acquired in place of one that is gone")
	}
	release()
	if n, there := states.References(dir); there {
		t.Errorf("%d references are left", n)
	}
}

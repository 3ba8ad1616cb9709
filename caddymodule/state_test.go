package caddymodule

import (
	"path/filepath"
	"testing"
)

func TestAStateIsSharedAndHeldAgainOnlyWhileItLives(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	first, err := takeState(dir)
	if err != nil {
		t.Fatal(err)
	}
	second, err := takeState(dir)
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
	if !holdState(dir, first) {
		t.Error("a State in use could not be held again")
	}
	release()
	release()
	if holdState(dir, first) {
		t.Error("a State that is gone was held again")
	}
	third, err := takeState(dir)
	if err != nil || third == first {
		t.Fatalf("a closed State was given out, %v", err)
	}
	if holdState(dir, first) {
		t.Error("another State was held in the place of one that is gone")
	}
	release()
	if n, there := states.References(dir); there {
		t.Errorf("%d references are left", n)
	}
}

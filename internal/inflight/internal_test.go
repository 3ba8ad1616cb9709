package inflight

import "testing"

// The last entry went, and another came before the lock was taken.
func TestAReferenceInUseIsNotReleased(t *testing.T) {
	var s Set
	released := 0
	s.Init(func() bool { return true }, func() { released++ })
	s.releaseUnused()
	if released != 0 {
		t.Error("released while it is used")
	}
	s.Close()
	s.releaseUnused()
	if released != 1 {
		t.Errorf("released %d times", released)
	}
}

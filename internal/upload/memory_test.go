package upload

import (
	"math"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"testing"
)

func TestMemoryTakesAllOrNothing(t *testing.T) {
	var m Memory
	m.SetLimit(100)
	if !m.Take(60) || m.Take(41) {
		t.Fatal("60 of 100 must fit, 41 more must not")
	}
	if m.Used() != 60 {
		t.Errorf("a refused Take left %d bytes taken, want 60", m.Used())
	}
	if !m.Take(40) {
		t.Error("the rest must fit to the byte")
	}
	m.Give(100)
	if m.Used() != 0 {
		t.Errorf("%d bytes are left", m.Used())
	}
}

func TestALowerLimitHoldsForWhatComes(t *testing.T) {
	var m Memory
	m.SetLimit(100)
	m.Take(90)
	m.SetLimit(50)
	if m.Take(1) {
		t.Error("above the new limit nothing more may be taken")
	}
	m.Give(90)
	if !m.Take(50) || m.Take(1) {
		t.Error("the new limit does not hold")
	}
}

func TestMemoryIsNeverOverTheLimitInAStampede(t *testing.T) {
	var m Memory
	m.SetLimit(8)
	var held atomic.Int64
	var all sync.WaitGroup
	for range 16 {
		all.Go(func() {
			for range 500 {
				if m.Take(1) {
					if n := held.Add(1); n > 8 {
						t.Errorf("%d bytes are held at once", n)
					}
					held.Add(-1)
					m.Give(1)
				}
			}
		})
	}
	all.Wait()
	if m.Used() != 0 {
		t.Errorf("%d bytes are left", m.Used())
	}
}

func TestDefaultBodyMemoryFollowsTheMemoryLimit(t *testing.T) {
	before := debug.SetMemoryLimit(4 << 30)
	defer debug.SetMemoryLimit(before)
	if got := DefaultMemory(); got != 1<<30 {
		t.Errorf("with a limit of 4 GiB: %d", got)
	}
	debug.SetMemoryLimit(60 << 20)
	if got := DefaultMemory(); got != MinMemory {
		t.Errorf("with a limit of 60 MiB: %d", got)
	}
	debug.SetMemoryLimit(math.MaxInt64)
	if got := DefaultMemory(); got != 1<<30 {
		t.Errorf("without a limit: %d", got)
	}
}

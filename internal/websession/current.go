package websession

import (
	"sync/atomic"
	"time"
)

// Current says where a process keeps its sessions: in memory, or where several gateways share them
// from then on that it is one of several.
type Current struct {
	memory *Memory
	shared atomic.Pointer[Shared]
}

// NewCurrent returns one that is in memory.
func NewCurrent(now func() time.Time) *Current { return &Current{memory: NewMemory(now)} }

// Share keeps sessions where several gateways share them.
func (c *Current) Share(s *Shared) { c.shared.Store(s) }

// Store returns where sessions are kept now.
func (c *Current) Store() Store {
	if shared := c.shared.Load(); shared != nil {
		return shared
	}
	return c.memory
}

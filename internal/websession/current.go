package websession

import (
	"context"
	"sync/atomic"
	"time"
)

// Current says where a process keeps its sessions: with its own data, or where several gateways
// share them from then on that it is one of several.
type Current struct {
	memory *Memory
	shared atomic.Pointer[Shared]
}

// NewCurrent returns one that shares nothing.
func NewCurrent(now func() time.Time) *Current { return &Current{memory: NewMemory(now)} }

// Share keeps sessions where several gateways share them.
func (c *Current) Share(s *Shared) { c.shared.Store(s) }

// Open reads the sessions of one gateway that a process before has left; see [Memory.Open].
func (c *Current) Open(ctx context.Context, t Table) error { return c.memory.Open(ctx, t) }

// Store returns where sessions are kept now.
func (c *Current) Store() Store {
	if shared := c.shared.Load(); shared != nil {
		return shared
	}
	return c.memory
}

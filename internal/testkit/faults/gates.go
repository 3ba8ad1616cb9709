package faults

import (
	"context"
	"sync"
)

const (
	// maxGates bounds how many ids a test run may use between two resets.
	maxGates = 4096
	// maxTokens bounds what may be given ahead to one id; it covers the longest stream.
	maxTokens = maxEvents
)

// gates hold tokens by id. A token that nobody waits for yet is kept.
type gates struct {
	mu   sync.Mutex
	byID map[string]chan struct{}
}

func newGates() *gates { return &gates{byID: make(map[string]chan struct{})} }

// gate returns the channel of id, nil when there are too many.
func (g *gates) gate(id string) chan struct{} {
	g.mu.Lock()
	defer g.mu.Unlock()
	ch := g.byID[id]
	if ch == nil && len(g.byID) < maxGates {
		ch = make(chan struct{}, maxTokens)
		g.byID[id] = ch
	}
	return ch
}

func (g *gates) give(id string, n int) bool {
	ch := g.gate(id)
	if ch == nil {
		return false
	}
	for range n {
		select {
		case ch <- struct{}{}:
		default:
			return false
		}
	}
	return true
}

func (g *gates) take(ctx context.Context, id string) bool {
	select {
	case <-g.gate(id):
		return true
	case <-ctx.Done():
		return false
	}
}

// reset drops the tokens but keeps the channels: a stream may be waiting.
func (g *gates) reset() {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, ch := range g.byID {
		for len(ch) > 0 {
			select {
			case <-ch:
			default:
			}
		}
	}
}

package runtimekeys

import (
	"context"
	"sync"
	"time"
)

const (
	// refreshGap is the least time between two readings for refused secrets. So guesses of strangers
	// cost the database ten small queries a second at most.
	refreshGap = 100 * time.Millisecond
	// refreshTimeout bounds a reading. Then the secret is refused.
	refreshTimeout = 300 * time.Millisecond
)

// refresher reads the changes of other gateways for those whose secret would be refused: one reading
// for all who wait for it.
type refresher struct {
	read func(ctx context.Context) error

	mu   sync.Mutex    // guards the following
	next chan struct{} // closed when the reading ends that has not begun; nil: nobody waits for one
	last time.Time     // when the last one began
}

// wait returns after a reading that began after the call.
func (r *refresher) wait() {
	r.mu.Lock()
	if done := r.next; done != nil {
		r.mu.Unlock()
		<-done // bounded by who reads
		return
	}
	done := make(chan struct{})
	r.next = done
	gap := refreshGap - time.Since(r.last)
	r.mu.Unlock()
	if gap > 0 {
		time.Sleep(gap)
	}
	r.mu.Lock()
	r.next, r.last = nil, time.Now()
	r.mu.Unlock()
	ctx, cancel := context.WithTimeout(context.Background(), refreshTimeout)
	defer cancel()
	_ = r.read(ctx)
	close(done)
}

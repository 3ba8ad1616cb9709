package cloudauth

import (
	"cmp"
	"context"
	"errors"
	"sync"
	"time"
)

const (
	// firstPause is how long a source that failed is left alone. The pause doubles up to longestPause.
	firstPause   = time.Second
	longestPause = time.Minute

	// sameRefusal is how long requests are refused that were sent before the credential was renewed.
	sameRefusal = 5 * time.Second
	// leastAge is how old a credential must be to be renewed for that: a new one that is refused at once has not
	// expired, it lacks a right.
	leastAge = time.Minute
)

// fetch asks a source for a credential, and when it expires.
type fetch[T any] func(ctx context.Context) (value T, expires time.Time, err error)

// cache keeps what a source gave. It is asked by one goroutine at a time, which ends with the cache's
// context, or after fetchTimeout.
type cache[T any] struct {
	fetch fetch[T]
	early time.Duration // before the end that the next one is asked for
	now   func() time.Time
	ctx   context.Context // of the configuration; nil for a source that is asked each time

	mu       sync.Mutex   // guards the following
	recent   [maxRecent]T // the credential, and those before it
	doubted  bool         // a provider refused it; it is used while there is no other
	expires  time.Time
	fetched  time.Time
	err      error         // of the last attempt
	pause    time.Duration // after failures
	retry    time.Time     // not before
	fetching chan struct{} // closed when the present attempt has ended; nil for none
	timer    *time.Timer   // of the next attempt
}

func newCache[T any](ctx context.Context, now func() time.Time, early time.Duration, f fetch[T]) *cache[T] {
	c := &cache[T]{fetch: f, early: early, now: now, ctx: ctx}
	context.AfterFunc(ctx, c.stop)
	return c
}

// newStatic returns the cache of a source that has its credential at hand, which does not expire.
func newStatic[T any](now func() time.Time, f fetch[T]) *cache[T] {
	return &cache[T]{fetch: f, now: now}
}

// stop ends the work in the background.
func (c *cache[T]) stop() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.timer != nil {
		c.timer.Stop()
	}
}

// get returns a valid credential. It waits for one as long as the context lasts.
func (c *cache[T]) get(ctx context.Context) (T, error) {
	c.mu.Lock()
	if c.ctx == nil {
		defer c.mu.Unlock()
		if c.recent[0], _, c.err = c.fetch(ctx); c.err == nil {
			c.fetched = c.now()
		}
		return c.recent[0], c.err
	}
	if c.valid() {
		defer c.mu.Unlock()
		return c.recent[0], nil
	}
	if c.err != nil && c.fetching == nil && c.now().Before(c.retry) {
		defer c.mu.Unlock()
		return c.present()
	}
	ended := c.begin()
	c.mu.Unlock()
	return c.await(ctx, ended)
}

// await returns what came of an attempt.
func (c *cache[T]) await(ctx context.Context, ended <-chan struct{}) (value T, err error) {
	select {
	case <-ended:
	case <-ctx.Done():
		return value, ctx.Err()
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.present()
}

// present returns the credential that there is, also one that was refused, or why there is none.
func (c *cache[T]) present() (value T, err error) {
	if c.has() && c.now().Before(c.expires) {
		return c.recent[0], nil
	}
	return value, cmp.Or(c.err, errExpired)
}

var errExpired = errors.New("the source gave a credential that has expired, or does not say when it does; compare the clocks")

// renew asks for another credential now.
func (c *cache[T]) renew(ctx context.Context) error {
	if c.ctx == nil {
		_, err := c.get(ctx)
		return err
	}
	c.mu.Lock()
	ended := c.begin()
	c.mu.Unlock()
	if _, err := c.await(ctx, ended); err != nil {
		return err
	}
	return c.status().Err
}

// has reports whether there is a credential, valid or not.
func (c *cache[T]) has() bool { return !c.fetched.IsZero() }

func (c *cache[T]) valid() bool {
	return c.has() && !c.doubted && c.now().Before(c.expires)
}

// begin begins an attempt, if there is none. One that begins while the configuration lives ends with it.
func (c *cache[T]) begin() <-chan struct{} {
	if c.fetching == nil {
		parent := c.ctx
		if parent.Err() != nil { // the last requests of a configuration that has ended
			parent = context.WithoutCancel(parent)
		}
		c.fetching = make(chan struct{})
		go c.attempt(parent, c.fetching)
	}
	return c.fetching
}

func (c *cache[T]) attempt(parent context.Context, ended chan struct{}) {
	ctx, cancel := context.WithTimeout(parent, fetchTimeout)
	defer cancel()
	value, expires, err := c.fetch(ctx)
	c.mu.Lock()
	defer c.mu.Unlock()
	defer close(ended)
	c.fetching = nil
	now := c.now()
	if err == nil && !now.Before(expires) {
		err = errExpired
	}
	if c.err = err; err == nil {
		copy(c.recent[1:], c.recent[:])
		c.recent[0], c.doubted, c.expires, c.fetched, c.pause = value, false, expires, now, 0
	} else {
		c.pause = min(max(2*c.pause, firstPause), longestPause)
		c.retry = now.Add(c.pause)
	}
	c.schedule(now)
}

// schedule has the next attempt made before the credential expires, or after the pause.
func (c *cache[T]) schedule(now time.Time) {
	var wait time.Duration
	switch {
	case c.ctx.Err() != nil:
		return
	case c.err != nil:
		wait = c.pause
	default:
		life := c.expires.Sub(now)
		wait = max(life-min(c.early, life/4), firstPause)
	}
	if c.timer != nil {
		c.timer.Stop()
	}
	c.timer = time.AfterFunc(wait, func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		if c.ctx.Err() == nil {
			c.begin()
		}
	})
}

// refused notes that a provider refused the credential. It reports whether another one may be taken.
func (c *cache[T]) refused() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch age := c.now().Sub(c.fetched); {
	case c.ctx == nil:
		return false
	case !c.has() || c.doubted:
		return c.fetching != nil
	case age < sameRefusal:
		return true // perhaps it was the one before
	case age < leastAge:
		return false
	}
	c.doubted = true
	return true
}

// maxRecent bounds the credentials that are known: a token lives for about an hour, and a stream that began
// with it can last longer and end in an error that shows it.
const maxRecent = 3

// known returns the credential and those before it, which a source at hand does not keep. Some may be
// empty.
func (c *cache[T]) known() [maxRecent]T {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.recent
}

func (c *cache[T]) status() Status {
	c.mu.Lock()
	defer c.mu.Unlock()
	s := Status{Refreshed: c.fetched, Err: c.err, Static: c.ctx == nil}
	if c.has() && !s.Static {
		s.Life = max(c.expires.Sub(c.now()), 0)
	}
	return s
}

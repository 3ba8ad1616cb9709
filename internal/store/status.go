package store

import (
	"errors"
	"fmt"
	"os"
	"sync"
	"time"
)

// slowCommit is the duration from which a commit under way is reported as blocked: it waits for
// another process's lock, or for a disk that does not answer. What else the writer does on the disk
// counts as well, because commits wait for it.
const slowCommit = time.Second

// errSlow is the cause that is known of a commit that is under way, or that cannot begin.
var errSlow = errors.New("a commit does not end: another process has the database locked, or the disk does not answer")

// Status is what an operator should know of a store. The zero value is that of one that works.
type Status struct {
	// Err is why commits fail or do not end, nil if they succeed.
	Err error
	// Since is when that began.
	Since time.Time
	// Blocked reports whether commits only wait, for another process's lock or for the disk. What
	// must be durable is then kept by the redo log. Otherwise it is refused while Err is set.
	Blocked bool
	// Waiting is how many operations are not committed, WaitingBytes the memory that they use.
	Waiting, WaitingBytes int
	// Oldest is when the first of these was submitted, zero without any.
	Oldest time.Time
	// RedoErr is why the redo log cannot be written, nil if it can. Each durable operation then
	// waits for a commit of its own.
	RedoErr error
	// RedoSince is when that began.
	RedoSince time.Time
}

// Size returns how many bytes the files of the database have on the disk.
func Size(s *Store) (bytes int64) {
	for _, suffix := range []string{"", "-wal"} {
		if info, err := os.Stat(s.path + suffix); err == nil {
			bytes += info.Size()
		}
	}
	return bytes
}

// Status returns the present status.
func (s *Store) Status() Status {
	waiting := s.queue.Status()
	status := s.commits.status()
	status.Waiting, status.WaitingBytes, status.Oldest = waiting.Items, waiting.Bytes, waiting.Oldest
	if s.log != nil {
		fault := s.log.status()
		status.RedoErr, status.RedoSince = fault.err, fault.since
	}
	return status
}

// Dropped returns how many droppable operations were dropped because the queue was full.
func (s *Store) Dropped() uint64 { return s.queue.Status().Dropped }

// Health returns why commits fail, nil if they succeed or only wait; see Status.Blocked.
func (s *Store) Health() error {
	s.commits.mu.Lock()
	defer s.commits.mu.Unlock()
	if s.commits.blocked {
		return nil
	}
	return s.commits.err
}

// commits is the state of the writer's commits.
type commits struct {
	mu      sync.Mutex // guards the following
	err     error      // why the last one failed
	since   time.Time  // when they began to fail
	blocked bool       // the last one failed because of another process's lock
	began   time.Time  // of what the writer does, a commit or between two; zero: nothing
}

// begin records that the writer begins with a commit, or with something that keeps it from the next
// one.
func (c *commits) begin() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.began = time.Now()
	return c.began
}

// between does something between two commits. If it does not end, that is seen as in a commit.
func (c *commits) between(do func()) {
	c.begin()
	do()
	c.mu.Lock()
	defer c.mu.Unlock()
	c.began = time.Time{}
}

// succeed records a commit, and returns since when commits had been failing, zero if they had not.
func (c *commits) succeed() (failed time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	failed = c.since
	c.err, c.since, c.blocked, c.began = nil, time.Time{}, false, time.Time{}
	return failed
}

// fail records a failed commit and reports whether the one before had succeeded.
func (c *commits) fail(err error) (news bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	news = c.err == nil
	if news {
		c.since = time.Now()
		if !c.began.IsZero() {
			c.since = c.began
		}
	}
	c.err, c.blocked, c.began = err, locked(err), time.Time{}
	return news
}

// slow reports whether the writer has been busy with one thing for long. The commits must be locked.
func (c *commits) slow(now time.Time) bool {
	return !c.began.IsZero() && now.Sub(c.began) >= slowCommit
}

// work reports whether commits neither fail nor take long.
func (c *commits) work() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.err == nil && !c.slow(time.Now())
}

func (c *commits) status() Status {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := time.Now()
	switch {
	case c.err != nil:
		return Status{Err: c.err, Since: c.since, Blocked: c.blocked}
	case c.slow(now):
		return Status{Err: fmt.Errorf("%w (%d s)", errSlow, int(now.Sub(c.began).Seconds())), Since: c.began, Blocked: true}
	}
	return Status{}
}

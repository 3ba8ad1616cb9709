package postgres

import (
	"context"
	"errors"
	"fmt"
	"time"

	"go.uber.org/zap"
)

// FeedStatus is what an operator should know of a feed.
type FeedStatus struct {
	Seq int64     // all followers know the changes up to this one
	At  time.Time // when that was last true of the database; zero: never yet
	Err error     // of the last reading; nil: it went well
}

// Status returns how far the followers are.
func (f *Feed) Status() FeedStatus {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.status
}

// Follow adds a follower. It reads for the first time with Start, CatchUp, or the next poll.
func (f *Feed) Follow(follower Follower) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.followers = append(f.followers, &follower)
}

// Start reads the feed once, and then each second and after each Wake, until Stop. A database that
// does not answer is logged and asked again.
func (f *Feed) Start(ctx context.Context) {
	_ = f.CatchUp(ctx)
	f.goroutine.Go(f.poll)
	f.goroutine.Go(f.publish)
}

// Stop ends the reading. Followers are not called after it has returned.
func (f *Feed) Stop() {
	f.stop()
	f.goroutine.Wait()
	f.turn <- struct{}{} // a CatchUp of someone else
	<-f.turn
}

// Wake makes the followers read now: another node has made a change. It does not wait.
func (f *Feed) Wake() {
	select {
	case f.wake <- struct{}{}:
	default: // a reading that has not begun will see the change
	}
}

func (f *Feed) poll() {
	tick := time.NewTicker(feedInterval)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
		case <-f.wake:
		case <-f.ctx.Done():
			return
		}
		_ = f.CatchUp(f.ctx)
	}
}

func (f *Feed) publish() {
	for {
		select {
		case <-f.changed:
		case <-f.ctx.Done():
			return
		}
		if f.config.Publish == nil {
			continue
		}
		ctx, cancel := context.WithTimeout(f.ctx, publishTimeout)
		_ = f.config.Publish(ctx) // the others poll
		cancel()
	}
}

// CatchUp returns when the followers know all changes that were made before it was called.
func (f *Feed) CatchUp(caller context.Context) error {
	ctx, cancel := context.WithTimeout(caller, feedTimeout)
	defer cancel()
	defer context.AfterFunc(f.ctx, cancel)()
	select {
	case f.turn <- struct{}{}:
	case <-ctx.Done():
		return fmt.Errorf("%w: %w", ErrUnavailable, ctx.Err())
	}
	defer func() { <-f.turn }()
	if f.ctx.Err() != nil {
		return fmt.Errorf("%w: the feed has stopped", ErrUnavailable)
	}
	seq, err := f.read(ctx)
	if err != nil && (f.ctx.Err() != nil || caller.Err() != nil) {
		return err // it says nothing of the database
	}
	f.note(seq, err)
	return err
}

// read lets all followers read. A follower that fails does not stop the others.
func (f *Feed) read(ctx context.Context) (seq int64, err error) {
	first, cancel := context.WithTimeout(ctx, feedAnswer)
	defer cancel()
	if err := f.config.DB.pool.QueryRow(first, "SELECT seq FROM feed").Scan(&seq); err != nil {
		return 0, Explain(err)
	}
	f.mu.Lock()
	followers := f.followers
	f.mu.Unlock()
	for _, one := range followers {
		after := one.After
		if after == seq {
			continue
		}
		if after > seq {
			after = 0
		}
		if failed := one.Read(ctx, after); failed != nil {
			err = errors.Join(err, fmt.Errorf("%s: %w", one.Name, Explain(failed)))
			continue
		}
		one.After = seq
	}
	return seq, err
}

// note keeps the status, and logs when it becomes bad or good.
func (f *Feed) note(seq int64, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	was := f.status.Err
	f.status.Err = err
	if err == nil {
		f.status.Seq, f.status.At = seq, time.Now()
	}
	switch {
	case err != nil && was == nil:
		f.config.Logger.Warn("changes of other gateways cannot be read; they are asked for each second", zap.Error(err))
	case err == nil && was != nil:
		f.config.Logger.Info("changes of other gateways are read again", zap.Int64("seq", seq))
	}
}

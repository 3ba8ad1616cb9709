package websession

import (
	"context"
	"errors"
	"strconv"
	"time"
)

// notUsed is in the place of how long ago a session was used.
const notUsed = "-1"

// poll ends the sessions that Retain does not keep, notes when those that are watched were used, and finds
// those that have ended.
func (s *Shared) poll(ctx context.Context) error {
	if keep := s.keep.Load(); keep != nil {
		if err := s.endOthers(ctx, *keep); err != nil {
			return err
		}
		s.keep.CompareAndSwap(keep, nil) // there may be a newer one
	}
	all := s.watches.all()
	if len(all) == 0 && !s.used.Load() {
		return nil // nobody opens the console here
	}
	for first := true; first || len(all) > 0; first = false {
		n := min(batch, len(all))
		args := []string{strconv.Itoa(touchShare)}
		for _, w := range all[:n] {
			args = append(args, w.hash, micros(w.life.Idle), micros(w.life.Max), s.ago(w.used))
		}
		all = all[n:]
		reply, err := s.node.Run(ctx, lookScript, args...)
		if err != nil {
			return err
		}
		words, err := reply.AsStrSlice()
		if err != nil {
			return err
		}
		if len(words) == 0 {
			return errors.New("the engine does not say how many sessions there are")
		}
		count, err := strconv.ParseInt(words[0], 10, 64)
		if err != nil {
			return err
		}
		s.count.Store(count)
		s.watches.ended(words[1:]...)
	}
	return nil
}

// ago is how long ago something was used, for the engine, whose clock is another.
func (s *Shared) ago(used time.Time) string {
	if used.IsZero() {
		return notUsed
	}
	return micros(max(s.now().Sub(used), 0))
}

// endOthers ends the sessions of all gateways that are not to be kept.
func (s *Shared) endOthers(ctx context.Context, keep func(Session) bool) error {
	gone, err := s.others(ctx, keep)
	for ; err == nil && len(gone) > 0; gone = gone[min(batch, len(gone)):] {
		some := gone[:min(batch, len(gone))]
		if _, err = s.node.Run(ctx, deleteScript, some...); err == nil {
			s.publishEnded(ctx, some...)
		}
	}
	return err
}

// others returns the hashes of the sessions that are not to be kept.
func (s *Shared) others(ctx context.Context, keep func(Session) bool) (gone []string, err error) {
	for cursor := "0"; ; {
		reply, err := s.node.Run(ctx, listScript, cursor, strconv.Itoa(batch))
		if err != nil {
			return nil, err
		}
		words, err := reply.AsStrSlice()
		if err != nil {
			return nil, err
		}
		if len(words) == 0 {
			return nil, errors.New("the engine does not say where its list of sessions goes on")
		}
		for i := 1; i+1 < len(words); i += 2 {
			x, err := read(words[i+1])
			if err != nil {
				return nil, err
			}
			if !keep(x) {
				gone = append(gone, words[i])
			}
		}
		if cursor = words[0]; cursor == "0" {
			return gone, nil
		}
	}
}

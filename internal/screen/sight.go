package screen

import (
	"context"
	"image"
	"sync"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/framebuffer"
)

// pace is how often changes are asked for, at most: more than an agent can use of a film.
const pace = 100 * time.Millisecond

// sight is what the workstation was asked to send, and whether it has.
//
// It need not answer a request for changes as long as there are none. A request for one pixel whether it
// changed or not is always answered, with all that has changed before: then the picture is what the
// desktop shows.
type sight struct {
	mu      sync.Mutex    // guards the following
	news    chan struct{} // closed with the next update
	size    image.Point
	version uint64    // of the picture
	changed time.Time // it
	wanted  bool      // the whole picture was asked for since it has this size
	whole   bool      // and has come
	checks  uint64    // requests for the one pixel
	checked uint64    // of which so many are answered
	asked   time.Time // for changes
	waits   bool      // that is not answered
	bare    bool      // the last update had no pixels: requests before it get no other answer
}

// updated notes an update.
func (s *sight) updated(m *framebuffer.Message, size image.Point, now time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if m.Resized {
		s.size, s.wanted, s.whole = size, false, false
	} else if m.Drawn > 0 {
		s.whole = s.whole || s.wanted
		s.checked = s.checks
	}
	s.bare = !m.Resized && m.Drawn == 0
	if m.Resized || !m.Damage.Empty() {
		s.version++
		s.changed = now
	}
	s.waits = false // a server may have forgotten a request that it has answered with a cursor alone
	close(s.news)
	s.news = make(chan struct{})
}

// state returns the version of the picture, and when it changed.
func (s *sight) state() (version uint64, changed time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.version, s.changed
}

// freshen returns the next requests that a picture of this moment needs, nil if none, and what is closed
// with news. done reports that nothing more is needed. check is the caller's, 0 at first.
func (s *sight) freshen(check *uint64, now time.Time) (requests [][]byte, news <-chan struct{}, done bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case !s.whole && !s.wanted:
		s.wanted, *check = true, 0
		return [][]byte{updateRequest(false, s.size)}, s.news, false
	case s.whole && *check == 0:
		s.checks++
		*check = s.checks
		return [][]byte{s.changes(now), updateRequest(false, image.Pt(1, 1))}, s.news, false
	case s.bare && (!s.whole || s.checked < *check):
		// TigerVNC's server answers a request for all with the layout of its screens alone, each time. It
		// still owes the pixels, and sends them for a request for changes.
		s.bare = false
		return [][]byte{s.changes(now)}, s.news, false
	}
	return nil, s.news, s.whole && s.checked >= *check
}

// fresh returns when the picture is what the desktop shows. A workstation that does not send it in time
// ends the session.
func (s *sight) fresh(ctx context.Context, l *link) error {
	limit := time.NewTimer(answerLimit)
	defer limit.Stop()
	for check := uint64(0); ; {
		requests, news, done := s.freshen(&check, time.Now())
		if done {
			return nil
		}
		if requests != nil {
			if err := l.send(requests...); err != nil {
				return err
			}
			continue
		}
		select {
		case <-news:
		case <-limit.C:
			return l.fail()
		case <-l.session.Live.Ended():
			return l.ended()
		case <-ctx.Done():
			return gone(ctx)
		}
	}
}

// next returns a request for changes, nil unless it is time for one, and when that is: zero if one waits
// for its answer.
func (s *sight) next(now time.Time) (request []byte, news <-chan struct{}, at time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.waits {
		return nil, s.news, at
	}
	if at = s.asked.Add(pace); !now.Before(at) {
		return s.changes(now), s.news, time.Time{}
	}
	return nil, s.news, at
}

// changes is called with the lock held.
func (s *sight) changes(now time.Time) []byte {
	s.asked, s.waits = now, true
	return updateRequest(true, s.size)
}

// follow returns with the next update, or at a time. It asks for changes meanwhile.
func (s *sight) follow(ctx context.Context, l *link, until time.Time) error {
	for {
		now := time.Now()
		request, news, at := s.next(now)
		if request != nil {
			if err := l.send(request); err != nil {
				return err
			}
		}
		wake := until
		if !at.IsZero() {
			wake = earlier(at, until)
		}
		timer := time.NewTimer(wake.Sub(now))
		select {
		case <-timer.C:
			if wake.Equal(until) {
				return nil
			}
			continue
		case <-news:
		case <-l.session.Live.Ended():
			timer.Stop()
			return l.ended()
		case <-ctx.Done():
			timer.Stop()
			return gone(ctx)
		}
		timer.Stop()
		return nil
	}
}

// settle reports whether nothing has changed for quiet before a time.
func (s *sight) settle(ctx context.Context, l *link, quiet time.Duration, until time.Time) (bool, error) {
	if quiet <= 0 {
		return false, nil
	}
	began := time.Now()
	for {
		_, changed := s.state()
		now, calm := time.Now(), later(changed, began).Add(quiet)
		switch {
		case !now.Before(calm):
			return true, nil
		case !now.Before(until):
			return false, nil
		}
		if err := s.follow(ctx, l, earlier(calm, until)); err != nil {
			return false, err
		}
	}
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

func earlier(a, b time.Time) time.Time {
	if a.Before(b) {
		return a
	}
	return b
}

// updateRequest is FramebufferUpdateRequest (RFC 6143, section 7.5.3).
func updateRequest(incremental bool, size image.Point) []byte {
	out := []byte{3, 0, 0, 0, 0, 0, byte(size.X >> 8), byte(size.X), byte(size.Y >> 8), byte(size.Y)}
	if incremental {
		out[1] = 1
	}
	return out
}

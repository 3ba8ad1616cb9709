package screen

import (
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

func newSight() sight { return sight{news: make(chan struct{})} }

func (s *sight) resize(size image.Point) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.size, s.wanted, s.whole = size, false, false
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
	if !m.Damage.Empty() {
		s.version++
		s.changed = now
	}
	s.waits = false // a server may have forgotten a request that it has answered with a cursor alone
	close(s.news)
	s.news = make(chan struct{})
}

// freshen returns the next request that a picture of this moment needs, nil if none, and what is closed
// with news. done reports that nothing more is needed. check is the caller's, 0 at first.
func (s *sight) freshen(check *uint64, now time.Time) (request []byte, news <-chan struct{}, done bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case !s.whole && !s.wanted:
		s.wanted, *check = true, 0
		return updateRequest(false, s.size), s.news, false
	case s.whole && *check == 0:
		s.checks++
		*check = s.checks
		return append(s.changes(now), updateRequest(false, image.Pt(1, 1))...), s.news, false
	case s.bare && (!s.whole || s.checked < *check):
		// TigerVNC's server answers a request for all with the layout of its screens alone, each time. It
		// still owes the pixels, and sends them for a request for changes.
		s.bare = false
		return s.changes(now), s.news, false
	}
	return nil, s.news, s.whole && s.checked >= *check
}

// follow returns a request for changes, nil unless it is time for one, and when that is next: zero if
// one waits for its answer.
func (s *sight) follow(now time.Time) (request []byte, news <-chan struct{}, next time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.waits {
		return nil, s.news, next
	}
	if next = s.asked.Add(pace); !now.Before(next) {
		return s.changes(now), s.news, time.Time{}
	}
	return nil, s.news, next
}

// changes is called with the lock held.
func (s *sight) changes(now time.Time) []byte {
	s.asked, s.waits = now, true
	return updateRequest(true, s.size)
}

// state returns the version of the picture, and when it changed.
func (s *sight) state() (version uint64, changed time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.version, s.changed
}

// updateRequest is FramebufferUpdateRequest (RFC 6143, section 7.5.3).
func updateRequest(incremental bool, size image.Point) []byte {
	out := []byte{3, 0, 0, 0, 0, 0, byte(size.X >> 8), byte(size.X), byte(size.Y >> 8), byte(size.Y)}
	if incremental {
		out[1] = 1
	}
	return out
}

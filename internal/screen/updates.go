package screen

import (
	"context"
	"encoding/binary"
	"image"
	"maps"
	"sync"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/framebuffer"
)

// pace is how often changes are asked for, at most: more than an agent can use of a film.
const pace = 100 * time.Millisecond

// updates is what the workstation was asked to send, and whether it has.
//
// It need not answer a request for changes as long as there are none. A request for one pixel, whether it
// changed or not, is always answered, and not before what has changed: then the picture is what the desktop
// shows. Each such check asks for a pixel of its own, by which its answer is known.
type updates struct {
	mu      sync.Mutex    // guards the following
	news    chan struct{} // closed with the next update
	size    image.Point
	version uint64    // of the picture
	changed time.Time // it
	wanted  bool      // the whole picture was asked for since it has this size
	whole   bool      // and has come
	asked   time.Time // for changes
	waits   bool      // that is not answered
	bare    bool      // the last update had no pixels: requests before it get no other answer

	checks  int                 // so far
	pending map[int]image.Point // those without an answer
}

// updated notes an update.
func (u *updates) updated(m *framebuffer.Message, size image.Point, now time.Time) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if m.Resized {
		u.size, u.wanted, u.whole = size, false, false
		clear(u.pending) // the whole picture must come first
	} else if !m.Drawn.Empty() {
		u.whole = u.whole || u.wanted
		maps.DeleteFunc(u.pending, func(_ int, at image.Point) bool { return at.In(m.Drawn) })
	}
	u.bare = !m.Resized && m.Drawn.Empty()
	if m.Resized || !m.Damage.Empty() {
		u.version++
		u.changed = now
	}
	u.waits = false // a server may have forgotten a request that it has answered with a cursor alone
	close(u.news)
	u.news = make(chan struct{})
}

// state returns the version of the picture, and when it changed.
func (u *updates) state() (version uint64, changed time.Time) {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.version, u.changed
}

// freshen returns the next requests that a picture of this moment needs, nil if none, and what is closed
// with news. done reports that nothing more is needed. check is the caller's, 0 at first.
func (u *updates) freshen(check *int, now time.Time) (requests [][]byte, news <-chan struct{}, done bool) {
	u.mu.Lock()
	defer u.mu.Unlock()
	_, waits := u.pending[*check]
	done = u.whole && *check != 0 && !waits
	switch {
	case !u.whole && !u.wanted:
		u.wanted = true
		return [][]byte{updateRequest(false, image.Rectangle{Max: u.size})}, u.news, false
	case u.whole && *check == 0:
		u.checks++
		*check = u.checks
		at := u.place(u.checks)
		u.pending[u.checks] = at
		return [][]byte{u.changes(now), updateRequest(false, image.Rectangle{at, at.Add(image.Pt(1, 1))})}, u.news, false
	case u.bare && !done:
		// TigerVNC's server answers a request for all with the layout of its screens alone, each time. It
		// still owes the pixels, and sends them for a request for changes.
		u.bare = false
		return [][]byte{u.changes(now)}, u.news, false
	}
	return nil, u.news, done
}

// apart is how far checks are from each other: servers may send some more pixels than were asked for.
const apart = 64

// place is the pixel of a check; mu is held.
func (u *updates) place(check int) image.Point {
	x := check * apart
	return image.Pt(x%u.size.X, x/u.size.X*apart%u.size.Y)
}

// forget takes out a check for which nobody waits.
func (u *updates) forget(check int) {
	u.mu.Lock()
	defer u.mu.Unlock()
	delete(u.pending, check)
}

// fresh returns when the picture is what the desktop shows. A workstation that does not send it in time
// ends the session.
func (u *updates) fresh(ctx context.Context, c *connection) error {
	limit := time.NewTimer(answerLimit)
	defer limit.Stop()
	check := 0
	defer func() { u.forget(check) }()
	for {
		requests, news, done := u.freshen(&check, time.Now())
		if done {
			return nil
		}
		if requests != nil {
			if err := c.send(requests...); err != nil {
				return err
			}
			continue
		}
		select {
		case <-news:
		case <-limit.C:
			return c.fail()
		case <-c.session.Live.Ended():
			return c.ended()
		case <-ctx.Done():
			return gone(ctx)
		}
	}
}

// next returns a request for changes, nil unless it is time for one, and when that is: zero if one waits
// for its answer.
func (u *updates) next(now time.Time) (request []byte, news <-chan struct{}, at time.Time) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.waits {
		return nil, u.news, at
	}
	if at = u.asked.Add(pace); !now.Before(at) {
		return u.changes(now), u.news, time.Time{}
	}
	return nil, u.news, at
}

// changes is called with the lock held.
func (u *updates) changes(now time.Time) []byte {
	u.asked, u.waits = now, true
	return updateRequest(true, image.Rectangle{Max: u.size})
}

// follow returns with the next update after a version of the picture, or at a time. It asks for changes
// meanwhile.
func (u *updates) follow(ctx context.Context, c *connection, seen uint64, until time.Time) error {
	for {
		now := time.Now()
		request, news, at := u.next(now)
		if request != nil {
			if err := c.send(request); err != nil {
				return err
			}
		}
		if version, _ := u.state(); version != seen { // before there was news to wait for
			return nil
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
		case <-c.session.Live.Ended():
			timer.Stop()
			return c.ended()
		case <-ctx.Done():
			timer.Stop()
			return gone(ctx)
		}
		timer.Stop()
		return nil
	}
}

// settle reports whether nothing has changed for quiet before a time.
func (u *updates) settle(ctx context.Context, c *connection, quiet time.Duration, until time.Time) (bool, error) {
	if quiet <= 0 {
		return false, nil
	}
	quiet = max(quiet, 2*pace) // in less, an animation would not be seen
	began := time.Now()
	for {
		version, changed := u.state()
		now, calm := time.Now(), later(changed, began).Add(quiet)
		switch {
		case !now.Before(calm):
			return true, nil
		case !now.Before(until):
			return false, nil
		}
		if err := u.follow(ctx, c, version, earlier(calm, until)); err != nil {
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
func updateRequest(incremental bool, r image.Rectangle) []byte {
	out := []byte{3, 0}
	if incremental {
		out[1] = 1
	}
	for _, n := range []int{r.Min.X, r.Min.Y, r.Dx(), r.Dy()} {
		out = binary.BigEndian.AppendUint16(out, uint16(n))
	}
	return out
}

package replay

import "time"

const (
	// maxSpeed is the fastest replay, in seconds of the recording a second.
	maxSpeed = 16
	// idleLead is how much is shown of the end of a time that is skipped.
	idleLead = 500 * time.Millisecond
	// longest bounds the times of orders.
	longest = 366 * 24 * time.Hour
	// forever is the wait for a frame that is due after the next order at the earliest.
	forever = time.Duration(1<<63 - 1)
)

// order is what the page asks for. What is nil stays as it is.
type order struct {
	Play  *bool    `json:"play"`
	At    *int64   `json:"at"`    // milliseconds from the beginning
	Speed *float64 `json:"speed"` // 1 to 16
	Skip  *int64   `json:"skip"`  // times without a frame that are longer than this are skipped, in milliseconds; 0: none
}

// playhead is which moment of a recording is shown, and when the next frame is due. It has no clock of
// its own.
type playhead struct {
	length  time.Duration // of the recording, as far as is known; one that is being written may be longer by now
	at      time.Duration // the moment that was shown at since
	since   time.Time
	speed   float64
	skip    time.Duration
	playing bool
	// seeking: frames up to at are being decoded. The moment stays until that is done.
	seeking bool
	over    bool // no frame follows
}

func newPlayhead(now time.Time) playhead {
	return playhead{length: longest, since: now, speed: 1, playing: true, seeking: true}
}

// position is the moment that is shown.
func (p *playhead) position(now time.Time) time.Duration {
	if !p.playing || p.seeking {
		return p.at
	}
	return p.at + time.Duration(float64(now.Sub(p.since))*p.speed)
}

// hold makes the position the beginning of what follows.
func (p *playhead) hold(now time.Time) { p.at, p.since = p.position(now), now }

// obey follows an order.
func (p *playhead) obey(o order, now time.Time) {
	p.hold(now)
	if o.Speed != nil {
		p.speed = min(max(*o.Speed, 1), maxSpeed)
	}
	if o.Skip != nil {
		p.skip = milliseconds(*o.Skip)
	}
	if o.At != nil {
		p.seek(min(milliseconds(*o.At), p.length))
	}
	if o.Play != nil {
		p.playing = *o.Play
		if p.playing && p.over { // again
			p.seek(0)
		}
	}
}

func (p *playhead) seek(at time.Duration) { p.at, p.seeking, p.over = at, true, false }

// milliseconds of an order, which anybody may have written.
func milliseconds(n int64) time.Duration {
	return time.Duration(min(max(n, 0), int64(longest/time.Millisecond))) * time.Millisecond
}

// due is how long it takes until a frame is shown, 0 if it is due. Skipped reports that idle time before it
// was skipped.
func (p *playhead) due(frame time.Duration, now time.Time) (wait time.Duration, skipped bool) {
	if p.seeking {
		if frame <= p.at {
			return 0, false
		}
		p.seeking, p.since = false, now
	}
	at := p.position(now)
	switch {
	case frame <= at:
		return 0, false
	case !p.playing:
		return forever, false
	case p.skip > 0 && frame-at > max(p.skip, idleLead):
		p.at, p.since = frame-idleLead, now
		at, skipped = p.at, true
	}
	return time.Duration(float64(frame-at) / p.speed), skipped
}

// ended stops at the end of the recording, or where it cannot be read on.
func (p *playhead) ended(at time.Duration) {
	p.at, p.seeking, p.playing, p.over = at, false, false, true
}

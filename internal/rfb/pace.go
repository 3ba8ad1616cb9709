package rfb

import (
	"encoding/binary"
	"math"
	"time"
)

// pace lets one incremental update request pass in every interval. Those in between are held back
// as one, for the smallest area that has all of theirs. Requests that are not incremental pass:
// servers answer them at once, and viewers send them when a part of the screen is lost.
//
// A server answers one or more requests with one update, so a viewer does not notice that its
// requests were merged.
//
// For a viewer with continuous updates it makes the requests itself: one for each update that begins.
type pace struct {
	interval time.Duration // 0: no pacing
	next     time.Time     // when an incremental request may pass
	held     bool
	full     bool // what is held is not incremental
	area     area

	continuous bool // the viewer gets updates without asking
	every      area // of them
	stopped    bool // no request passes
}

// area is a rectangle by its corners. The sums of two 16-bit numbers do not overflow.
type area struct{ x0, y0, x1, y1 uint32 }

func (p *pace) due() time.Time {
	if !p.held || p.stopped {
		return time.Time{}
	}
	return p.next
}

// request passes a FramebufferUpdateRequest, or holds it back.
func (p *pace) request(dst, message []byte, now time.Time) []byte {
	incremental := message[1] != 0
	switch {
	case p.continuous && incremental: // the protocol has servers ignore it
		return dst
	case p.stopped:
		p.full = p.full || !incremental
		p.hold(areaOf(message))
		return dst
	case p.interval == 0:
	case !incremental:
		if p.held && areaOf(message).covers(p.area) {
			p.held = false
		}
	case p.held, now.Before(p.next):
		p.hold(areaOf(message))
		return dst
	default:
		p.next = now.Add(p.interval)
	}
	return append(dst, message...)
}

// hold holds back an incremental request.
func (p *pace) hold(a area) {
	if p.held {
		a = p.area.with(a)
	}
	p.held, p.area = true, a
}

// release appends what is held, if it is due. A timer is always a little late; that is not carried
// into the next interval, so that the rate is met.
func (p *pace) release(dst []byte, now time.Time) []byte {
	if !p.held || p.stopped || now.Before(p.next) {
		return dst
	}
	dst = p.area.append(dst, !p.full)
	p.held, p.full = false, false
	p.next = p.next.Add(p.interval)
	if !now.Before(p.next) {
		p.next = now.Add(p.interval)
	}
	return dst
}

func areaOf(message []byte) area {
	x, y := uint32(binary.BigEndian.Uint16(message[2:])), uint32(binary.BigEndian.Uint16(message[4:]))
	w, h := uint32(binary.BigEndian.Uint16(message[6:])), uint32(binary.BigEndian.Uint16(message[8:]))
	return area{x, y, x + w, y + h}
}

func (a area) covers(b area) bool {
	return a.x0 <= b.x0 && a.y0 <= b.y0 && a.x1 >= b.x1 && a.y1 >= b.y1
}

func (a area) with(b area) area {
	return area{min(a.x0, b.x0), min(a.y0, b.y0), max(a.x1, b.x1), max(a.y1, b.y1)}
}

// append appends a request for a. No screen is so large that the bound on its sides cuts it.
func (a area) append(dst []byte, incremental bool) []byte {
	dst = append(dst, msgUpdateRequest, 0)
	if incremental {
		dst[len(dst)-1] = 1
	}
	for _, n := range []uint32{a.x0, a.y0, min(a.x1-a.x0, math.MaxUint16), min(a.y1-a.y0, math.MaxUint16)} {
		dst = binary.BigEndian.AppendUint16(dst, uint16(n))
	}
	return dst
}

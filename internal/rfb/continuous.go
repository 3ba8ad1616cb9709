package rfb

import (
	"encoding/binary"
	"slices"
	"time"
)

// Continuous updates of a viewer whose requests are paced, or whose workstation is followed: each
// picture would cost a round trip to the viewer if it had to ask. The server never sends on its own.
// The gateway, which is near it, asks as soon as an update begins, and as often as the policy allows.
//
//	viewer                           filter                               server
//	SetEncodings -313           ->   SetEncodings -313                ->
//	                            <-   EndOfContinuousUpdates           <-  it can
//	EnableContinuousUpdates 1   ->   FramebufferUpdateRequest         ->
//	                            <-   FramebufferUpdate                <-
//	                                 FramebufferUpdateRequest         ->
//	EnableContinuousUpdates 0   ->   EnableContinuousUpdates 1, 0     ->  1 cancels what was asked for
//	                            <-   EndOfContinuousUpdates           <-
//
// Viewers change their pixel format between an end and the next beginning.

// cancelRequests is EnableContinuousUpdates for an area of nothing. Servers then forget the requests
// that they have not answered.
const cancelRequests = "\x96\x01\x00\x00\x00\x00\x00\x00\x00\x00"

// enable handles EnableContinuousUpdates, where it does not go on as it is.
func (f *Filter) enable(dst, head []byte, now time.Time) []byte {
	framer := f.policy.Framer
	switch {
	case framer == nil || framer.shared.unused.Load() || !framer.shared.announced.Load() && !framer.shared.lost.Load():
		return dst // the viewer cannot know that the server can
	case head[1] != 0:
		f.pace.continuous, f.pace.every = true, areaOf(head)
		f.pace.hold(f.pace.every)
		return f.release(dst, now)
	case f.pace.continuous:
		f.pace.continuous, f.pace.held = false, false
		if !framer.shared.lost.Load() {
			f.pace.stopped = true
			framer.shared.ending.Store(true)
		}
		dst = append(dst, cancelRequests...)
	}
	return append(dst, head...)
}

// Updated tells the filter that the framer has seen an update begin, or continuous updates end. A server
// that is not followed may have begun one with any byte.
func (f *Filter) Updated(now time.Time) {
	if framer := f.policy.Framer; f.pace.stopped && (!framer.shared.ending.Load() || framer.shared.lost.Load()) {
		f.resumes = now
	}
	if f.pace.continuous {
		f.pace.hold(f.pace.every)
	}
	if f.pace.next.IsZero() {
		f.pace.next = now
	}
}

// resume appends the pixel format that waited for the end of continuous updates, so that no update that
// was made before it is read by it.
func (f *Filter) resume(dst []byte) []byte {
	if f.resumes.IsZero() {
		return dst
	}
	f.pace.stopped, f.resumes = false, time.Time{}
	if len(f.format) > 0 {
		dst = f.passFormat(dst, f.format)
		f.format = f.format[:0]
	}
	return dst
}

// passFormat appends SetPixelFormat.
func (f *Filter) passFormat(dst, head []byte) []byte {
	if f.policy.Framer != nil {
		if err := f.policy.Framer.shared.setFormat(head[4:]); err != nil {
			f.lost(&Error{Kind: KindMessage, Step: "reading the viewer's messages", Err: err})
			if f.broken != nil {
				return dst
			}
		}
	}
	return f.passes(dst, head)
}

// negotiate notes what a list of encodings says of continuous updates. A viewer offers them from its first
// list on: a server that heard of them once more would announce them twice, which looks like their end.
func (f *Filter) negotiate(list []byte) {
	framer := f.policy.Framer
	if framer == nil {
		return
	}
	if lists(list, encContinuousUpdates) && !f.policy.noContinuous && !framer.shared.unused.Load() {
		framer.shared.offered.Store(true)
		return
	}
	f.policy.noContinuous = true
	if !framer.shared.offered.Load() && !f.policy.follows() {
		framer.shared.unused.Store(true)
		f.policy.Framer = nil
	}
}

// lists reports whether a list has an encoding.
func lists(list []byte, e int32) bool {
	for one := range slices.Chunk(list, 4) {
		if int32(binary.BigEndian.Uint32(one)) == e {
			return true
		}
	}
	return false
}

package rfb

import "bytes"

// Extended mouse buttons (pseudo-encoding -316). A viewer that lists it, at a server that announces it by a
// rectangle, may send a PointerEvent with the highest bit of its mask set, which has one byte more: buttons 8
// and 9, back and forward. The same bit is button 8 of a viewer that does not list it.
//
//	5  6 or 7  PointerEvent  u8 type, u8 mask, u16 x, y, u8 more of the mask if its bit 7 is set
//
// A server that does not know it would take the last byte for the next message. So such an event goes on
// whole only to a server that has announced it, and otherwise without what it has more.
type buttons struct {
	long bool // the viewer's mask has bit 7 for a longer event
	once bool // it had it: its servers may read such a bit in either way
}

const (
	longMask     = 0x80
	shortPointer = 6
	longPointer  = 7
)

// headLen is headLen for the messages of this viewer.
func (b *buttons) headLen(p []byte) int {
	if !b.long || p[0] != msgPointerEvent {
		return headLen(p)
	}
	switch {
	case len(p) == 1:
		return 2
	case p[1]&longMask != 0:
		return longPointer
	}
	return shortPointer
}

// of are the buttons of an event that are pressed, bit by bit.
func (b *buttons) of(event []byte) uint16 {
	if len(event) == longPointer {
		return uint16(event[1]&^longMask) | uint16(event[shortPointer])<<7
	}
	return uint16(event[1])
}

// listed notes which encodings the server gets.
func (b *buttons) listed(list []byte) {
	b.long = lists(list, EncodingButtons)
	b.once = b.once || b.long
}

// sent is an event of a viewer that has it, or had it, as the server gets it. framer may be nil.
func (b *buttons) sent(event []byte, framer *Framer) []byte {
	known := b.long && framer != nil && framer.shared.buttons.Load()
	if known || event[1]&longMask == 0 {
		return event
	}
	short := bytes.Clone(event[:shortPointer])
	short[1] &^= longMask
	return short
}

// admits reports whether a key or pointer message passes. What goes up does always: it would stay down.
func (f *Filter) admits(head []byte) bool {
	press, moves := goesDown(head), false
	if head[0] == msgPointerEvent {
		held := f.buttons.of(head)
		press, moves = held&^f.held != 0, f.down&^held == 0
		f.held = held
	}
	switch {
	case !f.policy.Input.Watched():
	case press:
		f.policy.Input.Press()
	case moves && !f.policy.Input.Moves():
		return false
	}
	f.down = f.held
	return true
}

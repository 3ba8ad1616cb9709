package rfb

import (
	"bytes"
	"slices"
)

// maxHeld bounds the keys that are held: more than a keyboard can tell apart. Beyond it the oldest comes up.
const maxHeld = 32

// held is what a viewer holds down.
type held struct {
	wants   uint16  // the buttons that the viewer holds
	buttons uint16  // those of them that the workstation knows of
	at      [4]byte // where the pointer was sent last, as in its message
	keys    []release
}

// release is the message that lets a key go.
type release struct {
	message [12]byte
	length  int
}

func (r *release) bytes() []byte { return r.message[:r.length] }

// releaseOf returns the release of the key of a message; ok is false for other messages.
func releaseOf(head []byte) (r release, ok bool) {
	r.length = copy(r.message[:], head)
	switch head[0] {
	case msgKeyEvent:
		r.message[1] = 0
		return r, true
	case MsgQEMU:
		r.message[2], r.message[3] = 0, 0
		return r, true
	}
	return r, false
}

// same reports whether two are of one key: QEMU's messages have its number in the end, the others its keysym.
func (r *release) same(other *release) bool {
	return r.length == other.length && bytes.Equal(r.bytes()[r.length-4:], other.bytes()[r.length-4:])
}

// find returns where the key of a message is among those that are down, -1 where it is not.
func (h *held) find(key *release) int {
	return slices.IndexFunc(h.keys, func(r release) bool { return r.same(key) })
}

// admits reports whether a key or pointer message passes. What comes up does always that was passed on when it
// went down: it would stay down. What is up already is as movement.
func (f *Filter) admits(head []byte) bool {
	press, frees := goesDown(head), false
	if key, ok := releaseOf(head); ok {
		frees = f.held.find(&key) >= 0
	}
	if head[0] == msgPointerEvent {
		buttons := f.buttons.of(head)
		press, frees = buttons&^f.held.wants != 0, f.held.buttons&^buttons != 0
		f.held.wants = buttons
	}
	switch input := f.policy.Input; {
	case input == nil || !input.Watched():
	case press:
		input.Press()
	case !frees && !input.Moves():
		return false
	}
	return true
}

// passInput appends a key or pointer message, and notes what is held by it.
func (f *Filter) passInput(dst, head []byte) []byte {
	h := &f.held
	if head[0] == msgPointerEvent {
		h.buttons, h.at = h.wants, [4]byte(head[2:])
		if f.buttons.once {
			head = f.buttons.sent(head, f.policy.Framer)
		}
		return f.passes(dst, head)
	}
	key, ok := releaseOf(head)
	if i := h.find(&key); ok && i >= 0 {
		h.keys = slices.Delete(h.keys, i, i+1)
	}
	if ok && goesDown(head) {
		if len(h.keys) == maxHeld {
			dst = f.passes(dst, h.keys[0].bytes())
			h.keys = slices.Delete(h.keys, 0, 1)
		}
		h.keys = append(h.keys, key)
	}
	return f.passes(dst, head)
}

// LetGo appends to dst what has everything come up that the viewer holds down. Within a message it does so
// behind its end, when Push has that.
func (f *Filter) LetGo(dst []byte) []byte {
	if f.letsGo = f.inside(); f.letsGo {
		return dst
	}
	for i := range f.held.keys {
		dst = f.passes(dst, f.held.keys[i].bytes())
	}
	f.held.keys = nil
	if f.held.buttons != 0 {
		f.held.buttons = 0
		dst = f.passes(dst, append([]byte{msgPointerEvent, 0}, f.held.at[:]...))
	}
	return dst
}

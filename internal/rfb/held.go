package rfb

import (
	"bytes"
	"slices"
)

// maxHeld bounds the keys that are held: more than a keyboard can tell apart. Beyond it the oldest comes up.
const maxHeld = 32

// held is what a viewer holds down.
type held struct {
	wants   byte    // the buttons that the viewer holds
	buttons byte    // those of them that the workstation knows of
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

// frees reports whether something comes up by an input message that the workstation knows to be down.
func (h *held) frees(head []byte) bool {
	if head[0] == msgPointerEvent {
		return h.buttons&^head[1] != 0
	}
	key, ok := releaseOf(head)
	return ok && h.find(&key) >= 0
}

// note is called with an input message that passes. It returns the release that must come before it, nil for none.
func (h *held) note(head []byte) (before []byte) {
	if head[0] == msgPointerEvent {
		h.buttons, h.at = head[1], [4]byte(head[2:])
		return nil
	}
	key, ok := releaseOf(head)
	if !ok {
		return nil
	}
	if i := h.find(&key); i >= 0 {
		h.keys = slices.Delete(h.keys, i, i+1)
	}
	if !goesDown(head) {
		return nil
	}
	if len(h.keys) == maxHeld {
		before = slices.Clone(h.keys[0].bytes())
		h.keys = slices.Delete(h.keys, 0, 1)
	}
	h.keys = append(h.keys, key)
	return before
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

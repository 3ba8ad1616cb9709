//go:build linux

package desktop

import (
	"fmt"
	"image"
	"unicode"
)

// Kinds of events, as XTEST fakes them and as the desktop receives them, and the masks that select
// them.
const (
	keyPress      = 2
	keyRelease    = 3
	buttonPress   = 4
	buttonRelease = 5
	motionNotify  = 6

	selectionNotify = 31
	mappingNotify   = 34

	keyPressMask      = 1 << 0
	keyReleaseMask    = 1 << 1
	buttonPressMask   = 1 << 2
	buttonReleaseMask = 1 << 3
	motionMask        = 1 << 6
)

// Key symbols that are not characters (X11/keysymdef.h). Those of Latin-1 are their own code.
const (
	KeyTab    = 0xff09
	KeyReturn = 0xff0d
	keyBack   = 0xff08
	keyDelete = 0xffff
	keyShift  = 0xffe1
)

const xtestFakeInput = 2

// keyboard has the symbols of the keys: of each key the first without Shift, the second with it.
type keyboard struct {
	first  byte
	perKey int
	syms   []uint32
}

func (x *Screen) readKeyboard(first, last byte) error {
	count := int(last) - int(first) + 1
	m, err := x.ask(request(opGetKeyboardMapping, 0, uint32(first)|uint32(count)<<8))
	if err != nil {
		return err
	}
	perKey := int(m[1])
	if m = m[32:]; perKey == 0 || len(m) != 4*perKey*count {
		return fmt.Errorf("a keyboard of %d bytes for %d keys", len(m), count)
	}
	k := keyboard{first: first, perKey: perKey, syms: make([]uint32, len(m)/4)}
	for i := range k.syms {
		k.syms[i] = le.Uint32(m[4*i:])
	}
	x.codes = k
	return nil
}

// find returns the key of a symbol, and whether it needs Shift.
func (k keyboard) find(sym uint32) (code byte, shift bool, err error) {
	for i, s := range k.syms {
		if level := i % k.perKey; s == sym && level < 2 {
			return k.first + byte(i/k.perKey), level == 1, nil
		}
	}
	return 0, false, fmt.Errorf("no key has the symbol %#x", sym)
}

// symbol is the symbol of a key without Shift, 0 for none.
func (k keyboard) symbol(code byte) uint32 {
	i := (int(code) - int(k.first)) * k.perKey
	if i < 0 || i >= len(k.syms) {
		return 0
	}
	return k.syms[i]
}

// State of the modifiers in an event.
const (
	shiftState   = 1 << 0
	lockState    = 1 << 1
	controlState = 1 << 2
	altGrState   = 1 << 7 // Mod5, where keyboards have the third level
)

// typed is the symbol of a key in this state: the core protocol's four symbols are of two groups, and
// XKB has the third level after them.
func (k keyboard) typed(code byte, state uint16) uint32 {
	first := (int(code) - int(k.first)) * k.perKey
	if first < 0 || first >= len(k.syms) {
		return 0
	}
	of, level := k.syms[first:first+k.perKey], 0
	if state&altGrState != 0 && len(of) > 5 && of[4] != 0 {
		level = 4
	}
	lower, upper := of[level], uint32(0)
	if level+1 < len(of) {
		upper = of[level+1]
	}
	if upper == 0 {
		upper = lower
	}
	shift := state&shiftState != 0
	if state&lockState != 0 && lower != upper && unicode.IsLower(rune(lower)) {
		shift = !shift
	}
	if shift {
		return upper
	}
	return lower
}

// held are the symbols of the keys that are down, and the mask of the buttons: the first is 1. It
// is "" if nothing is down.
func (x *Screen) held() (string, error) {
	m, err := x.ask(request(opQueryKeymap, 0))
	if err != nil {
		return "", err
	}
	var keys []uint32
	for code := range 256 {
		if m[8+code/8]>>(code%8)&1 == 1 {
			keys = append(keys, x.codes.symbol(byte(code)))
		}
	}
	const state, firstButton = 24, 8
	if m, err = x.ask(request(opQueryPointer, 0, x.Root)); err != nil {
		return "", err
	}
	buttons := byte(le.Uint16(m[state:]) >> firstButton)
	if len(keys) == 0 && buttons == 0 {
		return "", nil
	}
	return fmt.Sprintf("keys %#x, buttons %#b", keys, buttons), nil
}

// fake is one event of a simulated keyboard or mouse:
//
//	opcode u8, 2, length u16, kind u8, detail u8, 2, time u32 (0: now), root u32, 8,
//	x i16, y i16, 7, device u8
func (x *Screen) fake(kind, detail byte, at image.Point) ([]byte, error) {
	if x.xtest == 0 {
		var err error
		if x.xtest, err = x.extension("XTEST"); err != nil {
			return nil, err
		}
	}
	return request(x.xtest, xtestFakeInput, uint32(kind)|uint32(detail)<<8, 0, x.Root, 0, 0, pair(at.X, at.Y), 0, 0), nil
}

// Move moves the pointer to a point.
func (x *Screen) Move(at image.Point) error {
	motion, err := x.fake(motionNotify, 0, at)
	if err != nil {
		return err
	}
	return x.do(motion)
}

// Click presses and releases the left button at a point.
func (x *Screen) Click(at image.Point) error {
	if err := x.Move(at); err != nil {
		return err
	}
	for _, kind := range []byte{buttonPress, buttonRelease} {
		b, err := x.fake(kind, 1, at)
		if err != nil {
			return err
		}
		if err := x.do(b); err != nil {
			return err
		}
	}
	return nil
}

// Hold presses a key and the left button at a point, and lets neither up.
func (x *Screen) Hold(sym uint32, at image.Point) error {
	code, _, err := x.codes.find(sym)
	if err != nil {
		return err
	}
	if err := x.Move(at); err != nil {
		return err
	}
	for _, event := range [][2]byte{{keyPress, code}, {buttonPress, 1}} {
		b, err := x.fake(event[0], event[1], at)
		if err != nil {
			return err
		}
		if err := x.do(b); err != nil {
			return err
		}
	}
	return nil
}

// Press presses and releases keys, one after the other.
func (x *Screen) Press(syms ...uint32) error {
	shiftCode, _, err := x.codes.find(keyShift)
	if err != nil {
		return err
	}
	for _, sym := range syms {
		code, shift, err := x.codes.find(sym)
		if err != nil {
			return err
		}
		steps := [][2]byte{{keyPress, code}, {keyRelease, code}}
		if shift {
			steps = [][2]byte{{keyPress, shiftCode}, steps[0], steps[1], {keyRelease, shiftCode}}
		}
		for _, step := range steps {
			b, err := x.fake(step[0], step[1], image.Point{})
			if err != nil {
				return err
			}
			if err := x.do(b); err != nil {
				return err
			}
		}
	}
	return nil
}

// Write types text of ASCII.
func (x *Screen) Write(text string) error {
	syms := make([]uint32, 0, len(text))
	for _, r := range text {
		syms = append(syms, uint32(r))
	}
	return x.Press(syms...)
}

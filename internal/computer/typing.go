package computer

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// keypress presses a combination of keys, or several one after the other, as xdotool does with those
// that blanks separate.
func (p *plan) keypress(a *action) {
	if a.row.by == "type" {
		p.tap(p.chord("keys", a.keys))
		return
	}
	list := combinations(a.text)
	if len(list) == 0 {
		p.chord("text", nil)
	}
	for range max(1, a.repeat) {
		for _, combination := range list {
			if p.err != nil { // there may be millions more
				return
			}
			p.tap(p.chord("text", []string{combination}))
		}
	}
}

// combinations separates those of Anthropic's actions.
func combinations(text string) []string {
	if utf8.RuneCountInString(text) == 1 {
		return []string{text} // also a blank
	}
	return strings.Fields(strings.ReplaceAll(text, " + ", "+"))
}

func (p *plan) holdKey(a *action) {
	p.holding(p.chord("text", combinations(a.text)), func() { p.step(step{do: wait, pause: a.duration}) })
}

func (p *plan) tap(chord []uint32) {
	p.holding(chord, func() { p.step(step{do: wait, pause: pressTime}) })
}

// maxOther bounds the characters that an answer names, far above what a keyboard has.
const maxOther = 256

// holding holds keys during f.
func (p *plan) holding(chord []uint32, f func()) {
	for _, keysym := range chord {
		p.key(keysym, true, 0)
	}
	f()
	for _, keysym := range slices.Backward(chord) {
		p.key(keysym, false, 0)
	}
}

// key presses a key or lets it go. Typed are the characters that this types, for the record.
func (p *plan) key(keysym uint32, down bool, typed int) {
	s := step{do: keyUp, keysym: keysym, typed: typed, pause: keyTime}
	if down {
		s.do = keyDown
		if r, is := other(keysym); is && !slices.Contains(p.other, r) && len(p.other) < maxOther {
			p.other = append(p.other, r)
		}
	}
	if p.keys++; p.keys > fastKeys {
		s.pause = slowKeyTime
	}
	p.step(s)
}

// held are the keys that are held during an action of the pointer: OpenAI's "keys", Anthropic's "text"
// or "key".
func (p *plan) held(a *action) []uint32 {
	switch {
	case len(a.keys) > 0:
		return p.chord("keys", a.keys)
	case a.text != "":
		return p.chord("text", combinations(a.text))
	case a.key != "":
		return p.chord("key", combinations(a.key))
	}
	return nil
}

// chord returns the keysyms of a combination, in the order in which they are pressed. A name may be a
// combination itself. A letter with other keys is the key of that letter; Shift is held for the
// characters that need it.
func (p *plan) chord(member string, names []string) (chord []uint32) {
	shift := false
	for i, name := range names {
		for _, part := range separate(name) {
			keysym, ok := Keysym(part)
			if !ok { // a text that was meant to be typed may stand here: it is not repeated
				p.fail(member, fmt.Sprintf(`names of keys, such as "ctrl+s" or "Return"; name %d is none`, i+1))
				return nil
			}
			shift = shift || keysym == keyShift || keysym == keyShiftR
			chord = append(chord, keysym)
		}
	}
	if len(chord) == 0 || len(chord) > maxChord {
		p.fail(member, "names of keys, 1 to 10")
		return nil
	}
	for i, keysym := range chord {
		if len(chord) > 1 {
			keysym = withoutShift(keysym)
		}
		if shift {
			keysym = withShift(keysym)
		}
		chord[i] = keysym
	}
	if i := slices.IndexFunc(chord, needsShift); i >= 0 && !shift {
		chord = slices.Insert(chord, i, keyShift)
	}
	return chord
}

// separate returns the names in a combination such as "ctrl+alt+Delete". The last may be a plus.
func separate(name string) []string {
	if utf8.RuneCountInString(name) <= 1 {
		return []string{name}
	}
	if rest, ok := strings.CutSuffix(name, "++"); ok {
		return append(strings.Split(rest, "+"), "+")
	}
	return strings.Split(name, "+")
}

// typeText types a text key by key, or pastes it.
func (p *plan) typeText(a *action) {
	n := utf8.RuneCountInString(a.text)
	if p.typed += n; p.typed > MaxTyped {
		p.fail("text", "at most 10000 characters in one request")
		return
	}
	if a.via == "paste" {
		p.step(step{do: cut, text: a.text, typed: n, pause: pasteTime})
		if a.paste == "" {
			a.paste = "ctrl+v"
		}
		p.tap(p.chord("paste_key", []string{a.paste}))
		p.step(step{do: wait, pause: pasteTime}) // it is read before the next one replaces it
		return
	}
	if a.paste != "" {
		p.fail("paste_key", `it with "via":"paste" only`)
		return
	}
	shift := false
	for _, r := range strings.ReplaceAll(a.text, "\r\n", "\n") {
		keysym, ok := Rune(r)
		if !ok {
			p.fail("text", "no control characters but tabs and line breaks; other keys have the action for keys")
			return
		}
		if needs := needsShift(keysym); needs != shift {
			shift = needs
			p.key(keyShift, shift, 0)
		}
		p.key(keysym, true, 1)
		p.key(keysym, false, 0)
	}
	if shift {
		p.key(keyShift, false, 0)
	}
}

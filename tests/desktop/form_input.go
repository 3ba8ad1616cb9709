//go:build linux

package desktop

import (
	"fmt"
	"image"
	"slices"
)

// listen takes what happens to the window. The kinds of events that it uses are laid out as those that
// Desktop.listen reads, with where in the window they were, and the state of the modifiers before:
//
//	… time u32 at 4, … x of the window i16 at 24, y i16, state u16 at 28, …
func (f *Form) listen() {
	for {
		e, err := f.events.event()
		if err != nil {
			return
		}
		f.mu.Lock()
		err = f.take(e)
		f.mu.Unlock()
		if err != nil {
			return
		}
	}
}

// take carries out one event, shows what it has changed, and logs it afterwards.
func (f *Form) take(e []byte) error {
	const sent = 0x80 // by another client, as a selection is
	at, state := le.Uint32(e[4:]), le.Uint16(e[28:])
	in := Input{At: image.Pt(int(int16(le.Uint16(e[24:]))), int(int16(le.Uint16(e[26:]))))}
	switch e[0] &^ sent {
	case keyPress:
		in.Down, in.Symbol = true, f.events.codes.typed(e[1], state)
		if err := f.key(in.Symbol, state, at); err != nil {
			return err
		}
	case keyRelease:
		in.Up, in.Symbol = true, f.events.codes.typed(e[1], state)
	case buttonPress:
		in.Down, in.Button = true, e[1]
		f.button(in, at)
	case buttonRelease:
		in.Up, in.Button = true, e[1]
	case motionNotify:
	case selectionNotify:
		return f.selection(le.Uint32(e[16:]), le.Uint32(e[20:]), at)
	case mappingNotify:
		return f.mapping()
	default:
		return nil
	}
	if in.Down {
		if err := f.draw(); err != nil {
			return err
		}
	}
	f.log = append(f.log, in)
	return nil
}

// mapping reads the keyboard again: a VNC server has added a symbol to it. The connection of the events
// cannot ask, as that would drop some.
func (f *Form) mapping() error {
	first, count := f.events.codes.first, len(f.events.codes.syms)/f.events.codes.perKey
	if err := f.painter.readKeyboard(first, first+byte(count-1)); err != nil {
		return err
	}
	f.events.codes = f.painter.codes
	return nil
}

// key does what a key does. Modifiers are no text.
func (f *Form) key(symbol uint32, state uint16, at uint32) error {
	const firstModifier, lastModifier, keyBackTab, functions = 0xffe1, 0xffee, 0xfe20, 0xfe00
	switch {
	case symbol >= firstModifier && symbol <= lastModifier || symbol == 0:
	case state&controlState != 0 && symbol|0x20 == 'a':
		f.selected = true
	case state&controlState != 0 && symbol|0x20 == 'v':
		return f.ask(utf8Text, at)
	case state&controlState != 0: // other commands do nothing
	case symbol == KeyTab || symbol == keyBackTab:
		f.inNote, f.selected = !f.inNote, false
	case symbol == KeyReturn:
		f.contents.Sent++
	case symbol == keyBack || symbol == keyDelete:
		if text := []rune(*f.text()); !f.selected && len(text) > 0 {
			*f.text() = string(text[:len(text)-1])
		} else {
			f.insert("")
		}
	case symbol >= functions && symbol <= 0xffff: // arrows and others do nothing
	default:
		f.insert(letter(symbol))
	}
	return nil
}

// letter is the character of a symbol (X11/keysymdef.h): those of Latin-1 are their own code, others
// have a bit before it. Older symbols are shown as their number, so that a test sees them.
func letter(symbol uint32) string {
	const unicode, euro = 0x01000000, 0x20ac
	switch {
	case symbol <= 0xff || symbol == euro:
		return string(rune(symbol))
	case symbol >= unicode:
		return string(rune(symbol - unicode))
	}
	return fmt.Sprintf("<%#x>", symbol)
}

// button does what a button or a click of the wheel does.
func (f *Form) button(in Input, at uint32) {
	const left, wheelUp, wheelDown, all = 1, 4, 5, 3
	inside := func(r image.Rectangle) bool { return in.At.In(r) && in.Button == left }
	switch {
	case in.Button == wheelUp && in.At.In(FormList):
		f.scroll(-formMore)
	case in.Button == wheelDown && in.At.In(FormList):
		f.scroll(formMore)
	case inside(FormName), inside(FormNote):
		f.inNote = in.At.In(FormNote)
		f.selected = f.count(in, at) == all
	case inside(FormAgreed):
		f.contents.Agreed = !f.contents.Agreed
	case inside(FormSend):
		f.contents.Sent++
	case inside(FormList):
		f.contents.Chosen = f.contents.Top + (in.At.Y-FormList.Min.Y)/FormRow
	}
}

// The forms of text that a clipboard may have.
const utf8Text, latin1Text = "UTF8_STRING", "STRING"

// ask asks for the clipboard, which comes as the property of the same name.
func (f *Form) ask(target string, at uint32) error {
	var atoms [2]uint32
	for i, name := range []string{"CLIPBOARD", target} {
		var err error
		if atoms[i], err = f.painter.atom(name); err != nil {
			return err
		}
	}
	// The answer goes to the connection that asks, if it is the X server's own.
	_, err := f.events.conn.Write(request(opConvertSelection, 0, f.window, atoms[0], atoms[1], atoms[0], at))
	return err
}

// selection inserts the property into which the clipboard was put. That is 0 if nobody has one, or not
// in this form; then the older one is asked for.
func (f *Form) selection(target, property, at uint32) error {
	latin1, err := f.painter.atom(latin1Text)
	if err != nil {
		return err
	}
	text := []byte("<no clipboard>")
	switch {
	case property == 0 && target != latin1:
		return f.ask(latin1Text, at)
	case property != 0:
		if text, err = f.painter.Property(f.window, "CLIPBOARD"); err != nil {
			return err
		}
	}
	if property != 0 && target == latin1 {
		for i := len(text) - 1; i >= 0; i-- {
			text = slices.Replace(text, i, i+1, []byte(string(rune(text[i])))...)
		}
	}
	f.insert(string(text))
	f.log = append(f.log, Input{})
	return f.draw()
}

//go:build linux

package desktop

import (
	"fmt"
	"image"
	"image/color"
	"slices"
	"strings"
	"sync"
)

// Where the parts of a form are. The examples in the documentation of vendors' computer tools hit them:
// a click at 405, 157 and one at 500, 300, and the wheel at 500, 400.
var (
	FormName   = image.Rect(300, 140, 900, 176)
	FormAgreed = image.Rect(300, 210, 330, 240)
	FormNote   = image.Rect(300, 282, 900, 318)
	FormList   = image.Rect(300, 350, 900, 590)
	FormSend   = image.Rect(740, 620, 900, 660)

	formPanel = image.Rect(270, 60, 930, 690)
	formLabel = image.Rect(0, -18, 200, -2) // above its part
)

// FormRow is the height of a row of the list; FormRows are in it, of which a part is shown.
const (
	FormRow  = 24
	FormRows = 40
	formMore = 3 // rows that one click of the wheel scrolls
)

// NoRow is the chosen row while none is.
const NoRow = -1

var (
	formGrey   = color.RGBA{0xe4, 0xe6, 0xea, 0xff}
	formWhite  = color.RGBA{0xff, 0xff, 0xff, 0xff}
	formYellow = color.RGBA{0xff, 0xf4, 0xb8, 0xff} // of the field with the keyboard
	formBlue   = color.RGBA{0x9c, 0xc4, 0xf4, 0xff} // of what is selected
	formGreen  = color.RGBA{0x20, 0x90, 0x50, 0xff}
)

// Contents is what has been done to a form.
type Contents struct {
	Name   string `json:"name"`
	Note   string `json:"note"`
	Agreed bool   `json:"agreed"`
	Sent   int    `json:"sent"`   // presses of the button, and of Return in a field
	Top    int    `json:"top"`    // the first row that is shown
	Chosen int    `json:"chosen"` // NoRow if none
}

// Input is one event that a form has received.
type Input struct {
	Down   bool // a press; neither for a movement
	Up     bool
	Symbol uint32 // of a key, in the state of the modifiers; 0 for others
	Button byte   // 0 for others
	At     image.Point
}

// Form is a window as large as its display: two text fields, a box to tick, a list and a button. It
// knows the keys Tab, Return, BackSpace and Delete, Ctrl+A and Ctrl+V, and selects all of a field at the
// third click. Behind it is the picture of Chequer.
type Form struct {
	window  uint32
	painter *Screen // draws and asks
	events  *Screen // made the window, and gets what happens to it
	picture *wallpaper

	mu       sync.Mutex // guards the following
	contents Contents
	log      []Input
	inNote   bool // the second field has the keyboard
	selected bool // all of its text
	clicks   int  // in one place, within a moment
	last     Input
	lastAt   uint32 // milliseconds of the server
}

// OpenForm shows an empty form on a display, before a background or Chequer. It ends with the display, or with
// Close.
func OpenForm(number string, background ...Area) (f *Form, err error) {
	if len(background) == 0 {
		background = Chequer()
	}
	f = &Form{contents: Contents{Chosen: NoRow}}
	defer func() {
		if err != nil {
			err = fmt.Errorf("showing a form: %w", err)
			f.Close()
		}
	}()
	if f.events, err = OpenScreen(number); err != nil {
		return f, err
	}
	if f.painter, err = OpenScreen(number); err != nil {
		return f, err
	}
	x := f.events
	f.window = x.id()
	const inputOutput, copyFromParent = 1, 0
	const mask = keyPressMask | keyReleaseMask | buttonPressMask | buttonReleaseMask | motionMask
	err = x.do(request(opCreateWindow, copyFromParent, f.window, x.Root, pair(0, 0), pair(x.width, x.height), pair(0, inputOutput),
		copyFromParent, attributeEventMask, mask))
	if err != nil {
		return f, err
	}
	if f.picture, err = newWallpaper(f.painter, f.window); err != nil {
		return f, err
	}
	for _, a := range append(slices.Clone(background), Area{formPanel, formGrey}) {
		if err := f.picture.paint(a); err != nil {
			return f, err
		}
	}
	if err := f.draw(); err != nil {
		return f, err
	}
	if err := f.painter.do(request(opMapWindow, 0, f.window)); err != nil {
		return f, err
	}
	go f.listen() // ends with the connection
	return f, nil
}

// Close removes the form.
func (f *Form) Close() {
	for _, x := range []*Screen{f.painter, f.events} {
		if x != nil {
			x.Close()
		}
	}
}

// Contents is what has been done so far.
func (f *Form) Contents() Contents {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.contents
}

// Log is what has arrived so far, in order.
func (f *Form) Log() []Input {
	f.mu.Lock()
	defer f.mu.Unlock()
	return append([]Input(nil), f.log...)
}

// Clear empties the form and its log.
func (f *Form) Clear() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.contents, f.log, f.inNote, f.selected, f.clicks = Contents{Chosen: NoRow}, nil, false, false, 0
	return f.draw()
}

// Picture is the form as the X server shows it.
func (f *Form) Picture() (*image.RGBA, error) { return f.painter.pictureOf(f.window) }

// Paint fills an area beside the parts of the form.
func (f *Form) Paint(a Area) error { return f.picture.paint(a) }

// Held are the keys and the buttons that are down on the display, "" if there are none.
func (f *Form) Held() (string, error) { return f.painter.held() }

// draw shows all parts as they are.
func (f *Form) draw() error {
	c := &f.contents
	field := func(note bool) color.RGBA {
		switch {
		case f.inNote != note:
			return formWhite
		case f.selected:
			return formBlue
		}
		return formYellow
	}
	tick := map[bool]color.RGBA{false: formWhite, true: formGreen}[c.Agreed]
	type part struct {
		text   string
		where  image.Rectangle
		colour color.RGBA
	}
	parts := []part{
		{"Name", formLabel.Add(FormName.Min), formGrey}, {c.Name, FormName, field(false)},
		{"I agree", formLabel.Add(FormAgreed.Min), formGrey}, {"", FormAgreed, tick},
		{"Note", formLabel.Add(FormNote.Min), formGrey}, {c.Note, FormNote, field(true)},
		{"Choose one", formLabel.Add(FormList.Min), formGrey},
		{fmt.Sprintf("Send (%d)", c.Sent), FormSend, formBlue},
	}
	for i := range FormList.Dy() / FormRow {
		row, colour := c.Top+i, formWhite
		if row == c.Chosen {
			colour = formBlue
		}
		at := FormList.Min.Add(image.Pt(0, i*FormRow))
		parts = append(parts, part{fmt.Sprintf("Row %d %s", row, strings.Repeat("=", row)), image.Rectangle{at, at.Add(image.Pt(FormList.Dx(), FormRow))}, colour})
	}
	for _, p := range parts {
		if err := f.picture.write(p.text, Area{p.where, p.colour}); err != nil {
			return err
		}
	}
	return nil
}

// text is the field with the keyboard.
func (f *Form) text() *string {
	if f.inNote {
		return &f.contents.Note
	}
	return &f.contents.Name
}

// insert puts text at the end of the field, or in place of all that is selected.
func (f *Form) insert(text string) {
	if f.selected {
		*f.text() = ""
	}
	*f.text() += text
	f.selected = false
}

// scroll moves the list, up for negative rows.
func (f *Form) scroll(rows int) {
	c := &f.contents
	c.Top = min(max(0, c.Top+rows), FormRows-FormList.Dy()/FormRow)
}

// count says which click this is in one place: a third one within half a second after the second, and
// so on.
func (f *Form) count(in Input, at uint32) int {
	const moment, near = 500, 4
	away := in.At.Sub(f.last.At)
	if in.Button != f.last.Button || at-f.lastAt > moment || max(away.X, -away.X, away.Y, -away.Y) > near {
		f.clicks = 0
	}
	f.clicks++
	f.last, f.lastAt = in, at
	return f.clicks
}

package testcard_test

import (
	"image"
	"image/color"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/testcard"
)

var (
	ink    = color.RGBA{0xF0, 0xF0, 0xF0, 255}
	ground = color.RGBA{0x20, 0x20, 0x20, 255}
)

// text reads a line of the card as a person does: by the shapes of its characters.
func text(v *viewer, field image.Rectangle) string {
	scale := field.Dy() / 8
	var out strings.Builder
	for x := field.Min.X; x+6*scale <= field.Max.X; x += 6 * scale {
		var shape [7]uint8
		for row := range shape {
			for dot := range 5 {
				if v.screen.RGBAAt(x+dot*scale+scale/2, field.Min.Y+row*scale+scale/2) == ink {
					shape[row] |= 1 << dot
				}
			}
		}
		read := '�'
		for r := rune(testcard.FirstRune); r <= testcard.LastRune; r++ {
			if testcard.Glyph(r) == shape {
				read = r
			}
		}
		out.WriteRune(read)
	}
	return strings.TrimRight(out.String(), " ")
}

func TestEachCharacterHasAShapeOfItsOwn(t *testing.T) {
	shapes := map[[7]uint8]rune{}
	for r := rune(testcard.FirstRune); r <= testcard.LastRune; r++ {
		if other, ok := shapes[testcard.Glyph(r)]; ok {
			t.Errorf("%q looks like %q", r, other)
		}
		shapes[testcard.Glyph(r)] = r
	}
}

func TestTheCardSaysWhatItIsAndWhatWasDone(t *testing.T) {
	at := time.Date(2026, 5, 4, 12, 0, 0, 0, time.FixedZone("", 7200))
	start := time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC) // of a bubble
	o := testcard.Options{Name: "Desk №1", Now: func() time.Time { return at.Add(time.Since(start)) }}
	l := layout()
	show(t, o, func(t *testing.T, v *viewer) {
		v.write(encodings(tight, quality0))
		steps := []struct {
			name, pointer, key string
			send               []byte
		}{
			{"before anything", "Pointer -", "Key -", nil},
			{"pointer", "Pointer 258,7", "Key -", []byte{5, 0, 1, 2, 0, 7}},
			{"buttons", "Pointer 3,4 1 3 8", "Key -", []byte{5, 0x85, 0, 3, 0, 4}},
			{"outside", "Pointer 1279,719", "Key -", []byte{5, 0, 0xff, 0xff, 0xff, 0xff}},
			{"key", "Pointer 1279,719", "Key g", []byte{4, 1, 0, 0, 0, 0, 0, 'g'}},
			{"key up", "Pointer 1279,719", "Key g", []byte{4, 0, 0, 0, 0, 0, 0, 'h'}},
			{"key by name", "Pointer 1279,719", "Key Page_Down", []byte{4, 1, 0, 0, 0, 0, 0xff, 0x56}},
		}
		for _, step := range steps {
			v.write(step.send)
			v.changes()
			for field, want := range map[image.Rectangle]string{
				l.Name: "Desk ?1", l.Size: "1280x720, 30 frames a second", l.Clock: "2026-05-04 10:00:00 UTC",
				l.Pointer: step.pointer, l.Key: step.key,
			} {
				if got := text(v, field); got != want {
					t.Errorf("%s: %q, want %q", step.name, got, want)
				}
			}
		}
		pass(61 * time.Second)
		v.changes()
		if got := text(v, l.Clock); got != "2026-05-04 10:01:01 UTC" {
			t.Errorf("clock %q", got)
		}
	})
}

func TestTheCrossIsWhereThePointerIs(t *testing.T) {
	show(t, testcard.Options{}, func(t *testing.T, v *viewer) {
		v.write(encodings(tight, quality0+8))
		v.all()
		clean := slices.Clone(v.screen.Pix)
		for n, bar := range layout().Bars {
			at := centre(bar)
			v.write([]byte{5, 0, byte(at.X >> 8), byte(at.X), byte(at.Y >> 8), byte(at.Y)})
			v.changes()
			arm := v.screen.RGBAAt(at.X, at.Y+12)
			edge := v.screen.RGBAAt(at.X, at.Y+13)
			if v.screen.RGBAAt(at.X, at.Y) != testcard.BarColor(0) || arm != testcard.BarColor(0) || edge != testcard.BarColor(7) {
				t.Errorf("bar %d: no cross", n)
			}
			if v.screen.RGBAAt(at.X+5, at.Y+5) != testcard.BarColor(n) {
				t.Errorf("bar %d: the cross hides it", n)
			}
		}
		v.write([]byte{5, 0, 0, 10, 0x02, 0x58}) // into the panel, beside the texts
		v.changes()
		bars := clean[:4*1280*layout().Bars[0].Max.Y]
		if !slices.Equal(v.screen.Pix[:len(bars)], bars) {
			t.Error("a cross is left behind on the bars")
		}
	})
}

func TestALongNameEndsWithItsLine(t *testing.T) {
	show(t, testcard.Options{Width: 320, Height: 240, Name: strings.Repeat("0123456789", 25)}, func(t *testing.T, v *viewer) {
		v.all()
		field := testcard.LayoutOf(320, 240).Name
		if got := text(v, field); len(got) < 40 || !strings.HasPrefix(strings.Repeat("0123456789", 25), got) {
			t.Errorf("%q", got)
		}
		for y := field.Min.Y; y < field.Max.Y; y++ {
			if v.screen.RGBAAt(field.Max.X+1, y) != ground {
				t.Errorf("something at %d,%d", field.Max.X+1, y)
			}
		}
	})
}

func TestKeysAreShownByCharacterNameOrNumber(t *testing.T) {
	for sym, want := range map[uint32]string{
		0: "-", ' ': "space", '!': "!", '~': "~", 0x7f: "0x7f", 0xe9: "U+00E9", 0xff: "U+00FF",
		0x01000041: "A", 0x010020ac: "U+20AC", 0x0110ffff: "U+10FFFF", 0x01110000: "0x1110000",
		0xff0d: "Return", 0xffff: "Delete", 0xffbe: "F1", 0xffc9: "F12", 0xffe0: "F35", 0xffe1: "Shift_L",
		0xffb0: "KP_0", 0xffb9: "KP_9", 0xffba: "0xffba", 0x7c1: "0x7c1", 0x1008ff13: "0x1008ff13", 0xffffffff: "0xffffffff",
	} {
		if got := testcard.KeyName(sym); got != want {
			t.Errorf("%#x is %q, want %q", sym, got, want)
		}
	}
}

package testcard_test

import (
	"image"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/testcard"
)

var ink = rgba(0xF0F0F0)

// text reads a line of the card as a person does: by the shapes of its characters.
func text(v *viewer, line image.Rectangle) string {
	var out strings.Builder
	for x := line.Min.X; x+18 <= line.Max.X; x += 18 {
		var shape [7][5]bool
		for row := range shape {
			for dot := range shape[row] {
				shape[row][dot] = v.screen.RGBAAt(x+3*dot+1, line.Min.Y+3*row+1) == ink
			}
		}
		read := '�'
		for r := ' '; r <= '~'; r++ {
			if testcard.Glyph(r) == shape {
				read = r
			}
		}
		out.WriteRune(read)
	}
	return strings.TrimRight(out.String(), " ")
}

func TestEachCharacterHasAShapeOfItsOwn(t *testing.T) {
	shapes := map[[7][5]bool]rune{}
	for r := ' '; r <= '~'; r++ {
		if other, ok := shapes[testcard.Glyph(r)]; ok {
			t.Errorf("%q looks like %q", r, other)
		}
		shapes[testcard.Glyph(r)] = r
	}
}

func TestTheCardSaysWhatItIsAndWhatWasDone(t *testing.T) {
	show(t, "Desk №1", func(t *testing.T, v *viewer) {
		for _, step := range []struct {
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
		} {
			v.write(step.send)
			v.changes()
			for line, want := range []string{"Desk ?1", "1280x720, 30 frames a second", "2000-01-01 00:00:00 UTC", step.pointer, step.key} {
				if got := text(v, testcard.LineArea(line)); got != want {
					t.Errorf("%s: %q, want %q", step.name, got, want)
				}
			}
		}
		pass(61 * time.Second)
		v.changes()
		if got := text(v, clockLine); got != "2000-01-01 00:01:01 UTC" {
			t.Errorf("clock %q", got)
		}
	})
}

func TestTheCrossIsWhereThePointerIs(t *testing.T) {
	show(t, "", func(t *testing.T, v *viewer) {
		v.all()
		clean := slices.Clone(v.screen.Pix)
		for n, c := range testcard.BarColors() {
			at := centre(bar(n))
			v.point(0, at.X, at.Y)
			v.changes()
			arm, edge := v.screen.RGBAAt(at.X, at.Y+12), v.screen.RGBAAt(at.X, at.Y+13)
			if v.screen.RGBAAt(at.X, at.Y) != rgba(0xFFFFFF) || arm != rgba(0xFFFFFF) || edge != rgba(0) {
				t.Errorf("bar %d: no cross", n)
			}
			if v.screen.RGBAAt(at.X+5, at.Y+5) != rgba(c) {
				t.Errorf("bar %d: the cross hides it", n)
			}
		}
		v.point(0, 10, 600) // beside the texts
		v.changes()
		if bars := clean[:4*1280*384]; !slices.Equal(v.screen.Pix[:len(bars)], bars) {
			t.Error("a cross is left behind on the bars")
		}
	})
}

func TestALongNameEndsWithItsLine(t *testing.T) {
	long := strings.Repeat("0123456789", 25)
	show(t, long, func(t *testing.T, v *viewer) {
		v.all()
		line := testcard.LineArea(0)
		if got := text(v, line); len(got) < 60 || !strings.HasPrefix(long, got) {
			t.Errorf("%q", got)
		}
		for y := line.Min.Y; y < line.Max.Y; y++ {
			if v.screen.RGBAAt(line.Max.X+1, y) != ground {
				t.Errorf("something at %d,%d", line.Max.X+1, y)
			}
		}
	})
}

func TestKeysAreShownByCharacterNameOrNumber(t *testing.T) {
	for sym, want := range map[uint32]string{
		0: "-", ' ': "space", '!': "!", '~': "~", 0x7f: "0x7f", 0xe9: "0xe9", 0x01000041: "A", 0x010020ac: "0x10020ac",
		0xff0d: "Return", 0xffff: "Delete", 0xffe1: "Shift_L", 0xffffffff: "0xffffffff",
	} {
		if got := testcard.KeyName(sym); got != want {
			t.Errorf("%#x is %q, want %q", sym, got, want)
		}
	}
}

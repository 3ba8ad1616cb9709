//go:build linux

package desktop

import (
	"image"
	"testing"
)

func TestASymbolDependsOnTheModifiers(t *testing.T) {
	k := keyboard{first: 8, perKey: 6, syms: []uint32{
		'a', 'A', 0, 0, 0, 0,
		'2', '"', 0, 0, '@', 0,
		KeyReturn, 0, 0, 0, 0, 0,
	}}
	for _, row := range []struct {
		code  byte
		state uint16
		want  uint32
	}{
		{8, 0, 'a'}, {8, shiftState, 'A'}, {8, lockState, 'A'}, {8, lockState | shiftState, 'a'}, {8, controlState, 'a'},
		{9, 0, '2'}, {9, shiftState, '"'}, {9, lockState, '2'}, {9, altGrState, '@'}, {9, altGrState | shiftState, '@'},
		{10, shiftState, KeyReturn}, {7, 0, 0}, {11, 0, 0},
	} {
		if got := k.typed(row.code, row.state); got != row.want {
			t.Errorf("key %d in state %#x is %#x, want %#x", row.code, row.state, got, row.want)
		}
	}
}

func TestSymbolsAreTheirCharacters(t *testing.T) {
	for symbol, want := range map[uint32]string{'a': "a", 0xe9: "é", 0x20ac: "€", 0x01004e2d: "中", 0x0101f600: "😀", 0x6c1: "<0x6c1>"} {
		if got := letter(symbol); got != want {
			t.Errorf("%#x is %q, want %q", symbol, got, want)
		}
	}
}

func TestTheExamplesOfVendorsHitTheForm(t *testing.T) {
	for _, row := range []struct {
		at   image.Point
		part image.Rectangle
	}{{image.Pt(405, 157), FormName}, {image.Pt(500, 300), FormNote}, {image.Pt(500, 400), FormList}} {
		if !row.at.In(row.part) || !row.part.In(formPanel) {
			t.Errorf("%v is not in %v, or that is beside the panel", row.at, row.part)
		}
	}
}

func TestTheThirdClickInOnePlaceSelects(t *testing.T) {
	var f Form
	click := func(x int, at uint32) { f.button(Input{Down: true, Button: 1, At: image.Pt(x, 157)}, at) }
	for _, at := range []uint32{100, 200, 300} {
		if click(405, at); f.selected != (at == 300) {
			t.Errorf("selected %v after the click at %d", f.selected, at)
		}
	}
	for _, row := range []struct {
		x  int
		at uint32
	}{{405, 2000}, {405, 2100}, {405, 3000}, {500, 3100}, {500, 3200}} {
		if click(row.x, row.at); f.selected {
			t.Errorf("selected by the click %+v", row)
		}
	}
}

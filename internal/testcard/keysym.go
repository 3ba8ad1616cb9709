package testcard

import "fmt"

// Keysyms of characters (X Window System Protocol, appendix A): ASCII and Latin-1 are their own,
// others have their code point in the low 24 bits.
const (
	unicodeKeysyms = 0x01000000
	maxRune        = 0x10FFFF

	keyF1, keyF35    = 0xffbe, 0xffe0
	keypad0, keypad9 = 0xffb0, 0xffb9
)

// keyName is how the card shows a key: its character if the font has it, else the keysym's name in
// X11, else a number.
func keyName(sym uint32) string {
	if name, ok := keyNames[sym]; ok {
		return name
	}
	code := sym
	if sym >= unicodeKeysyms {
		code = sym - unicodeKeysyms
	}
	switch {
	case sym == 0:
		return "-"
	case code > firstGlyph && code <= lastGlyph:
		return string(rune(code))
	case sym >= 0xa0 && sym <= 0xff, sym >= unicodeKeysyms && code <= maxRune:
		return fmt.Sprintf("U+%04X", code)
	case sym >= keyF1 && sym <= keyF35:
		return fmt.Sprintf("F%d", sym-keyF1+1)
	case sym >= keypad0 && sym <= keypad9:
		return fmt.Sprintf("KP_%d", sym-keypad0)
	}
	return fmt.Sprintf("0x%x", sym)
}

var keyNames = map[uint32]string{
	0x20:   "space",
	0xfe03: "ISO_Level3_Shift",
	0xfe20: "ISO_Left_Tab",

	0xff08: "BackSpace",
	0xff09: "Tab",
	0xff0d: "Return",
	0xff13: "Pause",
	0xff14: "Scroll_Lock",
	0xff1b: "Escape",

	0xff50: "Home",
	0xff51: "Left",
	0xff52: "Up",
	0xff53: "Right",
	0xff54: "Down",
	0xff55: "Page_Up",
	0xff56: "Page_Down",
	0xff57: "End",

	0xff61: "Print",
	0xff63: "Insert",
	0xff67: "Menu",
	0xff7f: "Num_Lock",

	0xff8d: "KP_Enter",
	0xff95: "KP_Home",
	0xff96: "KP_Left",
	0xff97: "KP_Up",
	0xff98: "KP_Right",
	0xff99: "KP_Down",
	0xff9a: "KP_Page_Up",
	0xff9b: "KP_Page_Down",
	0xff9c: "KP_End",
	0xff9e: "KP_Insert",
	0xff9f: "KP_Delete",
	0xffaa: "KP_Multiply",
	0xffab: "KP_Add",
	0xffac: "KP_Separator",
	0xffad: "KP_Subtract",
	0xffae: "KP_Decimal",
	0xffaf: "KP_Divide",

	0xffe1: "Shift_L",
	0xffe2: "Shift_R",
	0xffe3: "Control_L",
	0xffe4: "Control_R",
	0xffe5: "Caps_Lock",
	0xffe7: "Meta_L",
	0xffe8: "Meta_R",
	0xffe9: "Alt_L",
	0xffea: "Alt_R",
	0xffeb: "Super_L",
	0xffec: "Super_R",
	0xffff: "Delete",
}

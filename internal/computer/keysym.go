package computer

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// The keysyms that steps need by name (X11/keysymdef.h).
const (
	keyTab    uint32 = 0xff09
	keyTabL   uint32 = 0xfe20
	keyReturn uint32 = 0xff0d
	keyShift  uint32 = 0xffe1
	keyShiftR uint32 = 0xffe2
)

// unicodeKeysym is the keysym of U+0000: others are as many more as the code point (X11 protocol,
// appendix A).
const unicodeKeysym = 0x01000000

// keyRuns are the names of keys: each run begins at a keysym and goes on one by one, as X11 numbers
// them. A key has X11's name, which xdotool takes, and after a slash other names that the models of
// OpenAI and Anthropic and the test tools of browsers use. Case, "_", "-" and blanks do not matter. A dot
// is a number without a key.
var keyRuns = []struct {
	first uint32
	names string
}{
	{0x20, "space/spacebar exclam quotedbl numbersign/hash dollar percent ampersand apostrophe/quoteright/quote"},
	{0x28, "parenleft parenright asterisk plus comma minus/dash period/dot slash"},
	{0x3a, "colon semicolon less equal/equals greater question at"},
	{0x5b, "bracketleft backslash bracketright asciicircum/caret underscore grave/quoteleft/backtick/backquote"},
	{0x7b, "braceleft bar/pipe braceright asciitilde/tilde"},
	{0xfe03, "ISO_Level3_Shift/AltGr/AltGraph"},
	{0xfe20, "ISO_Left_Tab"},
	{0xff08, "BackSpace/Bksp Tab Linefeed Clear . Return/Enter"},
	{0xff13, "Pause Scroll_Lock Sys_Req"},
	{0xff1b, "Escape/Esc"},
	{0xff20, "Multi_key/Compose"},
	{0xff50, "Home Left/Arrow_Left/Left_Arrow Up/Arrow_Up/Up_Arrow Right/Arrow_Right/Right_Arrow"},
	{0xff54, "Down/Arrow_Down/Down_Arrow Prior/Page_Up/PgUp Next/Page_Down/PgDn/PgDown End Begin"},
	{0xff60, "Select Print/Print_Screen/PrtSc/PrtScn Execute Insert/Ins . Undo Redo Menu/Apps/ContextMenu"},
	{0xff68, "Find Cancel Help Break"},
	{0xff7e, "Mode_switch Num_Lock"},
	{0xff80, "KP_Space"},
	{0xff89, "KP_Tab . . . KP_Enter"},
	{0xff95, "KP_Home KP_Left KP_Up KP_Right KP_Down KP_Prior/KP_Page_Up KP_Next/KP_Page_Down"},
	{0xff9c, "KP_End KP_Begin KP_Insert KP_Delete"},
	{0xffaa, "KP_Multiply KP_Add KP_Separator KP_Subtract KP_Decimal KP_Divide"},
	{0xffb0, "KP_0 KP_1 KP_2 KP_3 KP_4 KP_5 KP_6 KP_7 KP_8 KP_9 . . . KP_Equal"},
	{0xffbe, "F1 F2 F3 F4 F5 F6 F7 F8 F9 F10 F11 F12 F13 F14 F15 F16 F17 F18 F19 F20 F21 F22 F23 F24"},
	{0xffe1, "Shift_L/Shift Shift_R Control_L/Control/Ctrl Control_R Caps_Lock Shift_Lock Meta_L Meta_R"},
	{0xffe9, "Alt_L/Alt/Option/Opt Alt_R Super_L/Super/Meta/Cmd/Command/Win/Windows/OS Super_R Hyper_L/Hyper Hyper_R"},
	{0xffff, "Delete/Del"},
	{0x1008ff11, "XF86AudioLowerVolume XF86AudioMute XF86AudioRaiseVolume XF86AudioPlay XF86AudioStop XF86AudioPrev XF86AudioNext"},
	{0x1008ff26, "XF86Back XF86Forward"},
}

// latinNames are X11's names of U+00A0 to U+00FF. Here case matters.
const latinNames = "nobreakspace exclamdown cent sterling currency yen brokenbar section diaeresis copyright " +
	"ordfeminine guillemotleft notsign hyphen registered macron degree plusminus twosuperior threesuperior " +
	"acute mu paragraph periodcentered cedilla onesuperior masculine guillemotright onequarter onehalf " +
	"threequarters questiondown Agrave Aacute Acircumflex Atilde Adiaeresis Aring AE Ccedilla Egrave Eacute " +
	"Ecircumflex Ediaeresis Igrave Iacute Icircumflex Idiaeresis ETH Ntilde Ograve Oacute Ocircumflex Otilde " +
	"Odiaeresis multiply Oslash Ugrave Uacute Ucircumflex Udiaeresis Yacute THORN ssharp agrave aacute " +
	"acircumflex atilde adiaeresis aring ae ccedilla egrave eacute ecircumflex ediaeresis igrave iacute " +
	"icircumflex idiaeresis eth ntilde ograve oacute ocircumflex otilde odiaeresis division oslash ugrave " +
	"uacute ucircumflex udiaeresis yacute thorn ydiaeresis"

var foldName = strings.NewReplacer("_", "", "-", "", " ", "", "numpad", "kp")

// byName are the keysyms of all names, folded.
var byName = func() map[string]uint32 {
	m := map[string]uint32{"eurosign": unicodeKeysym + '€'}
	for _, run := range keyRuns {
		for i, key := range strings.Fields(run.names) {
			for name := range strings.SplitSeq(key, "/") {
				m[foldName.Replace(strings.ToLower(name))] = run.first + uint32(i)
			}
		}
	}
	return m
}()

// byLatinName are the keysyms of latinNames, as written.
var byLatinName = func() map[string]uint32 {
	m := make(map[string]uint32)
	for i, name := range strings.Fields(latinNames) {
		m[name] = 0xa0 + uint32(i)
	}
	return m
}()

// Keysym returns the keysym of a key by its name: one character, a name that X11, xdotool, OpenAI's
// or Anthropic's computer tools have for it, or U and the code point in hexadecimal ("U20AC").
// "Meta" is the key with the logo, as browsers have it; X11's Meta is "Meta_L".
func Keysym(name string) (keysym uint32, ok bool) {
	if r, n := utf8.DecodeRuneInString(name); n == len(name) {
		return Rune(r)
	}
	if keysym, ok = byLatinName[name]; ok {
		return keysym, true
	}
	if keysym, ok = byName[foldName.Replace(strings.ToLower(name))]; ok {
		return keysym, true
	}
	if digits, is := strings.CutPrefix(name, "U"); is && len(digits) >= 4 && len(digits) <= 6 {
		if point, err := strconv.ParseUint(digits, 16, 32); err == nil {
			return Rune(rune(point))
		}
	}
	return 0, false
}

// Rune returns the keysym of a character. Line breaks and tabs are the keys Return and Tab; other
// control characters have no key.
func Rune(r rune) (keysym uint32, ok bool) {
	switch {
	case r == '\n' || r == '\r':
		return keyReturn, true
	case r == '\t':
		return keyTab, true
	case r == utf8.RuneError || !utf8.ValidRune(r) || unicode.IsControl(r):
		return 0, false
	case r <= 0xff:
		return uint32(r), true // Latin-1
	}
	return unicodeKeysym + uint32(r), true
}

// other returns the character other than ASCII that a key types.
func other(keysym uint32) (r rune, is bool) {
	switch {
	case keysym > utf8.RuneSelf && keysym <= 0xff:
		return rune(keysym), true
	case keysym > unicodeKeysym:
		return rune(keysym - unicodeKeysym), true
	}
	return 0, false
}

// plain and shifted are the characters of a US keyboard without Shift and with it.
const (
	plain   = "`1234567890-=[]\\;',./abcdefghijklmnopqrstuvwxyz"
	shifted = "~!@#$%^&*()_+{}|:\"<>?ABCDEFGHIJKLMNOPQRSTUVWXYZ"
)

// needsShift reports whether a US keyboard has the key with Shift. QEMU looks the key up in a layout
// and leaves Shift to the client (an "A" without it turns Caps Lock on); Xvnc, x11vnc and wayvnc add
// it where it is missing. So it is held, and the keysym is that of the character with Shift, which
// all of them take.
func needsShift(keysym uint32) bool {
	return keysym < utf8.RuneSelf && strings.IndexByte(shifted, byte(keysym)) >= 0
}

// withShift returns what a key becomes while Shift is held: an X server that is sent "1" with Shift
// lets go of Shift, to give what was asked for. With Shift the key Tab is ISO_Left_Tab.
func withShift(keysym uint32) uint32 {
	if keysym == keyTab {
		return keyTabL
	}
	return counterpart(keysym, plain, shifted)
}

// withoutShift is the key of a letter in a combination: "ctrl+S" is Ctrl and the key S.
func withoutShift(keysym uint32) uint32 {
	if keysym >= 'A' && keysym <= 'Z' {
		return counterpart(keysym, shifted, plain)
	}
	return keysym
}

func counterpart(keysym uint32, from, to string) uint32 {
	if keysym < utf8.RuneSelf {
		if i := strings.IndexByte(from, byte(keysym)); i >= 0 {
			return uint32(to[i])
		}
	}
	return keysym
}

package computer

import (
	"encoding/json"
	"strings"
	"testing"
	"testing/synctest"
)

// ascii is every character that a keyboard types.
func ascii() string {
	var b strings.Builder
	for r := ' '; r <= '~'; r++ {
		b.WriteRune(r)
	}
	return b.String() + "\n\ttail"
}

func typing(text string, more string) string {
	quoted, _ := json.Marshal(text)
	return `{"actions":[{"type":"type","text":` + string(quoted) + more + `}]}`
}

func TestTypedASCIIIsExactOnBothKindsOfServer(t *testing.T) {
	for _, layout := range []bool{false, true} {
		for _, text := range []string{ascii(), "aA!1 Ab~`\\|{}", strings.Repeat("wW", 2000)} {
			synctest.Test(t, func(t *testing.T) {
				f := newFake()
				f.layout = layout
				if _, err := f.do(t.Context(), typing(text, "")); err != nil {
					t.Fatal(err)
				}
				if f.field != text || len(f.down) > 0 {
					t.Errorf("layout %t: the field has %.80q, keys %v are down", layout, f.field, f.down)
				}
				if f.acted[1] != len(text) {
					t.Errorf("%d characters are counted, want %d", f.acted[1], len(text))
				}
			})
		}
	}
}

func TestTypedUnicodeIsSentByItsKeysyms(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake()
		const text = "Grüße, Ελλάδα 東京 😀 naïve €"
		if _, err := f.do(t.Context(), typing(text, "")); err != nil {
			t.Fatal(err)
		}
		if f.field != text {
			t.Errorf("the field has %q", f.field)
		}
	})
}

// No server says whether its keyboard has a character.
func TestTheCharactersThatMayNotBeTypedAreNamed(t *testing.T) {
	var many strings.Builder
	for r := rune(0x4e00); r < 0x5000; r++ {
		many.WriteRune(r)
	}
	for body, want := range map[string]string{
		typing(ascii(), ""):                       "",
		typing("Grüße, Güte 東京 😀😀", ""):           "üß東京😀",
		typing("Grüße", `,"via":"paste"`):         "",
		`{"action":"key","text":"ctrl+ü Return"}`: "ü",
		`{"action":"left_click","text":"U20AC"}`:  "€",
		`{"actions":[{"type":"type","text":"ü"},{"type":"type","text":"é","via":"paste"},{"type":"type","text":"ñü"}]}`: "üñ",
		typing(many.String(), ""): many.String()[:maxOther*len("東")],
	} {
		synctest.Test(t, func(t *testing.T) {
			result, err := newFake().do(t.Context(), body)
			if err != nil || result.Unconfirmed != want {
				t.Errorf("%.99s: %q, %v, want %q", body, result.Unconfirmed, err, want)
			}
		})
	}
}

func TestAPasteSetsTheClipboardAndPressesAChord(t *testing.T) {
	for more, events := range map[string]string{
		`,"via":"paste"`: "clipboard; +Control_L; +v; -v; -Control_L",
		`,"via":"paste","paste_key":"shift+Insert"`: "clipboard; +Shift_L; +Insert; -Insert; -Shift_L",
		`,"via":"paste","paste_key":null`:           "clipboard; +Control_L; +v; -v; -Control_L",
	} {
		synctest.Test(t, func(t *testing.T) {
			f := newFake()
			f.layout = true
			const text = "Grüße 東京 😀\r\n\"\\"
			if _, err := f.do(t.Context(), typing(text, more)); err != nil {
				t.Fatal(err)
			}
			if f.field != text || f.events() != events {
				t.Errorf("%s: the field has %q after %s", more, f.field, f.events())
			}
			if f.took[1] < pasteTime || f.acted[1] != 14 {
				t.Errorf("%s: the chord came after %v; %d characters are counted", more, f.took[1], f.acted[1])
			}
		})
	}
}

func TestALineBreakOfTwoCharactersIsOneKey(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake()
		if _, err := f.do(t.Context(), typing("a\r\nb\rc\nd", "")); err != nil || f.field != "a\nb\nc\nd" {
			t.Errorf("the field has %q, %v", f.field, err)
		}
	})
}

// QEMU plays a key each 10 ms, and drops what comes when 1,024 entries wait, of which a key needs three.
func TestLongTextsDoNotOverflowTheQueueOfQEMU(t *testing.T) {
	for _, text := range []string{strings.Repeat("a", 10_000), strings.Repeat("Aa", 3_500)} {
		synctest.Test(t, func(t *testing.T) {
			f := newFake()
			if _, err := f.do(t.Context(), typing(text, "")); err != nil {
				t.Fatal(err)
			}
			most, played := 0, 0
			for i, at := range f.took {
				for ; played < i && int64(played)*10 < at.Milliseconds(); played++ {
				}
				most = max(most, 3*(i-played))
			}
			if most >= 1024 || most == 0 {
				t.Errorf("%d entries wait", most)
			}
		})
	}
}

func TestKeysHaveTheNamesOfBothVendors(t *testing.T) {
	for name, want := range map[string]uint32{
		"a": 'a', "A": 'A', "~": '~', " ": ' ', "é": 0xe9, "ÿ": 0xff, "Ā": 0x1000100, "€": 0x10020ac, "😀": 0x101f600,
		"Return": 0xff0d, "ENTER": 0xff0d, "KP_Enter": 0xff8d, "Tab": 0xff09, "ESC": 0xff1b, "Escape": 0xff1b,
		"BackSpace": 0xff08, "BACKSPACE": 0xff08, "Delete": 0xffff, "DEL": 0xffff, "space": ' ', "SPACE": ' ',
		"Page_Up": 0xff55, "PAGEUP": 0xff55, "PageUp": 0xff55, "Prior": 0xff55, "pagedown": 0xff56, "Next": 0xff56,
		"ARROWLEFT": 0xff51, "Left": 0xff51, "arrow_down": 0xff54, "Up": 0xff52, "Right": 0xff53, "Home": 0xff50, "END": 0xff57,
		"ctrl": 0xffe3, "CONTROL": 0xffe3, "Control_R": 0xffe4, "SHIFT": 0xffe1, "Shift_R": 0xffe2, "ALT": 0xffe9, "Alt_R": 0xffea, "OPTION": 0xffe9,
		"super": 0xffeb, "WIN": 0xffeb, "CMD": 0xffeb, "META": 0xffeb, "Super_R": 0xffec, "Meta_L": 0xffe7, "Hyper_L": 0xffed, "CAPSLOCK": 0xffe5, "AltGr": 0xfe03,
		"F1": 0xffbe, "F12": 0xffc9, "f24": 0xffd5, "KP_0": 0xffb0, "KP_9": 0xffb9, "KP_Add": 0xffab, "KP_Equal": 0xffbd, "KP_Divide": 0xffaf, "Numpad5": 0xffb5,
		"KP_Home": 0xff95, "KP_Delete": 0xff9f, "Insert": 0xff63, "Menu": 0xff67, "Undo": 0xff65, "Print": 0xff61, "Pause": 0xff13, "Scroll_Lock": 0xff14, "Num_Lock": 0xff7f,
		"plus": '+', "minus": '-', "slash": '/', "bracketleft": '[', "asciitilde": '~', "at": '@', "exclam": '!', "underscore": '_', "colon": ':', "period": '.',
		"Adiaeresis": 0xc4, "adiaeresis": 0xe4, "ssharp": 0xdf, "ydiaeresis": 0xff, "nobreakspace": 0xa0, "division": 0xf7, "EuroSign": 0x10020ac,
		"U20AC": 0x10020ac, "U00e9": 0xe9, "XF86AudioMute": 0x1008ff12, "XF86Forward": 0x1008ff27, "XF86AudioNext": 0x1008ff17,
	} {
		if got, ok := Keysym(name); !ok || got != want {
			t.Errorf("%s is %#x, %t, want %#x", name, got, ok, want)
		}
	}
	for _, name := range []string{"", "Foo", "F36", "UD800", "U12", "U1234567", "\x00", "\x1b", "\ufffd", "\xff", "U00zz", "."} {
		if got, ok := Keysym(name); ok && name != "." {
			t.Errorf("%q is %#x", name, got)
		}
	}
}

func TestChordsHoldWhatServersNeed(t *testing.T) {
	for text, want := range map[string]string{
		"ctrl+S":       "+Control_L; +s; -s; -Control_L",
		"ctrl+shift+s": "+Control_L; +Shift_L; +S; -S; -Shift_L; -Control_L",
		"shift+1":      "+Shift_L; +!; -!; -Shift_L",
		"Shift_R+a":    "+Shift_R; +A; -A; -Shift_R",
		"A":            "+Shift_L; +A; -A; -Shift_L",
		"ctrl+plus":    "+Control_L; +Shift_L; ++; -+; -Shift_L; -Control_L",
		"ctrl++":       "+Control_L; +Shift_L; ++; -+; -Shift_L; -Control_L",
		"+":            "+Shift_L; ++; -+; -Shift_L",
		"ctrl+-":       "+Control_L; +-; --; -Control_L",
		"ctrl + l":     "+Control_L; +l; -l; -Control_L",
		" ":            "+space; -space",
		"shift+Tab":    "+Shift_L; +ISO_Left_Tab; -ISO_Left_Tab; -Shift_L",
		"Down Down":    "+Down; -Down; +Down; -Down",
		"ctrl+alt+F1":  "+Control_L; +Alt_L; +F1; -F1; -Alt_L; -Control_L",
	} {
		synctest.Test(t, func(t *testing.T) {
			f := newFake()
			quoted, _ := json.Marshal(text)
			if _, err := f.do(t.Context(), `{"action":"key","text":`+string(quoted)+`}`); err != nil {
				t.Fatalf("%s: %v", text, err)
			}
			if f.events() != want {
				t.Errorf("%s gave %s, want %s", text, f.events(), want)
			}
		})
	}
}

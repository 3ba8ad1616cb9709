package jsonscan_test

import (
	"encoding/json"
	"math"
	"math/big"
	"strings"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/jsonscan"
)

func TestStringDecodes(t *testing.T) {
	for value, want := range map[string]string{
		`""`:                         "",
		`"plain"`:                    "plain",
		`"é東\u00e9"`:                 "é東é",
		`"\"\\\/\b\f\n\r\t"`:         "\"\\/\b\f\n\r\t",
		`"a\u0000b"`:                 "a\x00b",
		`"\ud83d\uDE00"`:             "😀",
		`"\ud83d"`:                   "\ufffd",
		`"\ud83dx"`:                  "\ufffdx",
		`"\ud83d\n"`:                 "\ufffd\n",
		`"\ude00\ud83d"`:             "\ufffd\ufffd",
		`"\ud83d\u0041"`:             "\ufffdA",
		`"\ud83d\ud83d\ude00"`:       "\ufffd😀",
		`"\ufffd\ufffd\u005c\u0022"`: "\ufffd\ufffd\\\"",
	} {
		if got, good := jsonscan.String([]byte(value)); !good || got != want {
			t.Errorf("String(%s) = %q, %t, want %q", value, got, good, want)
		}
	}
}

func TestStringRefusesAnythingElse(t *testing.T) {
	for _, value := range []string{``, `"`, `x`, `1`, `null`, `"a`, `"a"b`, `"a"b"`, `"\x"`, `"\u12"`, `"\"`, "\"\n\"", "\"\xff\"", ` "a"`} {
		if got, good := jsonscan.String([]byte(value)); good {
			t.Errorf("String(%q) = %q", value, got)
		}
	}
}

func TestAppendStringEscapesWhatItMust(t *testing.T) {
	for s, want := range map[string]string{
		"":                    `""`,
		"plain é 東 😀 <&> /":   `"plain é 東 😀 <&> /"`,
		"\"\\":                `"\"\\"`,
		"\n\r\t\b\f\x00\x1f~": `"\n\r\t\u0008\u000c\u0000\u001f~"`,
		"a\xffb\xc3":          "\"a\ufffdb\ufffd\"",
		"\ufffd":              "\"\ufffd\"",
	} {
		if got := string(jsonscan.AppendString([]byte("x"), s)); got != "x"+want {
			t.Errorf("AppendString(%q) = %s, want x%s", s, got, want)
		}
	}
}

func TestIntReadsWholeNumbers(t *testing.T) {
	zeros := strings.Repeat("0", 2000)
	for value, want := range map[string]int64{
		"0":                            0,
		"-0":                           0,
		"0.000":                        0,
		"0e999999999999999999999":      0,
		"12":                           12,
		"-12.0":                        -12,
		"1e3":                          1000,
		"1E+3":                         1000,
		"1.25e2":                       125,
		"1200e-2":                      12,
		"0.5e1":                        5,
		"9223372036854775807":          math.MaxInt64,
		"-9223372036854775808":         math.MinInt64,
		"-922337203685477580.8e1":      math.MinInt64,
		"1000000000000000000000.0e-21": 1,
		"7" + zeros + "e-2000":         7,
		"0." + zeros + "7e2001":        7,
	} {
		if got, good := jsonscan.Int([]byte(value)); !good || got != want {
			t.Errorf("Int(%.40s) = %d, %t, want %d", value, got, good, want)
		}
	}
}

func TestIntRefusesAnythingElse(t *testing.T) {
	for _, value := range []string{
		"", "-", "x", `"1"`, "null", "1 ", " 1", "01", "1.", "1e", "+1", "0x1",
		"1.5", "1e-1", "12.50e1x", "125e-2", "1e-999999999999999999999",
		"9223372036854775808", "-9223372036854775809", "1e19", "18446744073709551616", "1e999999999999999999999",
		"18446744073709551610", "99999999999999999999999",
	} {
		if got, good := jsonscan.Int([]byte(value)); good {
			t.Errorf("Int(%q) = %d", value, got)
		}
	}
}

func TestIsNull(t *testing.T) {
	for value, want := range map[string]bool{"null": true, "": false, "nul": false, `"null"`: false, "0": false} {
		if got := jsonscan.IsNull([]byte(value)); got != want {
			t.Errorf("IsNull(%q) = %t", value, got)
		}
	}
}

func FuzzStringAgreesWithEncodingJSON(f *testing.F) {
	for _, seed := range []string{`"a"`, `"\ud83d\ude00"`, `"\ud83d\u0041é"`, "\"\xff\"", `"\u12g4"`, `1`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, value []byte) {
		got, good := jsonscan.String(value)
		if !good {
			return
		}
		var want string
		if err := json.Unmarshal(value, &want); err != nil || got != want {
			t.Fatalf("String(%q) = %q, encoding/json has %q, %v", value, got, want, err)
		}
	})
}

func FuzzAppendStringComesBack(f *testing.F) {
	for _, seed := range []string{"", "plain", "\"\\\n\x00\x7f", "é\xff\xed\xa0\x80", "\u2028😀"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, s string) {
		quoted := jsonscan.AppendString(nil, s)
		want := strings.ToValidUTF8(s, "\ufffd")
		if !strings.Contains(want, "\ufffd") {
			if got, good := jsonscan.String(quoted); !good || got != want {
				t.Fatalf("%q came back as %q, %t", s, got, good)
			}
		}
		var got, ours string
		theirs, _ := json.Marshal(s)
		if json.Unmarshal(quoted, &ours) != nil || json.Unmarshal(theirs, &got) != nil || got != ours {
			t.Fatalf("%q came back as %q, encoding/json has %q", s, ours, got)
		}
	})
}

func FuzzIntAgreesWithExactArithmetic(f *testing.F) {
	for _, seed := range []string{"0", "-1.50e1", "9223372036854775807", "1e18", "12e-1", "0.001e3", "-0"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, value string) {
		if len(value) > 40 || strings.ContainsAny(value, "eE") && len(value)-strings.IndexAny(value, "eE") > 5 {
			return // exact arithmetic on large exponents is slow
		}
		got, good := jsonscan.Int([]byte(value))
		exact, parsed := new(big.Rat).SetString(value)
		want := json.Valid([]byte(value)) && parsed && exact.IsInt() && exact.Num().IsInt64()
		if good != want || good && exact.Num().Int64() != got {
			t.Fatalf("Int(%q) = %d, %t, want %v, %t", value, got, good, exact, want)
		}
	})
}

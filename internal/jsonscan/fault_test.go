package jsonscan_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/jsonscan"
)

func TestStrictSaysWhyAndWhere(t *testing.T) {
	long := strings.Repeat("x", 300) // long enough for every way of searching
	tests := []struct {
		text   string
		offset int
		reason string
		key    string
	}{
		{``, 0, "unexpected end", ""},
		{`  `, 2, "unexpected end", ""},
		{`{`, 1, "unexpected end", ""},
		{`{"a`, 3, "unexpected end", ""},
		{`{"a"`, 4, "unexpected end", ""},
		{`{"a":`, 5, "unexpected end", ""},
		{`{"a":1`, 6, "unexpected end", ""},
		{`{"a":1,`, 7, "unexpected end", ""},
		{`{"a":[`, 6, "unexpected end", ""},
		{`{"a":[1`, 7, "unexpected end", ""},
		{`{"a":{`, 6, "unexpected end", ""},
		{`{"a":"\`, 7, "unexpected end", ""},
		{`{"a":"\u00e`, 11, "unexpected end", ""},
		{`{"a":"` + long, 306, "unexpected end", ""},
		{`[]`, 0, "not an object", ""},
		{`"a"`, 0, "not an object", ""},
		{"\xef\xbb\xbf{}", 0, "byte order mark", ""},
		{`{} {}`, 3, "trailing data", ""},
		{`{},`, 2, "trailing data", ""},
		{"{}\x00", 2, "trailing data", ""},
		{`{"a":1,}`, 7, "unexpected character", ""},
		{`{,}`, 1, "unexpected character", ""},
		{`{a:1}`, 1, "unexpected character", ""},
		{`{"a" 1}`, 5, "unexpected character", ""},
		{`{"a":}`, 5, "unexpected character", ""},
		{`{"a":1 "b":2}`, 7, "unexpected character", ""},
		{`{"a":1]`, 6, "unexpected character", ""},
		{`{"a":[1}}`, 7, "unexpected character", ""},
		{`{"a":[1,]}`, 8, "unexpected character", ""},
		{`{"a":[,1]}`, 6, "unexpected character", ""},
		{`{"a":{"b":1]}`, 11, "unexpected character", ""},
		{`{"a":{"b":1,}}`, 12, "unexpected character", ""},
		{`{"a":+1}`, 5, "unexpected character", ""},
		{`{"a":.5}`, 5, "unexpected character", ""},
		{"{\"a\":\u00a01}", 5, "unexpected character", ""},
		{`{/**/}`, 1, "unexpected character", ""},
		{`{"a":NaN}`, 5, "unexpected character", ""},
		{`{"a":tru}`, 5, "invalid literal", ""},
		{`{"a":nul`, 5, "invalid literal", ""},
		{`{"a":falsy}`, 5, "invalid literal", ""},
		{`{"a":truex}`, 9, "unexpected character", ""},
		{`{"a":-}`, 6, "invalid number", ""},
		{`{"a":01}`, 5, "invalid number", ""},
		{`{"a":-00}`, 6, "invalid number", ""},
		{`{"a":1.}`, 7, "invalid number", ""},
		{`{"a":1e}`, 7, "invalid number", ""},
		{`{"a":1e+}`, 8, "invalid number", ""},
		{`{"a":0x1}`, 6, "unexpected character", ""},
		{"{\"a\":\"x\ny\"}", 7, "control character in string", ""},
		{"{\"a\":\"" + long + "\x1f\"}", 306, "control character in string", ""},
		{"{\"a\":\"é" + long + "\x00\"}", 308, "control character in string", ""},
		{`{"a":"\x"}`, 6, "invalid escape", ""},
		{`{"a":"\u00g0"}`, 6, "invalid escape", ""},
		{`{"a":"` + long + `\'"}`, 306, "invalid escape", ""},
		{"{\"a\":\"\xff\"}", 6, "invalid UTF-8", ""},
		{"{\"a\":\"é\xc3\"}", 8, "invalid UTF-8", ""},
		{"{\"a\":\"\xed\xa0\x80\"}", 6, "invalid UTF-8", ""},
		{"{\"a\":\"\xc0\x80\"}", 6, "invalid UTF-8", ""},
		{"{\"a\":\"" + long + "é" + long + "\xe6\x9d\"}", 608, "invalid UTF-8", ""},
		{"{\"a\":{\"\x80\":1}}", 7, "invalid UTF-8", ""},
		{nested(jsonscan.MaxDepth + 1), -1, "nesting too deep", ""},
		{wideObject(jsonscan.MaxMembers + 1), -1, "too many members", ""},
		{`{"model":"a","mod\u0065l":"b"}`, 13, "escaped key", `mod\u0065l`},
		{`{"meſſages":[]}`, 1, "non-ASCII key", "meſſages"},
		{`{"to` + "\u212a" + `en":1}`, 1, "non-ASCII key", "to\u212aen"},
		{`{"model":"a","model":"a"}`, 13, "duplicate key", "model"},
		{`{"model":"a","x":{},"MoDEL":"b"}`, 20, "duplicate key", "MoDEL"},
		{`{"":1,"":2}`, 6, "duplicate key", ""},
		{`{"` + long[:100] + `\n":1}`, 1, "escaped key", long[:64]},
		{`{"a":1,"` + long[:jsonscan.MaxKey+1] + `":1}`, 7, "key too long", long[:64]},
	}
	for _, test := range tests {
		_, err := jsonscan.Strict([]byte(test.text), nil)
		var syntax *jsonscan.SyntaxError
		if !errors.As(err, &syntax) {
			t.Errorf("Strict(%.40q) = %v, want a *SyntaxError", test.text, err)
			continue
		}
		if syntax.Reason != test.reason || syntax.Key != test.key || test.offset >= 0 && syntax.Offset != test.offset {
			t.Errorf("Strict(%.40q) = %d %q %q, want %d %q %q", test.text,
				syntax.Offset, syntax.Reason, syntax.Key, test.offset, test.reason, test.key)
		}
	}
}

func TestErrorTextNamesTheKey(t *testing.T) {
	_, err := jsonscan.Strict([]byte(`{"n":1,"N":2}`), nil)
	if got, want := err.Error(), `invalid json at byte 7: duplicate key "N"`; got != want {
		t.Errorf("error %q, want %q", got, want)
	}
	_, err = jsonscan.Strict([]byte(`{"n":1`), nil)
	if got, want := err.Error(), `invalid json at byte 6: unexpected end`; got != want {
		t.Errorf("error %q, want %q", got, want)
	}
}

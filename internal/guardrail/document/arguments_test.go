package document_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/gatehouse-proxy/gatehouse/internal/guardrail/detect"
	"github.com/gatehouse-proxy/gatehouse/internal/guardrail/document"
	"github.com/gatehouse-proxy/gatehouse/internal/jsonscan"
)

// inPieces edits arguments that come in pieces of size bytes or a few more.
func inPieces(rules []detect.Rule, text string, size int) string {
	var out []byte
	var inner document.InnerJSON
	m, pending := detect.NewMatcher(rules, 256), ""
	send := func(piece string, last bool) {
		plain := inner.Decode(piece, last)
		pending += plain
		m.Scan(plain)
		if last {
			m.End()
		}
		n, edits := m.Settle(pending, last)
		out = inner.Append(out, n, edits, last)
		pending = pending[n:]
	}
	for text != "" {
		n := min(size, len(text))
		for n < len(text) && !utf8.RuneStart(text[n]) {
			n++
		}
		send(text[:n], false)
		text = text[n:]
	}
	send("", true)
	return string(out)
}

func TestArgumentsStayJSON(t *testing.T) {
	ones := func(n int) string { return strings.Repeat("1", n) }
	rules := []detect.Rule{
		{Detector: must(detect.Email()), Mark: "[email]"},
		{Detector: must(detect.Regexp(`(?s)x.*?y`)), Mark: "[xy]"},
		{Detector: must(detect.Regexp(`999`)), Mark: "[999]"},
		{Detector: must(detect.Regexp(`\n`)), Mark: "[line]"},
		{Detector: must(detect.Regexp(`(?s)77.*?88`)), Mark: "[78]"},
	}
	for text, want := range map[string]string{
		`{"to" :  "ann@b.de", "b":1}`:                `{"to" :  "[email]", "b":1}`,
		`{"to":"ann\u0040b.de and \n c"}`:            `{"to":"[email] and [line] c"}`,
		`{"a":"\ud83d\ude00 ann@b.de \ud83d é\/\x"}`: `{"a":"\ud83d\ude00 [email] \ud83d é\/\x"}`,
		`{"n":-1.5e9, "m":999,"o":true}`:             `{"n":-1.5e9, "m":"[999]","o":true}`,
		`[1999,5,19990,[999],{"999":999}]`:           `["[999]",5,"[999]",["[999]"],{"[999]":"[999]"}]`,
		`[ 999999 , null]`:                           `[ "[999]" , null]`,
		`["ax","b",12,{"c":false},"dy","e",3]`:       `["a[xy]","",null,{"":null},"","e",3]`,
		`["x` + ones(80) + `y",999]`:                 `["[xy]","[999]"]`,
		`[` + ones(64) + `]`:                         `[` + ones(64) + `]`,
		`[` + ones(200) + `,1]`:                      `[` + ones(200) + `,1]`,
		`[` + ones(64) + `999,1]`:                    `["[999]",1]`,
		`[` + ones(65) + `999,1]`:                    `[` + ones(65) + `0,1]`,
		`[` + ones(90) + `9991,999]`:                 `[` + ones(90) + `0,"[999]"]`,
		"see ann@b.de, 999 \\n \n {":                 "see [email], [999] \\n [line] {",
		`["ann@b.de",12`:                             `["[email]",12`,
		`[77,true,{"a":5},88,6]`:                     `["[78]",null,{"":null},null,6]`,
		` [999`:                                      ` ["[999]"`,
		`{"a":"ann@b.de`:                             `{"a":"[email]`,
		`"ann@b.de"`:                                 `"[email]"`,
	} {
		for _, size := range []int{1, 2, 3, 5, 1000} {
			if got := inPieces(rules, text, size); got != want {
				t.Errorf("%s\nin pieces of %d: got  %s\nwant %s", text, size, got, want)
			}
		}
		body := `{"a":[{"arguments":` + string(jsonscan.AppendString(nil, text)) + `}]}`
		whole := `{"a":[{"arguments":` + string(jsonscan.AppendString(nil, want)) + `}]}`
		if want == text {
			whole = ""
		}
		if got, err := judge(t, rules, body, false); err != nil || got != whole {
			t.Errorf("%s\nas a whole: got  %s\nwant %s, %v", text, got, whole, err)
		}
	}
}

// What was sent before the rules read on is not edited any more.
func TestArgumentsContinueWhatWasSent(t *testing.T) {
	var inner document.InnerJSON
	inner.Skip(len(inner.Decode(`{"a":12`, false)))
	text := inner.Decode(`3,"b":4}`, false)
	got := string(inner.Append(nil, len(text), []detect.Edit{{From: 0, To: 1, Mark: "[a]"}, {From: 6, To: 7, Mark: "[b]"}}, true))
	if want := `0,"b":"[b]"}`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// Arguments that are no string are read as their JSON text, once.
func TestArgumentsOfAnyKindAreRead(t *testing.T) {
	for body, want := range map[string]string{
		`{"arguments":4111}`:                       "4111",
		`{"arguments":true}`:                       "true",
		`{"arguments":false}`:                      "false",
		`{"arguments":null}`:                       "",
		`{"arguments":{"a":["b",1,{"c":"d"}]}}`:    `{"a":["b",1,{"c":"d"}]}`,
		`{"arguments":["a",1]}`:                    `["a",1]`,
		`{"arguments":"a","b":1,"c":true}`:         "a",
		`{"b":{"arguments":1},"c":[1,{"a":2}]}`:    "1",
		`{"parameters":{"arguments":1}}`:           "",
		`{"parameters":{"arguments":["a"]},"b":2}`: "a",
		`{"x":[1,true,"a"]}`:                       "a",
		`{"arguments":{"arguments":{"a":1}}}`:      `{"arguments":{"a":1}}`,
	} {
		if got := strings.Join(texts(t, body, false, false), "|"); got != want {
			t.Errorf("%s: %q is read, want %q", body, got, want)
		}
	}
}

func TestArgumentsThatAreANumberBecomeAString(t *testing.T) {
	rules := []detect.Rule{{Detector: must(detect.Card()), Mark: "[card]"}}
	got, err := judge(t, rules, `{"a":{"arguments":4111111111111111},"arguments":[4111111111111111]}`, false)
	if want := `{"a":{"arguments":"[card]"},"arguments":["[card]"]}`; got != want || err != nil {
		t.Errorf("got %s, %v", got, err)
	}
}

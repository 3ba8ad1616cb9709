package document_test

import (
	"fmt"
	"strings"
	"testing"
)

// What a value must look like in a member that is not read, by a body with such a member.
func TestValuesAreNotReadIfTheyHaveTheirShape(t *testing.T) {
	letters := func(n int) string { return strings.Repeat("x", n) }
	const png = "data:image/png;base64,"
	for _, test := range []struct {
		name, body   string
		answer       bool
		unread, read []string
	}{
		{"word of an API", `{"input":[{"type":"%s"}]}`, false,
			[]string{"function", "a_b", "z_0", "a_9", "web_search_2025", "response.output_text.delta", "outputs.a_b", "a_" + letters(126)},
			[]string{"forbidden", "a", "_a", "a_", "_", "a_B", "a_Z", "a_-", "a_/b", "a_:b", "a_`b", "a_{b", "a_ b", "a_b.", ".a_b", "a_b.c", "a_é", "a_" + letters(127)}},
		{"identifier of a caller", `{"input":[{"id":"%s"}]}`, false,
			[]string{"a1", "z9", "A0", "Z5", "call_1-2.3:4|5", "1" + letters(127)},
			[]string{"abc", "123", "1_2", "a 1", "a/1", "a+1", "@1", "[1", "`1", "{1", "a;", "é1", "1" + letters(128)}},
		{"identifier of a provider", `{"id":"%s"}`, true,
			[]string{"abc", "123", "_-.:|", letters(128)}, []string{"a b", "a/b", "é", letters(129)}},
		{"name of a model", `{"models":["%s"]}`, false, []string{"a/b", "a-b_c.d:e", letters(128)}, []string{"a b", "a|b", letters(129)}},
		{"data", `{"input":[{"encrypted_content":"%s"}]}`, false,
			[]string{letters(32), "AZaz09+/-_==" + letters(20), `\/` + letters(30), png + letters(32), "data:" + letters(120) + ";base64," + letters(32)},
			[]string{letters(31), letters(31) + "!", letters(31) + "!/", letters(31) + " ", letters(31) + `\n`, letters(31) + `\\`, "@" + letters(31), "[" + letters(31), "`" + letters(31), "{" + letters(31), ":" + letters(31),
				png + letters(31), png + letters(31) + " ", "data:image/png," + letters(32), "data:a b;base64," + letters(32), "data: ;base64," + letters(32),
				"data:" + letters(121) + ";base64," + letters(32), "data;base64," + letters(32)}},
		{"image", `{"input":[{"result":"%s"}]}`, false, []string{letters(1024)}, []string{letters(1023), letters(1024) + " "}},
		{"piece of data", `{"choices":[{"delta":{"audio":{"data":"%s"}}}]}`, true, []string{"x", ""}, []string{"x y", "x\u00e9"}},
		{"model", `{"model":"%s"}`, false, []string{"anything at all"}, nil},
	} {
		for want, values := range [][]string{test.unread, test.read} {
			for _, value := range values {
				if got := len(texts(t, fmt.Sprintf(test.body, value), test.answer, test.answer)); got != want {
					t.Errorf("%s %.50q of %d bytes: %d texts are read, want %d", test.name, value, len(value), got, want)
				}
			}
		}
	}
}

func TestOnlyTextsInTheFormOfJSONAreReadAsJSON(t *testing.T) {
	rules := jsonRules(false)
	for text, want := range map[string]string{ // as JSON, \u0040 is an at sign
		`{\"a\":\"ann\\u0040b.de\"}`:     `{\"a\":\"[REDACTED:email]\"}`,
		`[\"ann\\u0040b.de\"]`:           `[\"[REDACTED:email]\"]`,
		` \t\r\n[\"ann\\u0040b.de\"]\n `: ` \t\r\n[\"[REDACTED:email]\"]\n `,
		`\"ann\\u0040b.de\"`:             "", // a string alone is not
		`[\"ann\\u0040b.de\"}`:           "",
		`{\"a\":\"ann\\u0040b.de\"]`:     "",
		`{\"ann\\u0040b.de\"}`:           "",
		`{`:                              "",
		`[`:                              "",
		``:                               "",
		`]`:                              "",
	} {
		if want != "" {
			want = `{"x":"` + want + `"}`
		}
		if got, err := judge(t, rules, `{"x":"`+text+`"}`, false); err != nil || got != want {
			t.Errorf("%s: got %s, want %s, %v", text, got, want, err)
		}
	}
}

// A key with escapes, or outside ASCII, is no known member, also not the one before it.
func TestAnUnusualKeyHidesNoText(t *testing.T) {
	for _, key := range []string{`\u006dodels`, `m\u00f6del`, `mödel`, `x`} {
		if list := texts(t, `{"model":"x","`+key+`":"forbidden"}`, false, false); len(list) != 1 {
			t.Errorf("%s: %q is read", key, list)
		}
	}
}

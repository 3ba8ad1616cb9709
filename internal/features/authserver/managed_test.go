package authserver

import (
	"strings"
	"testing"
)

// The client computes the checksum of the settings as JavaScript writes them.
func TestSettingsAreWrittenAsJavaScriptDoes(t *testing.T) {
	for text, want := range map[string]string{
		`{}`: `{}`,
		` { "b" : [ 1 , {"d":2,"c":null} ] , "a" : true } `: `{"a":true,"b":[1,{"c":null,"d":2}]}`,
		`{"html":"<a&b>"}`:           `{"html":"<a&b>"}`,
		`{"line":"\u2028\u2029"}`:    "{\"line\":\"\u2028\u2029\"}",
		`{"text":"\\u2028 \u00e9"}`:  `{"text":"\\u2028 é"}`,
		`{"n":12345678901234567890}`: `{"n":12345678901234567890}`,
	} {
		if got, err := canonical([]byte(text)); err != nil || string(got) != want {
			t.Errorf("%s: %s, %v, want %s", text, got, err, want)
		}
	}
	for _, text := range []string{``, `[]`, `null`, `{} {}`, `{"a":}`} {
		if _, err := ParseManaged("developer", []byte(text)); err == nil || !strings.Contains(err.Error(), "JSON object") {
			t.Errorf("%q: %v", text, err)
		}
	}
}

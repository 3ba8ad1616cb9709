package caddykit

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"
)

type placeOf struct {
	Region string `json:"region,omitempty"`
}

type placed struct {
	placeOf
	Name   string            `json:"name"`
	Secret string            `json:"secret" placeholders:"yes"`
	Dirs   []string          `json:"dirs"`
	Header map[string]string `json:"header"`
	Fields map[string]string `json:"fields" placeholders:"yes"`
	Raw    json.RawMessage   `json:"raw"`
	Inner  *placed           `json:"inner"`
	hidden string
}

func TestPlaceholdersAreRefusedWhereTheyAreNotReplaced(t *testing.T) {
	for want, m := range map[string]placed{
		"": {Name: "a", Secret: "{env.X}", Dirs: []string{"a{2,3}", "{trace_id}", "{}"}, Raw: json.RawMessage(`"{env.X}"`), hidden: "{env.X}"},
		"name: {env.X} is not replaced in this option: write {$X} in the Caddyfile, or the value itself": {Name: "{env.X}"},
		"a: dirs: {file./x} is not replaced in this option: write {$NAME} in the":                        {Name: "a", Dirs: []string{"x", "/x/{file./x}"}},
		"a: header: {$X} is not":             {Name: "a", Header: map[string]string{"A": "{$X}"}},
		"a: fields: {env.X} is":              {Name: "a", Fields: map[string]string{"A": "{env.X}", "{env.X}": "b"}},
		"a: inner b: region: {system.os} is": {Name: "a", Inner: &placed{Name: "b", placeOf: placeOf{Region: "{system.os}"}}},
	} {
		err := CheckPlaceholders(&m)
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

func TestANumberThatIsAPlaceholderIsExplained(t *testing.T) {
	var n int
	var text string
	options := Options{"max": Value(&n, ParseCount), "secret": Word(&text)}
	read := func(line string) error {
		d := caddyfile.NewTestDispenser("block {\n" + line + "\n}")
		d.Next()
		return options.Block(d)
	}
	if err := read("max {env.X}"); err == nil || !strings.Contains(err.Error(), "max: {env.X} is not replaced in this option: write {$X}") {
		t.Error(err)
	}
	if err := read("secret {env.X}"); err != nil || text != "{env.X}" {
		t.Errorf("%v, %q", err, text)
	}
	if err := read("secret {env.X} more"); err == nil || strings.Contains(err.Error(), "replaced") {
		t.Error(err)
	}
}

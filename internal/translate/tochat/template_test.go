package tochat

import (
	"strings"
	"testing"
)

func TestATemplateMatchesChunksThatDifferInTheirText(t *testing.T) {
	learn := func(chunk, text string) (tmpl textTemplate) {
		start := strings.Index(chunk, text)
		tmpl.learn([]byte(chunk), start, start+len(text))
		return tmpl
	}
	tmpl := learn(`{"a":"hello","b":"x"}`, `"hello"`)
	for chunk, want := range map[string]string{
		`{"a":"you","b":"x"}`:              "you",
		`{"a":"\"q\" \\","b":"x"}`:         `\"q\" \\`,
		`{"a":"x\",\"b\":\"x","b":"x"}`:    `x\",\"b\":\"x`,
		`{"a":"","b":"x"}`:                 "", // an empty piece is left to the walk
		`{"a":"you","b":"y"}`:              "",
		`{"a":"you","c":"z","b":"x"}`:      "",
		`{"a":"","c":"","b":"x"}`:          "",
		`{"z":"you","b":"x"}`:              "",
		`{"a":"x","b":"x"}`[:len(`{"a":`)]: "",
	} {
		if text, ok := tmpl.match([]byte(chunk)); ok != (want != "") || ok && string(text) != want {
			t.Errorf("%s: %s, %v", chunk, text, ok)
		}
	}
	tmpl.forget()
	if _, ok := tmpl.match([]byte(`{"a":"you","b":"x"}`)); ok {
		t.Error("a forgotten template matches")
	}
	long := learn(`{"a":"hello","b":"`+strings.Repeat("x", maxTemplate)+`"}`, `"hello"`)
	if len(long.before) > 0 {
		t.Error("a long chunk is kept")
	}
	text := strings.Repeat("x", 2*maxTemplate)
	if kept := learn(`{"a":"`+text+`","b":1}`, `"`+text+`"`); len(kept.before) == 0 {
		t.Error("a chunk with a long text is not kept")
	}
}

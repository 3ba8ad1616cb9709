//go:build linux

package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestAnOutputAgreesWithWhatThePageShows(t *testing.T) {
	for _, c := range []struct {
		shown, output string
		want          bool
	}{
		{"", "", true},
		{"", "an error\n", false},
		{"a\n", "a", true},
		{"a\n", "b\n", false},
		{"a\n", "a\nb\n", false},
		{"a…c (x)\n", "a b c (x)\n", true},
		{"a…c\n", "a\nc\n", false},
		{"a\n…\nd\n", "a\nb\nc\nd\n", true},
		{"a\n…\nd\n", "a\nd\n", true},
		{"a\n…\nd\n", "a\nb\n", false},
		{"NAME  STATE\nBen   …\n", "NAME     STATE  \nBen      active\n", true},
		{"a b\n", "ab\n", false},
	} {
		if got := agrees(c.shown, c.output); got != c.want {
			t.Errorf("shown %q, output %q: %v", c.shown, c.output, got)
		}
	}
}

func TestAPageIsReadInOrder(t *testing.T) {
	page := filepath.Join(t.TempDir(), "page.md")
	text := "# Title\n\n## One\n\n```sh\nexport A=1\n```\n\n## Two\n```console\n$ echo $A \\\n  b\n1 b\n$ true\n```\n```caddyfile\nkey a\n```\n"
	if err := os.WriteFile(page, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	steps, err := readPage(page)
	if err != nil || len(steps) != 4 {
		t.Fatalf("%v, %+v", err, steps)
	}
	for i, want := range []step{
		{section: "One", line: 6, command: "export A=1"},
		{section: "Two", line: 11, command: "echo $A \\\n  b", shown: "1 b\n", strict: true},
		{section: "Two", line: 14, command: "true", strict: true},
		{section: "Two", line: 17, options: "key a"},
	} {
		if steps[i] != want {
			t.Errorf("step %d is %+v, want %+v", i, steps[i], want)
		}
	}
	for _, wrong := range []string{"```python\n```\n", "```sh\n"} {
		if err := os.WriteFile(page, []byte(wrong), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := readPage(page); err == nil {
			t.Errorf("%q is taken", wrong)
		}
	}
}

func TestTheShellKeepsItsVariablesAndSaysHowACommandEnds(t *testing.T) {
	sh, err := startShell(t.TempDir(), []string{"PATH=" + os.Getenv("PATH")})
	if err != nil {
		t.Fatal(err)
	}
	defer sh.stop()
	for _, c := range []struct {
		command, want string
		fails         bool
	}{
		{command: "A=1; cd /"},
		{command: "echo $A; pwd; echo no >&2", want: "1\n/\nno\n"},
		{command: "cat; sleep 60 &", want: ""},
		{command: "false", fails: true},
		{command: "if", fails: true},
		{command: "echo still", want: "still\n"},
	} {
		out, err := sh.run(t.Context(), c.command)
		if (err != nil) != c.fails || !c.fails && out != c.want {
			t.Errorf("%s: %v, %q", c.command, err, out)
		}
	}
	if _, err := sh.run(t.Context(), "exit 3"); err == nil || !strings.Contains(err.Error(), "shell has ended") {
		t.Errorf("%v", err)
	}
}

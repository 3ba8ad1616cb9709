//go:build linux

package main

import (
	"fmt"
	"os"
	"regexp"
	"strings"

	"github.com/gatehouse-proxy/gatehouse/internal/testkit/manual"
)

// step is a command of the page, or lines that go into the gatehouse block of ./Caddyfile.
type step struct {
	section string
	line    int // of the page
	command string
	shown   string // what the page shows of its output
	strict  bool   // the output is compared; a step that is not must succeed
	options string // lines of a block of Caddyfile
}

// readPage returns the steps of a page in order: a block "sh" is one command; a block "console" has a
// command after each "$ ", with what it prints below; a block "caddyfile" is lines of the gatehouse block.
func readPage(path string) (steps []step, err error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	blocks, err := manual.Read(path, string(text))
	if err != nil {
		return nil, err
	}
	lines := strings.Split(string(text), "\n")
	for _, b := range blocks {
		section := ""
		for _, line := range lines[:b.Line] {
			if heading, ok := strings.CutPrefix(line, "## "); ok {
				section = heading
			}
		}
		first := step{section: section, line: b.Line + 1}
		switch b.Kind {
		case "sh":
			first.command = b.Text
			steps = append(steps, first)
		case "caddyfile":
			first.options = b.Text
			steps = append(steps, first)
		case "console":
			steps = append(steps, commands(first, b.Text)...)
		default:
			return nil, fmt.Errorf("%s: only sh, console and caddyfile can be run, not %q", b, b.Kind)
		}
	}
	return steps, nil
}

// commands are those of a block "console". A command whose line ends with a backslash goes on.
func commands(first step, text string) (steps []step) {
	first.strict = true
	continued := false
	for line := range strings.Lines(text) {
		command, ok := strings.CutPrefix(line, "$ ")
		switch last := len(steps) - 1; {
		case ok:
			first.command = command
			steps = append(steps, first)
		case continued:
			steps[last].command += line
		case last < 0: // the shell says what is wrong
			first.command = line
			steps = append(steps, first)
		default:
			steps[last].shown += line
		}
		continued = strings.HasSuffix(line, "\\\n") && (ok || continued)
		first.line++
	}
	return steps
}

var spaces = regexp.MustCompile(`[ \t]+`)

// agrees reports whether an output is the one that is shown. "…" stands for any text of a line, and on
// a line of its own for any lines. Columns may be wider than they are shown.
func agrees(shown, output string) bool {
	var pattern strings.Builder
	pattern.WriteString(`^`)
	for line := range strings.Lines(shown) {
		line = strings.TrimSpace(spaces.ReplaceAllString(line, " "))
		if line == "…" {
			pattern.WriteString(`(?s:.*)`)
			continue
		}
		parts := strings.Split(line, "…")
		for i := range parts {
			parts[i] = regexp.QuoteMeta(parts[i])
		}
		pattern.WriteString(strings.Join(parts, `.*`) + `\n`)
	}
	pattern.WriteString(`$`)
	var got strings.Builder
	for line := range strings.Lines(output) {
		got.WriteString(strings.TrimSpace(spaces.ReplaceAllString(line, " ")) + "\n")
	}
	return regexp.MustCompile(pattern.String()).MatchString(got.String())
}

//go:build linux

package main

import (
	"fmt"
	"os"
	"regexp"
	"strings"
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
	section, kind := "", ""
	var block []string
	for i, line := range strings.Split(string(text), "\n") {
		fence, fenced := strings.CutPrefix(line, "```")
		switch {
		case fenced && kind == "":
			if kind, block = fence, nil; kind != "sh" && kind != "console" && kind != "caddyfile" {
				return nil, fmt.Errorf("%s:%d: a block of %q: only sh, console and caddyfile can be run", path, i+1, kind)
			}
		case fenced:
			steps = append(steps, readBlock(kind, section, i+1-len(block), block)...)
			kind = ""
		case kind != "":
			block = append(block, line)
		case strings.HasPrefix(line, "## "):
			section = line[len("## "):]
		}
	}
	if kind != "" {
		return nil, fmt.Errorf("%s: the last block has no end", path)
	}
	return steps, nil
}

func readBlock(kind, section string, line int, block []string) (steps []step) {
	text := strings.Join(block, "\n")
	switch kind {
	case "sh":
		return []step{{section: section, line: line, command: text}}
	case "caddyfile":
		return []step{{section: section, line: line, options: text}}
	}
	continued := false
	for i, l := range block {
		command, ok := strings.CutPrefix(l, "$ ")
		switch last := len(steps) - 1; {
		case ok:
			steps = append(steps, step{section: section, line: line + i, command: command, strict: true})
		case last < 0:
			steps = append(steps, step{section: section, line: line + i, strict: true, command: "false # a block begins with $"})
		case continued:
			steps[last].command += "\n" + l
		default:
			steps[last].shown += l + "\n"
		}
		continued = strings.HasSuffix(l, `\`) && (ok || continued)
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

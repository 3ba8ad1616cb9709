package main

import (
	"bufio"
	"fmt"
	"io"
	"strings"
	"time"
)

// sayEvery is how often a long build says how far it is.
const sayEvery = 10 * time.Second

// progress copies what "go build -v" says to log, and tells out from time to time how many packages
// are compiled: one of its lines names each.
type progress struct {
	out, log io.Writer
	now      func() time.Time
}

func (p progress) follow(from io.Reader) error {
	begun := p.now()
	said, packages := begun, 0
	lines := bufio.NewScanner(from)
	for lines.Scan() {
		line := lines.Text()
		if !isPackage(line) {
			if _, err := fmt.Fprintln(p.log, line); err != nil {
				return err
			}
			continue
		}
		packages++
		if now := p.now(); now.Sub(said) >= sayEvery {
			said = now
			fmt.Fprintf(p.out, "mkcaddy: %d packages compiled in %v; a first build has about %d\n", packages, now.Sub(begun).Round(time.Second), allPackages)
		}
	}
	return lines.Err()
}

// allPackages is how many packages Caddy has with this plugin, as "go list -deps" counts them.
const allPackages = 1300

// isPackage reports whether a line is only the path of a package.
func isPackage(line string) bool { return line != "" && !strings.ContainsAny(line, " \t#:") }

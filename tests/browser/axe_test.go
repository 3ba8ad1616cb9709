package browser

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
)

// axeSource is the program that checks a page against WCAG.
var axeSource = sync.OnceValues(func() (string, error) {
	source, err := os.ReadFile(filepath.Join(*packages, "axe-core", "axe.min.js"))
	return string(source), err
})

// accessible fails the test for each violation of WCAG 2.2 AA that can be found by a program. The
// program runs by the debugging protocol, so that the page keeps its Content-Security-Policy.
func (b *tab) accessible(where string) {
	b.t.Helper()
	source, err := axeSource()
	if err != nil {
		b.t.Fatalf("axe-core is missing (.ci/suites browser installs it): %v", err)
	}
	evaluate[bool](b, "(() => {"+source+"\nreturn true})()")
	found := evaluate[struct {
		Violations []struct {
			ID, Help string
			Nodes    []struct{ HTML, FailureSummary string }
		}
		Passes int
	}](b, `axe.run(document, {runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"]})
		.then(r => ({Violations: r.violations.map(v => ({ID: v.id, Help: v.help, Nodes: v.nodes.map(n => ({HTML: n.html, FailureSummary: n.failureSummary}))})),
			Passes: r.passes.length}))`)
	for _, v := range found.Violations {
		var nodes []string
		for _, n := range v.Nodes {
			nodes = append(nodes, fmt.Sprintf("%s\n\t\t%s", n.HTML, strings.ReplaceAll(n.FailureSummary, "\n", "\n\t\t")))
		}
		b.t.Errorf("%s: %s: %s\n\t%s", where, v.ID, v.Help, strings.Join(nodes, "\n\t"))
	}
	if found.Passes < 5 {
		b.t.Errorf("%s: only %d rules had something to check", where, found.Passes)
	}
}

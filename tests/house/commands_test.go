package house

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/caddyserver/caddy/v2"
	caddycmd "github.com/caddyserver/caddy/v2/cmd"
	"github.com/spf13/cobra"

	"github.com/gatehouse-proxy/gatehouse/internal/testkit/manual"
)

// A command of the documentation exists, and has the flags that are named.
func TestDocumentedCommandsExist(t *testing.T) {
	root := &cobra.Command{Use: "gatehouse"}
	caddycmd.Commands()["gatehouse"].CobraFunc(root)
	pages, err := manual.Pages("../..")
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	for _, page := range pages {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for _, match := range documentedCommand.FindAllStringSubmatch(string(text), -1) {
			found++
			command := root
			for _, word := range strings.Fields(match[1]) {
				word = strings.TrimRight(word, ".,]")
				name, isFlag := strings.CutPrefix(word, "--")
				name, _, _ = strings.Cut(name, "=")
				if isFlag && command.Flag(name) == nil {
					t.Errorf("%s: %q: %s has no flag --%s", page, match[0], command.CommandPath(), name)
				}
				if next, _, err := command.Find([]string{word}); !isFlag && err == nil {
					command = next
				}
			}
			if command == root {
				t.Errorf("%s: %q is no command", page, match[0])
			}
		}
	}
	if found < 50 {
		t.Errorf("only %d commands were looked at", found)
	}
}

// documentedCommand ends with the code or the line, or before another command.
var documentedCommand = regexp.MustCompile("caddy gatehouse +([a-z][^`\n|#;()\"]*)")

// A metric, a directive or a view that a page names is one of the table of metrics (which a test of the
// operator holds to what a gateway has), a module, or one of the three views. An ellipsis stands for several.
func TestDocumentedNamesExist(t *testing.T) {
	table, err := os.ReadFile("../../docs/metrics.md")
	if err != nil {
		t.Fatal(err)
	}
	known := []string{"gatehouse_calls", "gatehouse_hours", "gatehouse_days"}
	for _, row := range metricRow.FindAllStringSubmatch(string(table), -1) {
		known = append(known, row[1])
	}
	for _, module := range caddy.GetModules("http.handlers") {
		known = append(known, module.ID.Name())
	}
	pages, err := manual.Pages("../..")
	if err != nil {
		t.Fatal(err)
	}
	for _, page := range pages {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for _, match := range gatehouseName.FindAllStringSubmatch(string(text), -1) {
			name, several := match[1], match[2] != ""
			if !slices.ContainsFunc(known, func(k string) bool {
				return k == name || k+"_bucket" == name || k+"_count" == name || k+"_sum" == name || several && strings.HasPrefix(k, name)
			}) {
				t.Errorf("%s: there is no %s", page, match[0])
			}
		}
	}
}

var (
	metricRow     = regexp.MustCompile("(?m)^\\| `(gatehouse_[a-z_]+)` \\|")
	gatehouseName = regexp.MustCompile(`\b(gatehouse_[a-z_]+)(…|\*)?`)
)

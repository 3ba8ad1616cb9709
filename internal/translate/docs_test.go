package translate_test

import (
	"maps"
	"os"
	"strings"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/translate"
)

// The manual's table has a row for each field of the table that is acted by:
// | `field` | fate | … |.
func TestTheManualsTableIsTheTable(t *testing.T) {
	text, err := os.ReadFile("../../docs/responses.md")
	if err != nil {
		t.Fatal(err)
	}
	_, table, ok := strings.Cut(string(text), "## Request fields\n")
	table, _, _ = strings.Cut(table, "\n## ")
	if !ok {
		t.Fatal("no section of request fields")
	}
	told := map[string]string{}
	for line := range strings.Lines(table) {
		cells := strings.Split(line, "|")
		if len(cells) < 4 || !strings.Contains(cells[1], "`") {
			continue
		}
		for field := range strings.SplitSeq(cells[1], ",") {
			told[strings.Trim(field, " `")] = strings.TrimSpace(cells[2])
		}
	}
	if fields := translate.Fields(); !maps.Equal(told, fields) {
		for field, fate := range fields {
			if told[field] != fate {
				t.Errorf("%s is %s, and the manual says %q", field, fate, told[field])
			}
			delete(told, field)
		}
		for field := range told {
			t.Errorf("%s is in the manual alone", field)
		}
	}
}

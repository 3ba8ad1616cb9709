package translate_test

import (
	"maps"
	"os"
	"strings"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/translate"
)

// The manual's tables have a row for each field of the tables that are acted
// by: | `field` | fate | … |.
func TestTheManualsTablesAreTheTables(t *testing.T) {
	text, err := os.ReadFile("../../docs/responses.md")
	if err != nil {
		t.Fatal(err)
	}
	for section, fields := range map[string]map[string]string{
		"Request fields": translate.Fields(), "Chat request fields": translate.ChatFields(),
	} {
		told := fatesIn(t, string(text), section)
		if maps.Equal(told, fields) {
			continue
		}
		for field, fate := range fields {
			if told[field] != fate {
				t.Errorf("%s: %s is %s, and the manual says %q", section, field, fate, told[field])
			}
			delete(told, field)
		}
		for field := range told {
			t.Errorf("%s: %s is in the manual alone", section, field)
		}
	}
}

// fatesIn reads a section's table.
func fatesIn(t *testing.T, manual, section string) map[string]string {
	t.Helper()
	_, table, ok := strings.Cut(manual, "\n### "+section+"\n")
	table, _, _ = strings.Cut(table, "\n##")
	if !ok {
		t.Fatalf("no section %q", section)
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
	return told
}

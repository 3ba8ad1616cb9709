package translatetest

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/translate"
)

// CheckManual checks that a section of a page in docs has a row for each field of a table and no
// other: | `field`, … | disposition | … |.
func CheckManual(t *testing.T, page, section string, fields map[string]translate.Disposition) {
	t.Helper()
	manual, err := os.ReadFile(filepath.Join("../../../docs", page))
	if err != nil {
		t.Fatal(err)
	}
	documented := documentedFields(t, string(manual), section)
	if maps.Equal(documented, fields) {
		return
	}
	for field, d := range fields {
		if documented[field] != d {
			t.Errorf("%s: %s is %s, and the manual says %q", section, field, d, documented[field])
		}
		delete(documented, field)
	}
	for field := range documented {
		t.Errorf("%s: %s is only in the manual", section, field)
	}
}

// documentedFields reads a section's table.
func documentedFields(t *testing.T, manual, section string) map[string]translate.Disposition {
	t.Helper()
	_, table, ok := strings.Cut(manual, "\n### "+section+"\n")
	table, _, _ = strings.Cut(table, "\n##")
	if !ok {
		t.Fatalf("no section %q", section)
	}
	documented := map[string]translate.Disposition{}
	for line := range strings.Lines(table) {
		cells := strings.Split(line, "|")
		if len(cells) < 4 || !strings.Contains(cells[1], "`") {
			continue
		}
		for field := range strings.SplitSeq(cells[1], ",") {
			documented[strings.Trim(field, " `")] = translate.Disposition(strings.TrimSpace(cells[2]))
		}
	}
	return documented
}

// CheckShown checks that every field of a table that is not refused stands in a golden file.
func CheckShown(t *testing.T, fields map[string]translate.Disposition) {
	t.Helper()
	shown := map[string]json.RawMessage{}
	for _, g := range Goldens(t) {
		request := g.File("request.json")
		if request == "" { // of an answer alone
			continue
		}
		if err := json.Unmarshal([]byte(request), &shown); err != nil {
			t.Fatal(err)
		}
	}
	for key, d := range fields {
		if _, ok := shown[key]; !ok && d != translate.Refused {
			t.Errorf("no golden file has the field %q", key)
		}
	}
}

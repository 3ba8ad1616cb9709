package translatetest

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"slices"
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

// CheckUnlike checks the fields of a table that the provider lacks, at least so many: a field is refused
// or left out, and neither if its value asks for nothing. Translate translates a request that has a
// member, and returns the fields that were left out.
func CheckUnlike(t *testing.T, fields map[string]translate.Disposition, least int, translated func(member string) (leftOut []string, err error)) {
	t.Helper()
	tried := 0
	for key, d := range fields {
		if d != translate.Refused && d != translate.LeftOut {
			continue
		}
		tried++
		left, err := translated(`"` + key + `":"x"`)
		if d == translate.Refused {
			MustRefuse(t, key, err, key, "unsupported_parameter")
		} else if err != nil || !slices.Equal(left, []string{key}) {
			t.Errorf("%s is not left out and named: %v", key, err)
		}
		for _, value := range translate.ChatNeutral[key] {
			if left, err := translated(`"` + key + `":` + value); err != nil || len(left) > 0 {
				t.Errorf("%s: %s asks for nothing, and is refused or named: %v", key, value, err)
			}
		}
	}
	if tried < least {
		t.Errorf("only %d fields were tried", tried)
	}
}

// Nulls returns members that are null for the fields of a table but those, behind a comma each.
func Nulls(fields map[string]translate.Disposition, without ...string) (members string) {
	for key := range fields {
		if !slices.Contains(without, key) {
			members += `,"` + key + `":null`
		}
	}
	return members
}

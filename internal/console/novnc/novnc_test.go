package novnc

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"maps"
	"os"
	"path"
	"regexp"
	"testing"
)

// The hashes are those of the files in the archive whose integrity vendor.json has.
func TestTheFilesAreUnmodified(t *testing.T) {
	vendor := readVendor(t)
	left := maps.Clone(vendor.Files)
	for name, content := range Files() {
		sum := sha256.Sum256(content)
		if got, want := hex.EncodeToString(sum[:]), vendor.Files[name]; got != want {
			t.Errorf("%s has the hash %s, want %q", name, got, want)
		}
		delete(left, name)
	}
	for name := range left {
		t.Errorf("%s is missing", name)
	}
}

var imported = regexp.MustCompile(`(?m)^(?:import|export)\b[^;]*?["'](\.[^"']+)["'];`)

// A browser finds the files by paths relative to one another.
func TestEveryImportLeadsToAFile(t *testing.T) {
	files, seen := Files(), map[string]bool{}
	var visit func(name string)
	visit = func(name string) {
		if seen[name] {
			return
		}
		seen[name] = true
		if _, ok := files[name]; !ok {
			t.Errorf("%s is imported, and is not there", name)
		}
		for _, match := range imported.FindAllSubmatch(files[name], -1) {
			visit(path.Join(path.Dir(name), string(match[1])))
		}
	}
	visit("core/rfb.js")
	if len(seen) < 40 {
		t.Errorf("only %d files are imported: %v", len(seen), seen)
	}
}

func TestEveryLicenceHasItsText(t *testing.T) {
	vendor := readVendor(t)
	if len(vendor.Licenses) != 3 {
		t.Errorf("%d licences, want 3", len(vendor.Licenses))
	}
	for license, texts := range vendor.Licenses {
		for _, text := range texts {
			if _, ok := vendor.Files[text]; !ok {
				t.Errorf("the text %s of %s is missing", text, license)
			}
		}
	}
}

type vendor struct {
	Licenses map[string][]string `json:"licenses"` // the files with their texts
	Files    map[string]string   `json:"files"`    // their SHA-256
}

func readVendor(t *testing.T) (v vendor) {
	t.Helper()
	data, err := os.ReadFile("vendor.json")
	if err == nil {
		err = json.Unmarshal(data, &v)
	}
	if err != nil {
		t.Fatal(err)
	}
	return v
}

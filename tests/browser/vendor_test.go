package browser

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// npm has checked the archive against the integrity of package-lock.json. So the console has just the
// files of the archive whose integrity vendor.json has.
func TestTheViewerIsThatOfThePackage(t *testing.T) {
	const ours, name = "../../internal/console/novnc", "@novnc/novnc"
	var vendor struct {
		Version   string            `json:"version"`
		Integrity string            `json:"integrity"`
		Files     map[string]string `json:"files"`
	}
	var lock struct {
		Packages map[string]struct{ Version, Integrity string } `json:"packages"`
	}
	for file, into := range map[string]any{filepath.Join(ours, "vendor.json"): &vendor, "node/package-lock.json": &lock} {
		text, err := os.ReadFile(file)
		if err == nil {
			err = json.Unmarshal(text, into)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if locked := lock.Packages["node_modules/"+name]; locked.Integrity != vendor.Integrity || locked.Version != vendor.Version {
		t.Errorf("vendor.json has %s %s, the lock %+v", vendor.Version, vendor.Integrity, locked)
	}
	if len(vendor.Files) < 50 {
		t.Errorf("vendor.json has %d files only", len(vendor.Files))
	}
	for file := range vendor.Files {
		theirs, err := os.ReadFile(filepath.Join(*packages, name, file))
		if err != nil {
			t.Error(err)
		}
		here, err := os.ReadFile(filepath.Join(ours, "package", strings.TrimPrefix(file, "vendor/")))
		if err != nil || !bytes.Equal(here, theirs) {
			t.Errorf("%s differs from that of the package (%v)", file, err)
		}
	}
}

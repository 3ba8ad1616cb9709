package cluster

import (
	"os"
	"path/filepath"
	"testing"
)

func TestTheNameOfANodeIsKept(t *testing.T) {
	dir := t.TempDir()
	first, err := nodeName(dir)
	if err != nil || !nodeNames.MatchString(first) {
		t.Fatalf("%q, %v", first, err)
	}
	if again, err := nodeName(dir); err != nil || again != first {
		t.Errorf("%q after %q, %v", again, first, err)
	}
	if other, err := nodeName(t.TempDir()); err != nil || other == first {
		t.Errorf("another data directory has %q, %v", other, err)
	}
	if err := os.WriteFile(filepath.Join(dir, nodeFile), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if name, err := nodeName(dir); err == nil {
		t.Errorf("an empty file is the name %q", name)
	}
}

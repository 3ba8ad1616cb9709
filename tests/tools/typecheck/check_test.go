package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func module(t *testing.T, files map[string]string) string {
	t.Helper()
	t.Setenv("GOFLAGS", "")
	t.Setenv("GOWORK", "off")
	dir := t.TempDir()
	files["go.mod"] = "module example.com/m\n\ngo 1.26\n"
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestAConstantThatOverflowsAnIntIsFoundOn32Bits(t *testing.T) {
	dir := module(t, map[string]string{"m.go": "package m\n\nfunc F() int { return 1 << 40 }\n"})
	if n, err := check(dir, []string{"./..."}, "linux/amd64"); err != nil || n != 1 {
		t.Errorf("linux/amd64: %d packages, %v", n, err)
	}
	if _, err := check(dir, []string{"./..."}, "linux/386"); err == nil || !strings.Contains(err.Error(), "overflows") {
		t.Errorf("linux/386: %v", err)
	}
}

func TestWhatAPlatformLacksIsFound(t *testing.T) {
	dir := module(t, map[string]string{
		"m.go":       "package m\n\nimport \"errors\"\n\nvar Err = errors.New(text)\n",
		"m_linux.go": "package m\n\nconst text = \"x\"\n",
	})
	if n, err := check(dir, []string{"./..."}, "linux/arm"); err != nil || n < 2 {
		t.Errorf("linux/arm: %d packages, %v", n, err)
	}
	if _, err := check(dir, []string{"./..."}, "windows/amd64"); err == nil || !strings.Contains(err.Error(), "undefined: text") {
		t.Errorf("windows/amd64: %v", err)
	}
}

func TestAPackageWithoutAFileForAPlatformIsFound(t *testing.T) {
	dir := module(t, map[string]string{"m_linux.go": "package m\n"})
	if _, err := check(dir, []string{"."}, "freebsd/amd64"); err == nil || !strings.Contains(err.Error(), "exclude all Go files") {
		t.Errorf("got %v", err)
	}
}

func TestAnUnknownPlatformIsRefused(t *testing.T) {
	for _, target := range []string{"linux", "linux/i386", ""} {
		if _, err := check(".", []string{"."}, target); err == nil {
			t.Errorf("%q is taken", target)
		}
	}
}

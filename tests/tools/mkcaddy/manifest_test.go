package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func write(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "xcaddy.json")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestLocalReplacementsAreRelativeToTheManifest(t *testing.T) {
	path := write(t, `{"caddy_version":"v2.11.9","replacements":[
		{"old":"example.com/a","new":"."},
		{"old":"example.com/b","new":"./sub"},
		{"old":"example.com/c","new":"../beside"},
		{"old":"example.com/d","new":"/elsewhere"},
		{"old":"example.com/e","new":"example.com/fork@v1.0.0"}]}`)
	b, err := readManifest(path)
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Dir(path)
	want := []string{dir, filepath.Join(dir, "sub"), filepath.Join(filepath.Dir(dir), "beside"), "/elsewhere", "example.com/fork@v1.0.0"}
	for i, r := range b.Replacements {
		if got := r.New.String(); got != want[i] {
			t.Errorf("%s is replaced by %q, want %q", r.Old, got, want[i])
		}
	}
}

func TestBadManifestsAreRefused(t *testing.T) {
	for name, tc := range map[string]struct{ text, want string }{
		"unknown field":   {`{"caddy_version":"v2.11.9","plugin":[]}`, `"plugin"`},
		"no version":      {`{"plugins":[]}`, "caddy_version"},
		"not JSON":        {`caddy`, "invalid character"},
		"bytes after it":  {`{"caddy_version":"v2.11.9"} {}`, "more than one value"},
		"unknown in part": {`{"caddy_version":"v2.11.9","plugins":[{"module":"x"}]}`, `"module"`},
	} {
		_, err := readManifest(write(t, tc.text))
		if err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: error is %v, want one with %s", name, err, tc.want)
		}
	}
	if _, err := readManifest(filepath.Join(t.TempDir(), "absent.json")); !os.IsNotExist(err) {
		t.Errorf("absent manifest: error is %v", err)
	}
}

func TestTheRepositorysManifestIsGood(t *testing.T) {
	b, err := readManifest("../../../xcaddy.json")
	if err != nil {
		t.Fatal(err)
	}
	root := b.Replacements[0].New.String()
	if _, err := os.Stat(filepath.Join(root, "go.mod")); err != nil {
		t.Errorf("the replacement is no module: %v", err)
	}
	if ours := b.Plugins[0].PackagePath; !within(ours, b.Replacements[0].Old.String()) {
		t.Errorf("%q is not inside the replaced module %q", ours, b.Replacements[0].Old)
	}
}

func TestAPackageIsWithinItsModuleOnly(t *testing.T) {
	for pkg, want := range map[string]bool{"a.b/c": true, "a.b/c/d": true, "a.b/cd": false, "a.b": false} {
		if got := within(pkg, "a.b/c"); got != want {
			t.Errorf("within(%q, a.b/c) = %t", pkg, got)
		}
	}
}

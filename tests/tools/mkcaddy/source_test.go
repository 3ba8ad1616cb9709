package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/caddyserver/xcaddy"
)

func git(t *testing.T, dir string, args ...string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "git", append([]string{"-C", dir, "-c", "user.name=t", "-c", "user.email=t@example.com"}, args...)...)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("git %v: %v\n%s", args, err, out)
	}
}

// buildFlags returns what mkcaddy builds the module in a folder with.
func buildFlags(t *testing.T, dir string) string {
	t.Helper()
	b := xcaddy.Builder{Replacements: []xcaddy.Replace{{Old: ownModule, New: xcaddy.ReplacementPath(dir)}}}
	if err := stamp(t.Context(), &b); err != nil {
		t.Fatal(err)
	}
	return b.BuildFlags
}

func TestTheCommitIsStamped(t *testing.T) {
	const plain = "-trimpath -tags nobadger,nomysql,nopgx -ldflags '-w -s'"
	tree := t.TempDir()
	inside := filepath.Join(tree, "vendored")
	if err := os.Mkdir(inside, 0o700); err != nil {
		t.Fatal(err)
	}
	if got := buildFlags(t, tree); got != plain {
		t.Errorf("a source archive: %s", got)
	}
	git(t, tree, "init", "--quiet")
	if got := buildFlags(t, tree); got != plain {
		t.Errorf("before the first commit: %s", got)
	}
	git(t, tree, "commit", "--quiet", "--allow-empty", "--message", "first")
	stamped := regexp.MustCompile(`^-trimpath -tags nobadger,nomysql,nopgx -ldflags '-w -s -X github.com/gatehouse-proxy/gatehouse/internal/version.commit=[0-9a-f]{12}(-dirty)?'$`)
	if got := buildFlags(t, tree); !stamped.MatchString(got) || strings.Contains(got, "dirty") {
		t.Errorf("a clean work tree: %s", got)
	}
	if got := buildFlags(t, inside); got != plain {
		t.Errorf("an archive in the work tree of something else: %s", got)
	}
	if err := os.WriteFile(filepath.Join(tree, "new.go"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if got := buildFlags(t, tree); !stamped.MatchString(got) || !strings.Contains(got, "-dirty'") {
		t.Errorf("a changed work tree: %s", got)
	}
	own := xcaddy.Builder{BuildFlags: "-tags mine", Replacements: []xcaddy.Replace{{Old: ownModule, New: xcaddy.ReplacementPath(tree)}}}
	if err := stamp(t.Context(), &own); err != nil || own.BuildFlags != "-tags mine" {
		t.Errorf("flags of the manifest became %q, %v", own.BuildFlags, err)
	}
}

func TestThePathOfTheSourceIsNotBuiltIn(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	source, before := t.TempDir(), os.TempDir()
	published := xcaddy.Replace{Old: "example.com/e", New: "example.com/fork@v1.0.0"}
	b := xcaddy.Builder{Replacements: []xcaddy.Replace{{Old: ownModule, New: xcaddy.ReplacementPath(source)}, published}}
	remove, err := linkSources(&b)
	if err != nil {
		t.Fatal(err)
	}
	if got := b.Replacements[0].New; got != "../github.com-gatehouse-proxy-gatehouse" || b.Replacements[1] != published {
		t.Errorf("the replacements are %v", b.Replacements)
	}
	// Where xcaddy builds.
	build, err := os.MkdirTemp("", "buildenv")
	if err != nil {
		t.Fatal(err)
	}
	if at, err := filepath.EvalSymlinks(filepath.Join(build, b.Replacements[0].New.String())); err != nil || at != source {
		t.Errorf("it leads to %q, %v", at, err)
	}
	if err := remove(); err != nil || os.TempDir() != before {
		t.Errorf("%v; temporary files are in %s", err, os.TempDir())
	}
	if left, err := os.ReadDir(before); err != nil || len(left) > 0 {
		t.Errorf("left are %v, %v", left, err)
	}
}

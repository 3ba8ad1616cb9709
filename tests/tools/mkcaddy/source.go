package main

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/caddyserver/xcaddy"
)

const (
	ownModule = "github.com/gatehouse-proxy/gatehouse"
	// flags are what xcaddy builds with if nothing else is said.
	flags = "-trimpath -tags nobadger,nomysql,nopgx -ldflags '-w -s"
)

// stamp lets the linker write the commit of the source into the program. A manifest with flags of
// its own keeps them as they are.
func stamp(ctx context.Context, b *xcaddy.Builder) error {
	i := slices.IndexFunc(b.Replacements, func(r xcaddy.Replace) bool { return r.Old.String() == ownModule })
	if i < 0 || b.BuildFlags != "" {
		return nil
	}
	commit, err := commitOf(ctx, b.Replacements[i].New.String())
	if commit != "" {
		b.BuildFlags = flags + " -X " + ownModule + "/internal/version.commit=" + commit + "'"
	}
	return err
}

// commitOf returns the first 12 digits of the commit of a work tree, with "-dirty" if files were
// changed. It is "" for a folder that is none, such as a source archive: also if that lies in the
// work tree of something else.
func commitOf(ctx context.Context, dir string) (string, error) {
	dir, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return "", err
	}
	if _, err := os.Stat(filepath.Join(dir, ".git")); errors.Is(err, os.ErrNotExist) {
		return "", nil
	}
	git := func(args ...string) (string, error) {
		// The work tree may belong to another user: it is built all the same.
		out, err := exec.CommandContext(ctx, "git", append([]string{"-C", dir, "-c", "safe.directory=" + dir}, args...)...).Output()
		return strings.TrimSpace(string(out)), err
	}
	commit, err := git("rev-parse", "HEAD")
	if err != nil {
		return "", nil //nolint:nilerr // without git, or before the first commit, there is none to name
	}
	changed, err := git("status", "--porcelain")
	if changed != "" {
		return commit[:12] + "-dirty", err
	}
	return commit[:12], err
}

// linkSources links each local replacement under a name that does not tell where it is: the path of
// a replacement is written into the program. The returned function removes the links.
func linkSources(b *xcaddy.Builder) (remove func() error, err error) {
	dir, err := os.MkdirTemp("", "mkcaddy")
	if err != nil {
		return nil, err
	}
	b.Replacements = slices.Clone(b.Replacements)
	for i, r := range b.Replacements {
		if !filepath.IsAbs(r.New.String()) {
			continue
		}
		name := strings.ReplaceAll(r.Old.String(), "/", "-")
		err = errors.Join(err, os.Symlink(r.New.String(), filepath.Join(dir, name)))
		b.Replacements[i].New = xcaddy.ReplacementPath("../" + name)
	}
	// xcaddy makes its folder here.
	before := os.Getenv("TMPDIR")
	err = errors.Join(err, os.Setenv("TMPDIR", dir))
	return func() error { return errors.Join(os.Setenv("TMPDIR", before), os.RemoveAll(dir)) }, err
}

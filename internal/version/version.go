// Package version says what the program was built from.
package version

import (
	"cmp"
	_ "embed"
	"runtime/debug"
	"strings"
)

// The modules whose versions are shown.
const (
	ownModule   = "github.com/gatehouse-proxy/gatehouse"
	caddyModule = "github.com/caddyserver/caddy/v2"
)

// release is the newest release in the source. CHANGELOG.md has it too, which a test compares.
//
//go:embed VERSION
var release string

// commit is set by the linker (mkcaddy). The go command knows none: to it the source is a
// dependency.
var commit string

// Build is what the process was built from.
type Build struct {
	// Version is that of the module, if it was downloaded as one, else the newest release in the
	// source.
	Version string `json:"version"`
	// Commit has the first 12 digits, and "-dirty" after them if files were changed; "unknown" if
	// the source came without its history.
	Commit    string `json:"commit"`
	Caddy     string `json:"caddy_version"`
	GoVersion string `json:"go_version"`
}

// Read returns what the process was built from.
func Read() Build {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		info = new(debug.BuildInfo)
	}
	return read(info)
}

func read(info *debug.BuildInfo) Build {
	own, fromVersion := "v"+strings.TrimSpace(release), ""
	if v := versionOf(info, ownModule); v != "" {
		own, fromVersion = v, commitOf(v)
	}
	return Build{
		Version: own, Commit: cmp.Or(commit, fromVersion, builtHere(info), "unknown"),
		Caddy: cmp.Or(versionOf(info, caddyModule), "unknown"), GoVersion: info.GoVersion,
	}
}

// versionOf returns the version at which a module was downloaded, "" for a folder on this machine.
func versionOf(info *debug.BuildInfo, path string) string {
	for _, m := range info.Deps {
		if m.Path != path {
			continue
		}
		if m.Replace != nil {
			m = m.Replace
		}
		if m.Version != "(devel)" {
			return m.Version
		}
	}
	return ""
}

// commitOf returns the commit in a pseudo-version (v0.1.1-0.20261128174656-e2c24e0893f7), "" for a
// tag.
func commitOf(v string) string {
	v, _, _ = strings.Cut(v, "+")
	parts := strings.Split(v, "-")
	if last := parts[len(parts)-1]; len(parts) > 2 && len(last) == 12 {
		return last
	}
	return ""
}

// builtHere returns the commit of a program whose main package is ours.
func builtHere(info *debug.BuildInfo) string {
	if info.Main.Path != ownModule {
		return ""
	}
	var at, dirty string
	for _, s := range info.Settings {
		switch {
		case s.Key == "vcs.revision" && len(s.Value) >= 12:
			at = s.Value[:12]
		case s.Key == "vcs.modified" && s.Value == "true":
			dirty = "-dirty"
		}
	}
	if at == "" {
		return ""
	}
	return at + dirty
}

package version

import (
	"os"
	"regexp"
	"runtime/debug"
	"strings"
	"testing"
)

func TestEachWayOfBuildingHasItsVersion(t *testing.T) {
	stamped := "v" + strings.TrimSpace(release)
	caddy := &debug.Module{Path: caddyModule, Version: "v2.11.9"}
	dep := func(version string, replace *debug.Module) *debug.BuildInfo {
		return &debug.BuildInfo{
			Main: debug.Module{Path: "caddy", Version: "(devel)"},
			Deps: []*debug.Module{caddy, {Path: ownModule, Version: version, Replace: replace}},
			// The commit of whatever folder the main package is in.
			Settings: []debug.BuildSetting{{Key: "vcs.revision", Value: "ffffffffffffffffffff"}},
		}
	}
	here := &debug.BuildInfo{Main: debug.Module{Path: ownModule, Version: "v0.0.0-20261128174656-e2c24e0893f7+dirty"}, Deps: []*debug.Module{caddy}}
	clean, dirty := *here, *here
	clean.Settings = []debug.BuildSetting{{Key: "vcs.revision", Value: "e2c24e0893f7ce7eb10b0451798ca59475a45b18"}, {Key: "vcs.modified", Value: "false"}}
	dirty.Settings = []debug.BuildSetting{{Key: "vcs.revision", Value: "e2c24e0893f7ce7eb10b0451798ca59475a45b18"}, {Key: "vcs.modified", Value: "true"}}
	const none = "v0.0.0-00010101000000-000000000000" // of a module that only a folder has
	for name, c := range map[string]struct {
		info            *debug.BuildInfo
		linked          string
		version, commit string
	}{
		"a tag":                     {dep("v0.1.0", nil), "", "v0.1.0", "unknown"},
		"a pre-release":             {dep("v0.2.0-rc.1", nil), "", "v0.2.0-rc.1", "unknown"},
		"a commit":                  {dep("v0.1.1-0.20261128174656-e2c24e0893f7", nil), "", "v0.1.1-0.20261128174656-e2c24e0893f7", "e2c24e0893f7"},
		"a published fork":          {dep(none, &debug.Module{Path: "example.com/fork", Version: "v0.3.0"}), "", "v0.3.0", "unknown"},
		"a folder":                  {dep(none, &debug.Module{Path: "../source", Version: "(devel)"}), "", stamped, "unknown"},
		"a folder, stamped":         {dep(none, &debug.Module{Path: "../source", Version: "(devel)"}), "e2c24e0893f7-dirty", stamped, "e2c24e0893f7-dirty"},
		"here":                      {here, "", stamped, "unknown"},
		"here, with history":        {&clean, "", stamped, "e2c24e0893f7"},
		"here, with changed files":  {&dirty, "", stamped, "e2c24e0893f7-dirty"},
		"without build information": {new(debug.BuildInfo), "", stamped, "unknown"},
	} {
		commit = c.linked
		b := read(c.info)
		if b.Version != c.version || b.Commit != c.commit || (b.Caddy == "v2.11.9") != (len(c.info.Deps) > 0) {
			t.Errorf("%s: %+v, want %s of %s", name, b, c.version, c.commit)
		}
	}
	commit = ""
}

// The build and the changelog agree on what the newest release is.
func TestTheVersionIsTheNewestRelease(t *testing.T) {
	changes, err := os.ReadFile("../../CHANGELOG.md")
	if err != nil {
		t.Fatal(err)
	}
	headings := regexp.MustCompile(`(?m)^## (.*)$`).FindAllStringSubmatch(string(changes), -1)
	if len(headings) < 2 || headings[0][1] != "Unreleased" {
		t.Fatalf("the changelog has %v: first comes Unreleased, then the newest release", headings)
	}
	newest := regexp.MustCompile(`^(\d+\.\d+\.\d+) - \d{4}-\d{2}-\d{2}$`).FindStringSubmatch(headings[1][1])
	if newest == nil || newest[1]+"\n" != release {
		t.Errorf("VERSION is %q, the newest release of the changelog %q", release, headings[1][1])
	}
}

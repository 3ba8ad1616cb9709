package main

import (
	"os"
	"slices"
	"strings"
	"testing"
)

func TestCountsReadTAPAndGoTest(t *testing.T) {
	for output, want := range map[string][2]int{
		"ok 1 - a\nnot ok 2 - b\n# not ok 3 - quoted\n1..2\n":                               {1, 1},
		"=== RUN   TestA\n--- PASS: TestA (0.0s)\n    --- PASS: TestA/x\n--- FAIL: TestB\n": {1, 1},
		"Traceback\n": {},
	} {
		if passed, failed := count([]byte(output)); passed != want[0] || failed != want[1] {
			t.Errorf("%q counts as %d passed and %d failed, want %v", output, passed, failed, want)
		}
	}
}

func shell(script string) suite {
	return suite{name: "s", command: []string{"sh", "-c", script}}
}

func TestASuiteThatCrashesOrRunsNothingFails(t *testing.T) {
	for script, want := range map[string][2]int{
		"echo 'ok 1 - a'":         {1, 0},
		"echo 'ok 1 - a'; exit 3": {1, 1},
		"true":                    {0, 1},
		"echo 'ok 1 - a'; echo 'not ok 2 - b'; false": {1, 1},
	} {
		got := shell(script).run(t.Context(), os.Environ())
		if got.Passed != want[0] || got.Failed != want[1] {
			t.Errorf("%q: %s", script, got)
		}
	}
}

func TestAMissingPeerIsAFailure(t *testing.T) {
	for _, s := range suites(peers{sources: "tests/sdk"}) {
		if r := s.run(t.Context(), nil); r.Failed != 1 || r.Passed != 0 {
			t.Errorf("%s without its peer: %s", s.name, r)
		}
	}
}

func TestEverySDKMeetsEveryProviderAndEveryRefusal(t *testing.T) {
	seen := make(map[string]int)
	for _, s := range suites(peers{}) {
		name, target, _ := strings.Cut(s.name, "/")
		if target != s.target {
			t.Errorf("%s runs against %q", s.name, s.target)
		}
		if !s.https && !slices.Contains([]string{cloudsTarget, sourcesTarget, mcpTarget}, s.target) {
			seen[name]++
		}
	}
	for name, n := range seen {
		want := 8
		if strings.HasPrefix(name, "openrouter-") {
			want++ // keys
		}
		if strings.HasPrefix(name, "anthropic-") {
			want = 2 // an older major, or the newest
			if n > want {
				want = 6
			}
		}
		if strings.HasSuffix(name, "-media") {
			want = len(mediaTargets)
		}
		if strings.HasPrefix(name, "google-") {
			want = len(googleTargets)
		}
		if n != want {
			t.Errorf("%s runs %d times", name, n)
		}
	}
}

package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestCountsReadTAPAndGoTest(t *testing.T) {
	for output, want := range map[string]result{
		"ok 1 - a\nnot ok 2 - b\n# not ok 3 - quoted\n1..2\n":                               {passed: 1, failed: 1},
		"=== RUN   TestA\n--- PASS: TestA (0.0s)\n    --- PASS: TestA/x\n--- FAIL: TestB\n": {passed: 1, failed: 1},
		"Traceback\n": {},
	} {
		if got := count([]byte(output)); got != want {
			t.Errorf("%q counts as %+v, want %+v", output, got, want)
		}
	}
}

func shell(script string) suite {
	return suite{name: "s", command: []string{"sh", "-c", script}}
}

func TestASuiteThatCrashesOrRunsNothingFails(t *testing.T) {
	for script, want := range map[string]result{
		"echo 'ok 1 - a'":         {passed: 1},
		"echo 'ok 1 - a'; exit 3": {passed: 1, failed: 1},
		"true":                    {failed: 1},
		"echo 'ok 1 - a'; echo 'not ok 2 - b'; false": {passed: 1, failed: 1},
	} {
		got := shell(script).run(t.Context(), os.Environ())
		if got.passed != want.passed || got.failed != want.failed {
			t.Errorf("%q: %s", script, got)
		}
	}
}

func TestAMissingPeerIsAFailure(t *testing.T) {
	for _, s := range suites(peers{sources: "tests/sdk"}) {
		if r := s.run(t.Context(), nil); r.failed != 1 || r.passed != 0 {
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
		if !s.https {
			seen[name]++
		}
	}
	for name, n := range seen {
		if n != 5 {
			t.Errorf("%s runs %d times", name, n)
		}
	}
}

func TestResultsAreAppended(t *testing.T) {
	file := filepath.Join(t.TempDir(), "results")
	for _, r := range []result{{name: "a/test", passed: 2}, {name: "b/fake", failed: 1}} {
		if err := r.appendTo(file); err != nil {
			t.Fatal(err)
		}
	}
	text, err := os.ReadFile(file)
	if want := "sdk a/test\t2\t0\t0\nsdk b/fake\t0\t1\t0\n"; err != nil || string(text) != want {
		t.Errorf("%q, %v; want %q", text, err, want)
	}
}

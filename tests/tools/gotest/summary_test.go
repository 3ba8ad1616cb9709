package main

import (
	"strings"
	"testing"
)

func summarise(t *testing.T, strict bool, lines ...string) (text string, ok bool) {
	t.Helper()
	var w strings.Builder
	s := newSummary(&w)
	if err := s.read(strings.NewReader(strings.Join(lines, "\n"))); err != nil {
		t.Fatal(err)
	}
	ok = s.finish(strict)
	return w.String(), ok
}

func TestOnlyTheOutputOfFailedTestsIsShown(t *testing.T) {
	text, ok := summarise(t, false,
		`{"Action":"output","Package":"p","Test":"TestGood","Output":"quiet\n"}`,
		`{"Action":"pass","Package":"p","Test":"TestGood"}`,
		`{"Action":"output","Package":"p","Test":"TestBad/sub","Output":"loud\n"}`,
		`{"Action":"fail","Package":"p","Test":"TestBad/sub"}`,
		`{"Action":"fail","Package":"p","Test":"TestBad"}`,
		`{"Action":"fail","Package":"p"}`)
	if want := "loud\nFAIL p\n1 passed, 1 failed, 0 skipped\n"; text != want || ok {
		t.Errorf("got %q, %t; want %q", text, ok, want)
	}
}

func TestAPackageThatDoesNotBuildIsOneFailure(t *testing.T) {
	text, ok := summarise(t, false,
		`{"Action":"pass","Package":"q","Test":"TestGood"}`,
		`{"ImportPath":"p [p.test]","Action":"build-output","Output":"p.go:1: syntax error\n"}`,
		`{"ImportPath":"p [p.test]","Action":"build-fail"}`,
		`{"Action":"output","Package":"p","Output":"FAIL p [build failed]\n"}`,
		`{"Action":"fail","Package":"p","FailedBuild":"p [p.test]"}`)
	if !strings.Contains(text, "syntax error") || !strings.HasSuffix(text, "1 passed, 1 failed, 0 skipped\n") || ok {
		t.Errorf("got %q, %t", text, ok)
	}
}

func TestACrashWithoutAFailedTestCounts(t *testing.T) {
	text, ok := summarise(t, false,
		`{"Action":"output","Package":"p","Output":"panic: init\n"}`,
		`{"Action":"fail","Package":"p"}`)
	if want := "panic: init\nFAIL p\n0 passed, 1 failed, 0 skipped\n"; text != want || ok {
		t.Errorf("got %q, %t; want %q", text, ok, want)
	}
}

func TestASkipFailsWhenStrict(t *testing.T) {
	lines := []string{
		`{"Action":"pass","Package":"p","Test":"TestGood"}`,
		`{"Action":"skip","Package":"p","Test":"TestPeer"}`,
		`{"Action":"pass","Package":"p"}`,
	}
	if text, ok := summarise(t, false, lines...); !ok || !strings.Contains(text, "skipped: p TestPeer\n1 passed, 0 failed, 1 skipped") {
		t.Errorf("not strict: got %q, %t", text, ok)
	}
	if text, ok := summarise(t, true, lines...); ok || !strings.Contains(text, "1 passed, 1 failed, 1 skipped") {
		t.Errorf("strict: got %q, %t", text, ok)
	}
}

func TestNoTestAtAllIsNoSuccess(t *testing.T) {
	if _, ok := summarise(t, false, `{"Action":"skip","Package":"p"}`); ok {
		t.Error("a run without any test is a success")
	}
}

func TestOtherOutputIsAnError(t *testing.T) {
	if err := newSummary(&strings.Builder{}).read(strings.NewReader("ok p 0.1s")); err == nil {
		t.Error("no error")
	}
}

// failing are the events of a run in which these tests of package p failed with this output.
func failing(output string, tests ...string) (lines []string) {
	for _, test := range tests {
		lines = append(lines, `{"Action":"output","Package":"p","Test":"`+test+`","Output":"`+output+`\n"}`, `{"Action":"fail","Package":"p","Test":"`+test+`"}`)
	}
	return append(lines, `{"Action":"fail","Package":"p"}`)
}

func TestAFailedTestThatPassesAloneIsListedAsFlaky(t *testing.T) {
	for _, c := range []struct {
		name     string
		lines    []string
		passes   bool // when it is run again
		repeated int
		ok       bool
		end      string
	}{
		{"passes alone", failing("late", "TestA"), true, 1, true, "flaky: p TestA failed, and passed when it was run again alone\n1 passed, 0 failed, 0 skipped\n"},
		{"fails again", failing("late", "TestA"), false, 1, false, "0 passed, 1 failed, 0 skipped\n"},
		{"a data race", failing("WARNING: DATA RACE", "TestA"), true, 0, false, "0 passed, 1 failed, 0 skipped\n"},
		{"a panic", failing("panic: nil", "TestA"), true, 0, false, "0 passed, 1 failed, 0 skipped\n"},
		{"more than an accident", failing("late", "TestA", "TestB", "TestC", "TestD"), true, 0, false, "0 passed, 4 failed, 0 skipped\n"},
		{"a package does not build", append(failing("late", "TestA"), `{"Action":"fail","Package":"q"}`), true, 0, false, "0 passed, 2 failed, 0 skipped\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var w strings.Builder
			s := newSummary(&w)
			if err := s.read(strings.NewReader(strings.Join(c.lines, "\n"))); err != nil {
				t.Fatal(err)
			}
			repeated := 0
			s.repeat(func(string, string) bool { repeated++; return c.passes })
			if ok := s.finish(true); ok != c.ok || repeated != c.repeated || !strings.HasSuffix(w.String(), c.end) {
				t.Errorf("%d repeated, ok %t, %q; want %d, %t, %q", repeated, ok, w.String(), c.repeated, c.ok, c.end)
			}
		})
	}
}

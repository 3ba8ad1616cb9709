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

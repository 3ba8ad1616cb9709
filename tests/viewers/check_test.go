//go:build linux

package main

import (
	"regexp"
	"strings"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/tests/process"
)

func TestAMissingViewerIsAFailure(t *testing.T) {
	s := &session{Result: process.NewResult(""), screen: &screen{home: t.TempDir()}, dir: t.TempDir()}
	if s.open("A=B", "/nonexistent/viewer"); s.Failed != 1 || s.Passed != 0 {
		t.Errorf("%s: %s", s.Result, s.Details())
	}
}

func TestAMissingScreenIsAFailure(t *testing.T) {
	o := options{Options: process.Options{Only: regexp.MustCompile("")}, programs: programs{xvfb: "/nonexistent/xvfb", xvnc: "/nonexistent/xvnc"}}
	if _, err := startScreen(t.Context(), t.TempDir(), o.xvfb, o.openbox); err == nil {
		t.Error("there is a screen without an X server")
	}
	if ok, err := o.run(t.Context()); ok || err == nil {
		t.Errorf("without a desktop: %v, %v", ok, err)
	}
}

func TestViewersHaveNamesOfTheirOwn(t *testing.T) {
	seen := map[string]bool{}
	for _, v := range viewers {
		if v.name == "" || seen[v.name] || strings.ContainsAny(v.name, "\t\n ") {
			t.Errorf("the name %q", v.name)
		}
		seen[v.name] = true
	}
}

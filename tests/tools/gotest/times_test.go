package main

import (
	"fmt"
	"strings"
	"testing"
)

func TestSlowPackagesAndTestsAreListed(t *testing.T) {
	var lines []string
	add := func(pkg, test string, seconds float64) {
		lines = append(lines, fmt.Sprintf(`{"Action":"pass","Package":%q,"Test":%q,"Elapsed":%g}`, module+pkg, test, seconds))
	}
	for i := range 12 {
		add("slow", fmt.Sprint("Test", i), float64(i)/2)
	}
	add("slow", "Test11/sub", 99)
	add("slow", "", 33)
	add("quick", "", 4.9)
	add("kept", "TestKept", 50)
	lines = append(lines, `{"Action":"output","Package":"`+module+`kept","Output":"ok  \t`+module+`kept\t(cached)\n"}`)
	add("kept", "", 50)
	text, ok := summarise(t, true, lines...)
	want := "slow packages:\n    33.0 s  slow\nslowest tests:\n     5.5 s  slow Test11\n     5.0 s  slow Test10\n"
	if !ok || !strings.HasPrefix(text, want) || !strings.HasSuffix(text, "     1.0 s  slow Test2\n13 passed, 0 failed, 0 skipped\n") {
		t.Errorf("got %s", text)
	}
}

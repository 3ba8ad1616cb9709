//go:build linux

package main

import (
	"os/exec"
	"path/filepath"
	"testing"
)

func TestLogIsReadWithoutLineBreaks(t *testing.T) {
	cmd := exec.Command("printf", "one\n    two  three\n")
	p, err := start(cmd, filepath.Join(t.TempDir(), "log"))
	if err != nil {
		t.Fatal(err)
	}
	<-p.Exited
	if err := p.says("one two three"); err != nil {
		t.Error(err)
	}
	if p.says("four") == nil {
		t.Error("it has not said four")
	}
}

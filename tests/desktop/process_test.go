//go:build linux

package desktop

import (
	"os/exec"
	"path/filepath"
	"testing"
)

func TestLogIsReadWithoutLineBreaks(t *testing.T) {
	cmd := exec.Command("printf", "one\n    two  three\n")
	p, err := StartProgram(cmd, filepath.Join(t.TempDir(), "log"))
	if err != nil {
		t.Fatal(err)
	}
	<-p.Exited
	if err := p.Says("one two three"); err != nil {
		t.Error(err)
	}
	if p.Says("four") == nil {
		t.Error("it has not said four")
	}
}

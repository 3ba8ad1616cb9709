//go:build unix

package process

import (
	"bytes"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestStopEndsWhatTheProgramStarted(t *testing.T) {
	// The child ignores SIGTERM. Its output is open while it runs.
	cmd := exec.Command("sh", "-c", `sh -c 'trap "" TERM; echo ready; while :; do sleep 1; done' & wait`)
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	cmd.Stdout = w
	p, err := Start(cmd, filepath.Join(t.TempDir(), "log"))
	w.Close()
	if err != nil {
		t.Fatal(err)
	}
	const timeout = 20 * time.Second
	if err := r.SetReadDeadline(time.Now().Add(timeout)); err != nil {
		t.Fatal(err)
	}
	ready := make([]byte, len("ready\n"))
	if _, err := io.ReadFull(r, ready); err != nil {
		t.Fatal(err)
	}
	p.Stop()
	if _, err := io.ReadAll(r); err != nil {
		t.Errorf("the child runs: %v", err)
	}
}

func TestTheLogKeepsBothOutputs(t *testing.T) {
	p, err := Start(exec.Command("sh", "-c", "echo one; echo two >&2"), filepath.Join(t.TempDir(), "log"))
	if err != nil {
		t.Fatal(err)
	}
	<-p.Exited
	p.Stop() // no effect: it has ended
	var shown bytes.Buffer
	p.ShowLog(&shown)
	if text := shown.String(); !strings.HasSuffix(text, "one\ntwo\n") {
		t.Errorf("%q", text)
	}
}

func TestFreePortsAreDifferent(t *testing.T) {
	ports, err := FreePorts(3)
	if err != nil || ports[0] == ports[1] || ports[1] == ports[2] || ports[0] == ports[2] {
		t.Errorf("%v, %v", ports, err)
	}
}

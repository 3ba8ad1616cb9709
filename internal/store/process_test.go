package store_test

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/store"
)

// childDir tells a copy of this test binary the data directory. The copy plays the other process.
// With childPaced it writes a note each millisecond: the time.
const (
	childDir   = "STORE_TEST_DIR"
	childPaced = "STORE_TEST_PACED"
)

func TestMain(m *testing.M) {
	if dir := os.Getenv(childDir); dir != "" {
		play := child
		if os.Getenv(childPaced) != "" {
			play = pacedChild
		}
		if err := play(dir); err != nil {
			fmt.Println("error", err)
		}
		return
	}
	os.Exit(m.Run())
}

// child writes notes 0, 1, 2, … as fast as it can without flushing, and prints which ones are
// committed.
func child(dir string) error {
	st, err := store.Open(dir, store.Options{Schemas: []store.Schema{notes}})
	if err != nil {
		return err
	}
	fmt.Println("open")
	seen := -1
	for i := 0; ; i++ {
		if err := st.Submit(note(strconv.Itoa(i))); err != nil {
			return err
		}
		if i%100 != 0 {
			continue
		}
		var n int
		if err := st.Reader().QueryRow("SELECT count(*) FROM notes").Scan(&n); err != nil {
			return err
		}
		if n-1 > seen {
			seen = n - 1
			fmt.Println("committed", seen)
		}
	}
}

// pacedChild prints how long its commits take, which is what a kill may lose besides the interval.
func pacedChild(dir string) error {
	st, err := store.Open(dir, store.Options{
		Schemas:   []store.Schema{notes},
		Committed: func(took time.Duration) { fmt.Println("took", took.Nanoseconds()) },
	})
	if err != nil {
		return err
	}
	fmt.Println("open")
	for range time.Tick(time.Millisecond) {
		if err := st.Submit(note(strconv.FormatInt(time.Now().UnixNano(), 10))); err != nil {
			return err
		}
	}
	return nil
}

// startChild returns a running child and the lines that it prints.
func startChild(t *testing.T, dir string) (*exec.Cmd, *bufio.Scanner) {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), exe)
	cmd.Env = append(os.Environ(), childDir+"="+dir)
	cmd.WaitDelay = 10 * time.Second
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	if !lines.Scan() || lines.Text() != "open" {
		t.Fatalf("child said %q", lines.Text())
	}
	return cmd, lines
}

func TestKilledProcess(t *testing.T) {
	dir := t.TempDir()
	cmd, lines := startChild(t, dir)
	pid := cmd.Process.Pid

	_, err := store.Open(dir, store.Options{})
	if err == nil || !strings.Contains(err.Error(), fmt.Sprintf("%q", dir)) || !strings.Contains(err.Error(), fmt.Sprintf("process %d", pid)) {
		t.Errorf("a second process got %v, want the directory and process %d named", err, pid)
	}

	committed := 0
	for range 5 { // several groups, then the middle of one
		if !lines.Scan() {
			t.Fatal("child ended")
		}
		if _, err := fmt.Sscanf(lines.Text(), "committed %d", &committed); err != nil {
			t.Fatalf("child said %q", lines.Text())
		}
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait() // it was killed

	kept := strings.Fields(texts(t, open(t, dir, store.Options{})))
	if len(kept) <= committed {
		t.Errorf("%d notes kept, %d had been seen committed", len(kept), committed+1)
	}
	for i, text := range kept {
		if text != strconv.Itoa(i) {
			t.Fatalf("note %d is %q: there is a gap", i, text)
		}
	}
}

// A kill loses what was submitted within the last commit interval, and during the commit under way.
func TestAKillLosesAtMostOneCommitInterval(t *testing.T) {
	t.Setenv(childPaced, "1")
	dir := t.TempDir()
	cmd, lines := startChild(t, dir)
	var longest time.Duration
	for range 10 {
		var took int64
		if !lines.Scan() {
			t.Fatal("child ended")
		}
		if _, err := fmt.Sscanf(lines.Text(), "took %d", &took); err != nil {
			t.Fatalf("child said %q", lines.Text())
		}
		longest = max(longest, time.Duration(took))
	}
	<-time.After(store.DefaultCommitInterval * 4 / 5) // it has no clock that a test can move
	killed := time.Now()
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait() // it was killed
	kept := strings.Fields(texts(t, open(t, dir, store.Options{})))
	last, err := strconv.ParseInt(kept[len(kept)-1], 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	const scheduling = 200 * time.Millisecond // of a busy machine
	lost := killed.Sub(time.Unix(0, last))
	t.Logf("%v of notes lost, the longest commit took %v", lost, longest)
	if lost > store.DefaultCommitInterval+longest+scheduling {
		t.Errorf("%v of notes are lost", lost)
	}
}

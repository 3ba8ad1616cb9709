package main

import (
	"bufio"
	"context"
	"io"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"
)

// asProvider makes the test binary be the provider.
const asProvider = "FAKEPROVIDER_TEST_CHILD"

func TestMain(m *testing.M) {
	if os.Getenv(asProvider) != "" {
		main()
		return
	}
	os.Exit(m.Run())
}

// child starts the provider as a process and returns its address.
func child(t *testing.T, args ...string) (cmd *exec.Cmd, stdin io.Closer, base string) {
	cmd, stdin, out := start(t, args...)
	return cmd, stdin, address(t, out)
}

func start(t *testing.T, args ...string) (cmd *exec.Cmd, stdin io.Closer, out *bufio.Reader) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second) // a hanging child is killed
	t.Cleanup(cancel)
	cmd = exec.CommandContext(ctx, os.Args[0], args...)
	cmd.Env = append(os.Environ(), asProvider+"=1")
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	pipe, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return cmd, in, bufio.NewReader(pipe)
}

// address is in the next line of the output.
func address(t *testing.T, out *bufio.Reader) string {
	t.Helper()
	line, err := out.ReadString('\n')
	base, ok := strings.CutPrefix(strings.TrimSpace(line), "listening on ")
	if err != nil || !ok || !strings.HasPrefix(base, "http://127.0.0.1:") {
		t.Fatalf("line %q, %v", line, err)
	}
	return base
}

func chat(t *testing.T, base, model string) *http.Response {
	t.Helper()
	resp, err := http.Post(base+"/v1/chat/completions", "application/json",
		strings.NewReader(`{"model":"`+model+`","messages":[{"role":"user","content":"hi"}],"stream":true}`))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { resp.Body.Close() })
	return resp
}

func TestEndsWhenStandardInputCloses(t *testing.T) {
	cmd, stdin, base := child(t)
	resp := chat(t, base, "stall") // an open stream does not hold it back
	if err := stdin.Close(); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err != nil {
		t.Errorf("exit: %v", err)
	}
	if _, err := io.ReadAll(resp.Body); err == nil {
		t.Error("the open stream ended as if it were whole")
	}
}

func TestEndsOnSIGTERM(t *testing.T) {
	cmd, _, base := child(t)
	chat(t, base, "stall")
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err != nil {
		t.Errorf("exit: %v", err)
	}
}

func TestShowsWhatItReceived(t *testing.T) {
	_, _, base := child(t)
	if _, err := io.Copy(io.Discard, chat(t, base, "echo").Body); err != nil {
		t.Fatal(err)
	}
	resp, err := http.Get(base + "/_control/requests")
	if err != nil {
		t.Fatal(err)
	}
	body, err := io.ReadAll(resp.Body)
	resp.Body.Close()
	if err != nil || !strings.Contains(string(body), `\"model\":\"echo\"`) {
		t.Errorf("%s, %v", body, err)
	}
}

func TestInstancesAreIndependent(t *testing.T) {
	_, _, out := start(t, "-instances", "2")
	first, second := address(t, out), address(t, out)
	resp, err := http.Post(first+"/_control/become?model=echo&as=err-503", "", nil)
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	for base, want := range map[string]int{first: 503, second: 200} {
		if got := chat(t, base, "echo").StatusCode; got != want {
			t.Errorf("status %d, want %d", got, want)
		}
	}
}

func TestRefusesWhatItDoesNotKnow(t *testing.T) {
	for _, args := range [][]string{{"-nonsense"}, {"-listen", "127.0.0.1:no-port"}, {"-instances", "0"}, {"-instances", "99"}} {
		if err := run(context.Background(), args, strings.NewReader(""), io.Discard, io.Discard); err == nil {
			t.Errorf("%q runs", args)
		}
	}
}

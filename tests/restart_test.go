package tests

import (
	"bytes"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/testprovider/faults"
)

// child is a Caddy in its own process, on the ports and the data of a harness.
type child struct {
	t      *testing.T
	cmd    *exec.Cmd
	output *logBuffer
	exited chan struct{}
	err    error // its exit error; set before exited is closed
}

// vacant returns a harness with a fake provider and no Caddy.
func vacant(t *testing.T) *harness {
	t.Helper()
	h := &harness{t: t, dir: caddyDir(t), upstream: faults.New(), stopped: true}
	h.setSecrets()
	h.serveUpstream()
	h.ports = freePorts(t)
	h.origin = "http://127.0.0.1:" + strconv.Itoa(h.ports[0])
	h.http = newClient(t, nil)
	return h
}

// spawn runs `caddy run`, played by this test binary. It is killed at the end of the test at the
// latest.
func (h *harness) spawn(s setup) *child {
	h.t.Helper()
	text := strings.Replace(h.caddyfile(s), "output gatehouse_test", "output stderr", 1)
	text = strings.Replace(text, "grace_period 5s", "grace_period 100ms", 1)
	config := filepath.Join(h.dir, "Caddyfile-"+strconv.Itoa(h.ports[0]))
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		h.t.Fatal(err)
	}
	self, err := os.Executable()
	if err != nil {
		h.t.Fatal(err)
	}
	c := &child{t: h.t, cmd: exec.CommandContext(h.t.Context(), self), output: new(logBuffer), exited: make(chan struct{})}
	c.cmd.Args = []string{"caddy", "run", "--config", config, "--adapter", "caddyfile"}
	c.cmd.Stdout, c.cmd.Stderr = c.output, c.output
	if err := c.cmd.Start(); err != nil {
		h.t.Fatal(err)
	}
	go func() {
		defer close(c.exited)
		c.err = c.cmd.Wait()
	}()
	h.t.Cleanup(func() {
		_ = c.cmd.Process.Kill()
		<-c.exited
		if h.t.Failed() {
			h.t.Logf("a child wrote:\n%s", c.output.text())
		}
	})
	return c
}

// run spawns a child and waits until it answers.
func (h *harness) run(s setup) *child {
	h.t.Helper()
	c := h.spawn(s)
	if !eventually(func() bool {
		status, _, err := h.quietly(h.request("/v1/models", "full", ""))
		return err == nil && status == 200 || c.gone()
	}) || c.gone() {
		h.t.Fatal("the child does not answer")
	}
	return c
}

func (c *child) gone() bool {
	select {
	case <-c.exited:
		return true
	default:
		return false
	}
}

// wait waits for the child's end and returns how it ended.
func (c *child) wait() error {
	c.t.Helper()
	select {
	case <-c.exited:
		return c.err
	case <-time.After(waitLimit):
		c.t.Fatal("the child does not end")
		return nil
	}
}

func (c *child) signal(s os.Signal) {
	c.t.Helper()
	if err := c.cmd.Process.Signal(s); err != nil {
		c.t.Fatal(err)
	}
}

// An orderly end interrupts the streams that do not end in time, and writes their records.
func TestATerminatedProcessRecordsItsOpenStreams(t *testing.T) {
	h := vacant(t)
	c := h.run(setup{})
	whole := h.post(chatV1, "full", chat("fake/echo", "")).header.Get("X-Request-Id")
	older := h.open(h.request(chatV1, "full", chat("fake/step-a", streaming)))
	older.mustNext()
	silent := h.open(h.request(chatRouter, "full", chat("fake/stall", streaming)))
	silent.mustNext()
	c.signal(syscall.SIGTERM)
	for _, s := range []*stream{older, silent} {
		events, err := s.rest()
		if _, whole := streamText(t, events); whole {
			t.Error("a cut stream looks whole")
		}
		if err != nil || len(events) == 0 || !strings.Contains(events[len(events)-1].data, "shutting down") {
			t.Errorf("the stream ended with %v, %v", events, err)
		}
	}
	if err := c.wait(); err != nil {
		t.Error(err)
	}
	h.run(setup{})
	if at(h.row(whole), "status") != number("200") {
		t.Error("the record of the whole call")
	}
	for _, s := range []*stream{older, silent} {
		row := h.row(s.resp.Header.Get("X-Request-Id"))
		if at(row, "status") != number("503") || at(row, "code") != "shutting_down" || at(row, "stream") != true {
			t.Errorf("record %v", row)
		}
	}
}

// Calls that a reload has left running end with the process too, and are recorded.
func TestATerminatedProcessRecordsStreamsOfOlderConfigurations(t *testing.T) {
	h := vacant(t)
	c := h.run(setup{global: "admin unix//" + h.dir + "/admin"})
	s := h.open(h.request(chatV1, "full", chat("fake/step", streaming)))
	s.mustNext()
	config := c.cmd.Args[3]
	reload := exec.CommandContext(t.Context(), c.cmd.Path)
	reload.Args = []string{"caddy", "reload", "--force", "--config", config, "--adapter", "caddyfile"}
	if out, err := reload.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	h.upstream.Step("step", 1)
	s.mustNext()
	c.signal(syscall.SIGTERM)
	if events, err := s.rest(); err != nil || len(events) == 0 || !strings.Contains(events[len(events)-1].data, "shutting down") {
		t.Errorf("the stream ended with %v, %v", events, err)
	}
	if err := c.wait(); err != nil {
		t.Error(err)
	}
	h.run(setup{})
	if row := h.row(s.resp.Header.Get("X-Request-Id")); at(row, "code") != "shutting_down" {
		t.Errorf("record %v", row)
	}
}

// kill -9 loses what was not committed: 50 ms of records. The slack is for a busy machine.
func TestAKilledProcessLosesTheLastMomentOnly(t *testing.T) {
	const commitInterval, slack = 50 * time.Millisecond, 500 * time.Millisecond
	h := vacant(t)
	c := h.run(setup{})
	open := h.open(h.request(chatV1, "full", chat("fake/step", streaming)))
	open.mustNext()
	type call struct {
		id    string
		ended time.Time
	}
	var calls []call
	for begun := time.Now(); time.Since(begun) < commitInterval+2*slack; {
		a := h.post(chatV1, "full", chat("test/echo", ""))
		calls = append(calls, call{a.header.Get("X-Request-Id"), time.Now()})
	}
	killed := time.Now()
	c.signal(syscall.SIGKILL)
	var exit *exec.ExitError
	if err := c.wait(); !errors.As(err, &exit) {
		t.Fatalf("the child ended with %v", err)
	}
	h.run(setup{})
	kept := map[any]bool{}
	for _, row := range h.allRows("") {
		kept[at(row, "request_id")] = true
	}
	early, lost := 0, 0
	for _, c := range calls {
		if killed.Sub(c.ended) < commitInterval+slack {
			continue
		}
		if early++; !kept[c.id] {
			lost++
		}
	}
	if early == 0 || lost > 0 {
		t.Errorf("%d of %d calls are lost that ended long before the end", lost, early)
	}
	if id := open.resp.Header.Get("X-Request-Id"); kept[id] {
		t.Error("the open stream has a record, though nobody could write it")
	}
}

func TestASecondProcessOnTheSameDataIsRefused(t *testing.T) {
	h := vacant(t)
	first := h.run(setup{})
	h.ports = freePorts(t)
	second := h.spawn(setup{})
	if err := second.wait(); err == nil {
		t.Error("the second process ended well")
	}
	want := fmt.Sprintf("in use by another gatehouse (process %d)", first.cmd.Process.Pid)
	if out := second.output.text(); !strings.Contains(out, want) || !strings.Contains(out, filepath.Join(h.dir, "data")) {
		t.Errorf("it wrote %s\nwant %q and the directory", out, want)
	}
	if first.gone() {
		t.Error("the first process has ended")
	}
}

// Buffers are reused: under load every provider call has the bytes of its own client, and every
// client gets the answer to its own call.
func TestConcurrentBodiesAreNotMixedUp(t *testing.T) {
	h := start(t, setup{})
	var all sync.WaitGroup
	for worker := range 16 {
		all.Go(func() {
			for i := range 12 {
				mark := fmt.Sprintf("w%d-%d-", worker, i)
				text := strings.Repeat(mark, 1+worker*i*100)
				model := []string{"fake/echo", "fake/err-400", "fake/none/such"}[i%3]
				status, body, err := h.quietly(h.request(chatV1, "full", say(model, text, "")))
				if err != nil {
					t.Error(err)
					return
				}
				if status == 200 && !bytes.Contains(body, []byte("You said: "+text+`"`)) || status != 200 && i%3 == 0 {
					t.Errorf("call %s got %d and %d bytes: %.100s", mark, status, len(body), body)
				}
			}
		})
	}
	all.Wait()
	for _, r := range h.upstream.Requests() {
		if r.Method != http.MethodPost {
			continue
		}
		text, _ := at(parse(t, r.Body), "messages", 0, "content").(string)
		parts := strings.SplitAfterN(text, "-", 3)
		mark := parts[0] + parts[1]
		if strings.Repeat(mark, len(text)/len(mark)) != text {
			t.Errorf("the provider got a mixture of %d bytes that begins with %q", len(text), mark)
		}
	}
}

package operator

import (
	"encoding/json"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/gatehouse-proxy/gatehouse/tests/harness"
)

// An orderly end interrupts the streams that do not end in time, and writes their records.
func TestATerminatedProcessRecordsItsOpenStreams(t *testing.T) {
	h := harness.Vacant(t)
	c := h.Run(harness.Setup{})
	whole := h.Client.Post(harness.ChatV1, "full", harness.Chat("fake/echo", "")).Header.Get("X-Request-Id")
	older := h.Client.Open(h.Client.Request(harness.ChatV1, "full", harness.Chat("fake/step-a", harness.Streaming)))
	older.MustNext()
	silent := h.Client.Open(h.Client.Request(harness.ChatRouter, "full", harness.Chat("fake/stall", harness.Streaming)))
	silent.MustNext()
	c.Signal(syscall.SIGTERM)
	for _, s := range []*harness.Stream{older, silent} {
		events, err := s.Rest()
		if _, whole := streamText(t, events); whole {
			t.Error("a cut stream looks whole")
		}
		if err != nil || len(events) == 0 || !strings.Contains(events[len(events)-1].Data, "shutting down") {
			t.Errorf("the stream ended with %v, %v", events, err)
		}
	}
	if err := c.Wait(); err != nil {
		t.Error(err)
	}
	h.Run(harness.Setup{})
	if harness.At(h.Records.Row(whole), "status") != harness.Number("200") {
		t.Error("the record of the whole call")
	}
	for _, s := range []*harness.Stream{older, silent} {
		row := h.Records.Row(s.Response.Header.Get("X-Request-Id"))
		if harness.At(row, "status") != harness.Number("503") || harness.At(row, "code") != "shutting_down" || harness.At(row, "stream") != true {
			t.Errorf("record %v", row)
		}
	}
}

// Calls that a reload has left running end with the process too, and are recorded.
func TestATerminatedProcessRecordsStreamsOfOlderConfigurations(t *testing.T) {
	h := harness.Vacant(t)
	c := h.Run(harness.Setup{Global: "admin unix//" + h.Dir + "/admin"})
	s := h.Client.Open(h.Client.Request(harness.ChatV1, "full", harness.Chat("fake/step", harness.Streaming)))
	s.MustNext()
	config := c.Cmd.Args[3]
	reload := exec.CommandContext(t.Context(), c.Cmd.Path)
	reload.Args = []string{"caddy", "reload", "--force", "--config", config, "--adapter", "caddyfile"}
	if out, err := reload.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	h.Provider.Fake.Step("step", 1)
	s.MustNext()
	wantStartLogged(t, c)
	c.Signal(syscall.SIGTERM)
	if events, err := s.Rest(); err != nil || len(events) == 0 || !strings.Contains(events[len(events)-1].Data, "shutting down") {
		t.Errorf("the stream ended with %v, %v", events, err)
	}
	if err := c.Wait(); err != nil {
		t.Error(err)
	}
	h.Run(harness.Setup{})
	if row := h.Records.Row(s.Response.Header.Get("X-Request-Id")); harness.At(row, "code") != "shutting_down" {
		t.Errorf("record %v", row)
	}
}

// wantStartLogged checks that the log has one line of the start, whatever was reloaded since, and
// that it says what the command says.
func wantStartLogged(t *testing.T, c *harness.Process) {
	t.Helper()
	type build struct{ Version, Commit string }
	var logged, said build
	out, failure, err := c.Operate("version", "--json")
	if err = errors.Join(err, json.Unmarshal([]byte(out), &said)); err != nil {
		t.Fatalf("%v %s", err, failure)
	}
	lines := c.Output.Lines("gatehouse started")
	if len(lines) != 1 {
		t.Fatalf("the log has %q", lines)
	}
	if err := json.Unmarshal([]byte(lines[0]), &logged); err != nil || logged != said || said.Version == "" {
		t.Errorf("the log has %s, the command %s, %v", lines[0], out, err)
	}
}

// kill -9 loses what was not committed: 50 ms of records. The slack is for a busy machine.
func TestAKilledProcessLosesTheLastMomentOnly(t *testing.T) {
	const commitInterval, slack = 50 * time.Millisecond, 500 * time.Millisecond
	h := harness.Vacant(t)
	c := h.Run(harness.Setup{})
	open := h.Client.Open(h.Client.Request(harness.ChatV1, "full", harness.Chat("fake/step", harness.Streaming)))
	open.MustNext()
	type call struct {
		id    string
		ended time.Time
	}
	var calls []call
	for begun := time.Now(); time.Since(begun) < commitInterval+2*slack; {
		a := h.Client.Post(harness.ChatV1, "full", harness.Chat("test/echo", ""))
		calls = append(calls, call{a.Header.Get("X-Request-Id"), time.Now()})
	}
	killed := time.Now()
	c.Signal(syscall.SIGKILL)
	var exit *exec.ExitError
	if err := c.Wait(); !errors.As(err, &exit) {
		t.Fatalf("the child ended with %v", err)
	}
	h.Run(harness.Setup{})
	kept := map[any]bool{}
	for _, row := range h.Records.Rows("") {
		kept[harness.At(row, "request_id")] = true
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
	if id := open.Response.Header.Get("X-Request-Id"); kept[id] {
		t.Error("the open stream has a record, though nobody could write it")
	}
}

func TestASecondProcessOnTheSameDataIsRefused(t *testing.T) {
	h := harness.Vacant(t)
	first := h.Run(harness.Setup{})
	h.Ports = harness.FreePorts(t)
	second := h.Spawn(harness.Setup{})
	if err := second.Wait(); err == nil {
		t.Error("the second process ended well")
	}
	want := fmt.Sprintf("in use by another gatehouse (process %d)", first.Cmd.Process.Pid)
	if out := second.Output.Text(); !strings.Contains(out, want) || !strings.Contains(out, filepath.Join(h.Dir, "data")) {
		t.Errorf("it wrote %s\nwant %q and the directory", out, want)
	}
	if first.Gone() {
		t.Error("the first process has ended")
	}
}

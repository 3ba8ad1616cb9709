package tests

import (
	"encoding/json"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/store"
)

// probe asks without a key.
func (h *harness) probe(path string) answer {
	h.t.Helper()
	r, err := http.NewRequestWithContext(h.t.Context(), http.MethodGet, h.origin+path, nil)
	if err != nil {
		h.t.Fatal(err)
	}
	return h.send(r)
}

func (h *harness) ready(want string) bool {
	h.t.Helper()
	a := h.probe("/readyz")
	return a.status == 200 == (want == "ready") && strings.HasPrefix(string(a.body), `{"status":"`+want+`"`)
}

// Probes need no key even where the site demands one, leave no record and count nowhere.
func TestProbesNeedNoKeyAndLeaveNoTrace(t *testing.T) {
	h := start(t, setup{site: "gatehouse_auth models:read\ngatehouse_health\ngatehouse"})
	for _, path := range []string{"/healthz", "/readyz"} {
		if a := h.probe(path); a.status != 200 {
			t.Errorf("%s: %d %s", path, a.status, a.body)
		}
	}
	if a := h.probe("/elsewhere"); a.status != 401 {
		t.Errorf("another path without a key: %d", a.status)
	}
	if n := len(h.upstream.Requests()); n != 0 {
		t.Errorf("a provider was asked %d times", n)
	}
	if lines := h.logLines("readyz"); len(lines) != 0 {
		t.Errorf("the log has %q", lines)
	}
}

func TestProbesHaveThePathsThatARouteOrAnOptionGives(t *testing.T) {
	h := start(t, setup{site: "handle_path /internal/* {\ngatehouse_health\n}\nhandle /ready {\ngatehouse_health {\nreadyz /ready\n}\n}\ngatehouse"})
	for path, status := range map[string]int{"/internal/readyz": 200, "/internal/healthz": 200, "/ready": 200, "/healthz": 200} {
		if a := h.probe(path); a.status != status || path != "/healthz" && !strings.Contains(string(a.body), "status") {
			t.Errorf("%s: %d %s", path, a.status, a.body)
		}
	}
}

// A balancer sends nothing to a gateway that cannot record what it serves; it comes back by itself.
func TestReadinessFollowsTheStore(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("an open file cannot be removed")
	}
	h := start(t, setup{site: "gatehouse_health\ngatehouse"})
	path, away := filepath.Join(h.dir, "data", store.FileName), filepath.Join(h.dir, "data", "away.db")
	if !h.ready("ready") {
		t.Fatal("not ready")
	}
	if err := os.Rename(path, away); err != nil {
		t.Fatal(err)
	}
	if !eventually(func() bool { return h.ready("unavailable") }) {
		t.Error("ready without its database")
	}
	if err := os.Rename(away, path); err != nil {
		t.Fatal(err)
	}
	if !eventually(func() bool { return h.ready("ready") }) {
		t.Error("not ready with the database put back")
	}
}

// A balancer needs the time of shutdown_delay to notice; calls are served meanwhile.
func TestReadinessEndsWithTheSignalToStop(t *testing.T) {
	h := vacant(t)
	admin := "unix//" + h.dir + "/admin"
	c := h.run(setup{global: "shutdown_delay 2s\nadmin " + admin, site: "gatehouse_health\ngatehouse"})
	show := exec.CommandContext(t.Context(), c.cmd.Path)
	show.Args = []string{"caddy", "gatehouse", "health", "--address", admin}
	out, err := show.Output()
	if text := string(out); err != nil || !strings.HasPrefix(text, "The gateway is ready.\n\nPART") || !strings.Contains(text, "\nstore ") {
		t.Errorf("the command shows %v\n%s", err, text)
	}
	if !h.ready("ready") {
		t.Error("not ready")
	}
	c.signal(syscall.SIGTERM)
	if !eventually(func() bool { return h.ready("shutting_down") }) {
		t.Error("ready after SIGTERM")
	}
	if a := h.post(chatV1, "full", chat("fake/echo", "")); a.status != 200 {
		t.Errorf("a call within shutdown_delay: %d %s", a.status, a.body)
	}
	if a := h.probe("/healthz"); a.status != 200 {
		t.Errorf("healthz within shutdown_delay: %d", a.status)
	}
	if err := c.wait(); err != nil {
		t.Error(err)
	}
}

// partOf returns the state of a part in the answer of /readyz.
func partOf(a answer, name string) string {
	var body struct{ Parts map[string]string }
	_ = json.Unmarshal(a.body, &body) // no parts then
	return body.Parts[name]
}

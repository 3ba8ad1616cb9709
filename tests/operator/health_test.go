package operator

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/store"
	"github.com/gatehouse-proxy/gatehouse/internal/testkit/jsontest"
	"github.com/gatehouse-proxy/gatehouse/tests/harness"
)

func ready(h *harness.Gateway, want string) bool {
	h.T.Helper()
	a := h.Client.Get("/readyz", "")
	return a.Status == 200 == (want == "ready") && jsontest.Has(h.T, a.Body, `{"status":"`+want+`"}`)
}

// Probes need no key even where the site demands one, leave no record and count nowhere.
func TestProbesNeedNoKeyAndLeaveNoTrace(t *testing.T) {
	h := harness.Start(t, harness.Setup{Site: "gatehouse_auth models:read\ngatehouse_health\ngatehouse"})
	for _, path := range []string{"/healthz", "/readyz"} {
		if a := h.Client.Get(path, ""); a.Status != 200 {
			t.Errorf("%s: %d %s", path, a.Status, a.Body)
		}
	}
	if a := h.Client.Get("/elsewhere", ""); a.Status != 401 {
		t.Errorf("another path without a key: %d", a.Status)
	}
	if n := len(h.Provider.Fake.Requests()); n != 0 {
		t.Errorf("a provider was asked %d times", n)
	}
	if lines := harness.Log.Lines("readyz"); len(lines) != 0 {
		t.Errorf("the log has %q", lines)
	}
}

func TestProbesHaveThePathsThatARouteOrAnOptionGives(t *testing.T) {
	h := harness.Start(t, harness.Setup{Site: "handle_path /internal/* {\ngatehouse_health\n}\nhandle /ready {\ngatehouse_health {\nreadyz /ready\n}\n}\ngatehouse"})
	for path, status := range map[string]int{"/internal/readyz": 200, "/internal/healthz": 200, "/ready": 200, "/healthz": 404} {
		if a := h.Client.Get(path, ""); a.Status != status || path != "/healthz" && !strings.Contains(string(a.Body), "status") {
			t.Errorf("%s: %d %s", path, a.Status, a.Body)
		}
	}
}

// A balancer sends nothing to a gateway that cannot record what it serves; it comes back by itself.
func TestReadinessFollowsTheStore(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("an open file cannot be removed")
	}
	h := harness.Start(t, harness.Setup{Site: "gatehouse_health\ngatehouse"})
	path, away := filepath.Join(h.Dir, "data", store.FileName), filepath.Join(h.Dir, "data", "away.db")
	if !ready(h, "ready") {
		t.Fatal("not ready")
	}
	if err := os.Rename(path, away); err != nil {
		t.Fatal(err)
	}
	if !harness.Eventually(func() bool { return ready(h, "unavailable") }) {
		t.Error("ready without its database")
	}
	if err := os.Rename(away, path); err != nil {
		t.Fatal(err)
	}
	if !harness.Eventually(func() bool { return ready(h, "ready") }) {
		t.Error("not ready with the database put back")
	}
}

// A balancer needs the time of shutdown_delay to notice; calls are served meanwhile.
func TestReadinessEndsWithTheSignalToStop(t *testing.T) {
	h := harness.Vacant(t)
	admin := "unix//" + h.Dir + "/admin"
	c := h.Run(harness.Setup{Global: "shutdown_delay 2s\nadmin " + admin, Site: "gatehouse_health\ngatehouse"})
	show := exec.CommandContext(t.Context(), c.Cmd.Path)
	show.Args = []string{"caddy", "gatehouse", "health", "--address", admin}
	out, err := show.Output()
	if text := string(out); err != nil || !strings.HasPrefix(text, "The gateway is ready.\n\nPART") || !strings.Contains(text, "\nstore ") {
		t.Errorf("the command shows %v\n%s", err, text)
	}
	if !ready(h, "ready") {
		t.Error("not ready")
	}
	c.Signal(syscall.SIGTERM)
	if !harness.Eventually(func() bool { return ready(h, "shutting_down") }) {
		t.Error("ready after SIGTERM")
	}
	if a := h.Client.Post(harness.ChatV1, "full", harness.Chat("fake/echo", "")); a.Status != 200 {
		t.Errorf("a call within shutdown_delay: %d %s", a.Status, a.Body)
	}
	if a := h.Client.Get("/healthz", ""); a.Status != 200 {
		t.Errorf("healthz within shutdown_delay: %d", a.Status)
	}
	if err := c.Wait(); err != nil {
		t.Error(err)
	}
}

// partOf returns the state of a part in the answer of /readyz.
func partOf(a harness.Answer, name string) string {
	var body struct{ Parts map[string]string }
	_ = json.Unmarshal(a.Body, &body) // no parts then
	return body.Parts[name]
}

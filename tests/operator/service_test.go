package operator

import (
	"context"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/gatehouse-proxy/gatehouse/tests/harness"
	"github.com/gatehouse-proxy/gatehouse/tests/process"
)

// service is the command that the unit of systemd starts, in a folder instead of /etc/gatehouse and of
// /var/lib/gatehouse, with the environment that the unit makes and no other.
func service(t *testing.T, dir string) *exec.Cmd {
	t.Helper()
	unit, err := os.ReadFile("../../docs/deploy/gatehouse.service")
	if err != nil {
		t.Fatal(err)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	there := strings.NewReplacer("/etc/gatehouse", dir, "/var/lib/gatehouse", filepath.Join(dir, "state")).Replace(string(unit))
	cmd := exec.CommandContext(t.Context(), self)
	for line := range strings.Lines(there) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), "=")
		switch name {
		case "ExecStart":
			cmd.Args = append([]string{"caddy"}, strings.Fields(value)[1:]...)
		case "WorkingDirectory":
			cmd.Dir = value
		case "Environment":
			cmd.Env = append(cmd.Env, strings.Fields(value)...)
		case "EnvironmentFile":
			cmd.Env = append(cmd.Env, variables(t, strings.TrimPrefix(value, "-"))...)
		}
	}
	return cmd
}

// variables reads a file of variables.
func variables(t *testing.T, path string) (all []string) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "#") {
			all = append(all, line)
		}
	}
	return all
}

// onPorts lets the Caddyfile that init wrote listen at free ports.
func onPorts(t *testing.T, caddyfile string, port, admin int) {
	t.Helper()
	text, err := os.ReadFile(caddyfile)
	if err != nil {
		t.Fatal(err)
	}
	there := strings.Replace(string(text), "http://:8080", "http://:"+strconv.Itoa(port), 1)
	there = strings.Replace(there, "\n{\n", "\n{\n\tadmin 127.0.0.1:"+strconv.Itoa(admin)+"\n", 1)
	if err := os.WriteFile(caddyfile, []byte(there), 0o600); err != nil {
		t.Fatal(err)
	}
}

// The unit did not read the file with the secrets, so that it started only for who had none.
func TestTheServiceStartsWithWhatInitWrites(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "prices.json"), []byte(`{"models":[{"id":"test/echo","context_length":1000}]}`), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := initialize(t, dir, "--catalog", "prices.json", "--budget", "1usd/day"); err != nil {
		t.Fatalf("%v, %s", err, out)
	}
	ports, err := process.FreePorts(2)
	if err != nil {
		t.Fatal(err)
	}
	onPorts(t, filepath.Join(dir, "Caddyfile"), ports[0], ports[1])
	first := service(t, dir)
	log, err := os.Create(filepath.Join(dir, "log"))
	if err != nil {
		t.Fatal(err)
	}
	first.Stdout, first.Stderr = log, log
	if err := first.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = first.Process.Signal(syscall.SIGTERM)
		_ = first.Wait()
	})
	key := ""
	for _, variable := range first.Env {
		if value, ok := strings.CutPrefix(variable, "GATEWAY_API_KEY="); ok {
			key = value
		}
	}
	origin := "http://127.0.0.1:" + strconv.Itoa(ports[0])
	if !harness.Eventually(func() bool { status, _ := get(t, origin+"/v1/models", key); return status == http.StatusOK }) {
		text, _ := os.ReadFile(log.Name())
		t.Fatalf("no list of models; the log: %s", text)
	}
	for path, want := range map[string]struct {
		status   int
		location string
	}{"/": {302, "/console/"}, "/unknown": {404, ""}, "/v1beta1/projects/p": {404, ""}, "/healthz": {200, ""}} {
		if status, location := get(t, origin+path, ""); status != want.status || location != want.location {
			t.Errorf("%s: %d to %q", path, status, location)
		}
	}
	t.Run("a second one at its ports does not", func(t *testing.T) { aSecondGatewayFails(t, dir, first.Process.Pid, ports) })
}

// Both shared the port, and each caller met either.
func aSecondGatewayFails(t *testing.T, dir string, pid int, taken []int) {
	free, err := process.FreePorts(2)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ site, admin, used int }{{taken[0], free[1], taken[0]}, {free[0], taken[1], taken[1]}} {
		second := t.TempDir()
		if out, err := initialize(t, second); err != nil {
			t.Fatalf("%v, %s", err, out)
		}
		onPorts(t, filepath.Join(second, "Caddyfile"), c.site, c.admin)
		out, err := service(t, second).CombinedOutput()
		want := "127.0.0.1:" + strconv.Itoa(c.used) + " is in use by "
		if err == nil || !strings.Contains(string(out), want) || !strings.Contains(string(out), "(process "+strconv.Itoa(pid)+")") {
			t.Errorf("%d: %v, %s", c.used, err, out)
		}
	}
	second := t.TempDir()
	if out, err := initialize(t, second); err != nil {
		t.Fatalf("%v, %s", err, out)
	}
	caddyfile := filepath.Join(second, "Caddyfile")
	onPorts(t, caddyfile, taken[0], free[1])
	text, err := os.ReadFile(caddyfile)
	if err == nil {
		err = os.WriteFile(caddyfile, []byte(strings.Replace(string(text), "\tgatehouse {\n", "\tgatehouse {\n\t\tshare_ports\n", 1)), 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	shared := service(t, second)
	if err := shared.Start(); err != nil {
		t.Fatal(err)
	}
	if !harness.Eventually(func() bool {
		status, _ := get(t, "http://127.0.0.1:"+strconv.Itoa(free[1])+"/config/", "")
		return status == 200
	}) {
		t.Error("share_ports does not let a second gateway start")
	}
	_ = shared.Process.Signal(syscall.SIGTERM)
	_ = shared.Wait()
}

// get returns the status of a page, 0 if nobody answers, and where it leads.
func get(t *testing.T, url, key string) (status int, location string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	if key != "" {
		r.Header.Set("Authorization", "Bearer "+key)
	}
	resp, err := http.DefaultTransport.RoundTrip(r)
	if err != nil {
		return 0, ""
	}
	_ = resp.Body.Close()
	return resp.StatusCode, resp.Header.Get("Location")
}

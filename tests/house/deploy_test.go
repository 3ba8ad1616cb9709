package house

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// unitSettings are the settings of the unit by their section, with all values of each.
func unitSettings(t *testing.T, text string) map[string][]string {
	t.Helper()
	settings, section := map[string][]string{}, ""
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		name, value, set := strings.Cut(line, "=")
		switch {
		case line == "" || strings.HasPrefix(line, "#"):
		case strings.HasPrefix(line, "[") && strings.HasSuffix(line, "]"):
			section = line
		case set && section != "" && value != "" && regexp.MustCompile(`^[A-Z][A-Za-z]+$`).MatchString(name):
			settings[section+name] = append(settings[section+name], value)
		default:
			t.Errorf("the line %q is no setting", line)
		}
	}
	return settings
}

func TestTheServiceUnitIsValid(t *testing.T) {
	text, err := os.ReadFile("../../docs/deploy/gatehouse.service")
	if err != nil {
		t.Fatal(err)
	}
	settings := unitSettings(t, string(text))
	for name, want := range map[string]string{
		"[Service]ExecStart": "/usr/local/bin/caddy run --config /etc/gatehouse/Caddyfile", "[Service]Type": "notify",
		"[Service]EnvironmentFile": "-/etc/gatehouse/gatehouse.env", "[Service]WorkingDirectory": "/etc/gatehouse",
		"[Service]NoNewPrivileges": "yes", "[Service]ProtectSystem": "strict", "[Service]CapabilityBoundingSet": "CAP_NET_BIND_SERVICE",
		"[Install]WantedBy": "multi-user.target",
	} {
		if got := settings[name]; len(got) != 1 || got[0] != want {
			t.Errorf("%s is %q, not %q", name, got, want)
		}
	}
	tool, err := exec.LookPath("systemd-analyze")
	if err != nil {
		return // the syntax is what can be checked
	}
	// The program is not installed here; any that is will do.
	unit := filepath.Join(t.TempDir(), "gatehouse.service")
	self, err := os.Executable()
	if err == nil {
		err = os.WriteFile(unit, []byte(strings.ReplaceAll(string(text), "/usr/local/bin/caddy", self)), 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	if out, err := exec.CommandContext(t.Context(), tool, "verify", "--man=no", "--recursive-errors=no", unit).CombinedOutput(); err != nil || strings.Contains(string(out), "Unknown") {
		t.Errorf("%v\n%s", err, out)
	}
}

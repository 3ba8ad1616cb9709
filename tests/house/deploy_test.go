package house

import (
	"encoding/json"
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

// The image has the program, certificates of authorities, and a folder that its user can write.
func TestTheContainerfileIsValid(t *testing.T) {
	text, err := os.ReadFile("../../docs/deploy/Containerfile")
	if err != nil {
		t.Fatal(err)
	}
	var instructions []string
	copied := map[string]string{}
	for line := range strings.Lines(string(text)) {
		words := strings.Fields(line)
		if len(words) == 0 || strings.HasPrefix(words[0], "#") {
			continue
		}
		instructions = append(instructions, words[0])
		switch words[0] {
		case "COPY":
			from, to := words[len(words)-2], words[len(words)-1]
			if flags := words[1 : len(words)-2]; len(flags) > 1 || len(flags) == 1 && flags[0] != "--chown=65532:65532" || strings.HasPrefix(from, "/") || !strings.HasPrefix(to, "/") {
				t.Errorf("%s", line)
			}
			copied[to] = from
		case "ENTRYPOINT", "CMD", "VOLUME":
			var list []string
			if err := json.Unmarshal([]byte(strings.TrimPrefix(strings.TrimSpace(line), words[0])), &list); err != nil || len(list) == 0 {
				t.Errorf("%s: %v", line, err)
			}
		case "FROM":
			if strings.Join(words, " ") != "FROM scratch" {
				t.Errorf("%s", line)
			}
		case "ENV", "USER", "EXPOSE", "STOPSIGNAL":
			if len(words) < 2 {
				t.Errorf("%s", line)
			}
		default:
			t.Errorf("unknown instruction %q", words[0])
		}
	}
	if strings.Join(instructions, " ") != "FROM COPY COPY COPY COPY COPY ENV VOLUME USER EXPOSE STOPSIGNAL ENTRYPOINT CMD" {
		t.Errorf("%v", instructions)
	}
	if copied["/usr/bin/caddy"] != "caddy" || copied["/etc/ssl/certs/ca-certificates.crt"] == "" || copied["/data"] == "" || !strings.Contains(string(text), "UNTESTED") {
		t.Errorf("%v", copied)
	}
}

package vnc

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/testkit/jsontest"
	"github.com/gatehouse-proxy/gatehouse/tests/harness"
)

// runs returns what a program prints, of those that the documentation names.
func runs(t *testing.T, input, dir string, env []string, program string, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), program, args...)
	cmd.Stdin, cmd.Dir, cmd.Env = strings.NewReader(input), dir, append(os.Environ(), env...)
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s %q: %v, %s", program, args, err, out)
	}
	return string(out)
}

func needs(t *testing.T, programs ...string) {
	t.Helper()
	for _, p := range programs {
		if _, err := exec.LookPath(p); err != nil {
			t.Skipf("there is no %s here", p)
		}
	}
}

// The script turns what kubectl has printed into one list.
func TestVNCPodsAreRegisteredByTheScript(t *testing.T) {
	needs(t, "jq", "curl")
	script, err := filepath.Abs("../../docs/deploy/workstations/pods.sh")
	if err != nil {
		t.Fatal(err)
	}
	pods, err := os.ReadFile("testdata/pods.json")
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("MACHINE_ROOT", harness.MachineRoot)
	h := harness.StartVNC(t, harness.Setup{VNC: "register_networks 10.244.0.0/16 fd00:10:244::/64\ncredential vm {\nderive {env.MACHINE_ROOT}\n}\n"})
	dir := t.TempDir()
	key := filepath.Join(dir, "key")
	if err := os.WriteFile(key, []byte(harness.Secret("manage")+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	env := []string{"GATEHOUSE=" + h.Client.Origin, "KEY_FILE=" + key, "CREDENTIAL=vm", "TMPDIR=" + dir}
	for _, want := range []string{
		`{"created":2,"changed":0,"released":0,"unchanged":0,"refused":[]}`, `{"created":0,"changed":0,"released":0,"unchanged":2,"refused":[]}`,
	} {
		if got := runs(t, string(pods), dir, env, "sh", script); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
	list := harness.Parse(t, h.Client.Want(200, "GET", workstations+"?source=kubernetes", "manage", "").Body)
	for i, want := range []string{
		"desk1 10.244.1.17:5901 0f6b1c1e-6c0e-4b57-9d0b-3c1f7a1f2f10 lab", "desk2 [fd00:10:244::9]:5900 7a2e7b0c-53bb-4d5c-9b52-2f8c7a0f9e55 lab",
	} {
		w := func(path ...any) any { return harness.At(list, append([]any{"data", i}, path...)...) }
		if got := fmt.Sprint(w("workstation_id"), " ", w("address"), " ", w("generation"), " ", w("labels", "namespace")); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
	if got := runs(t, `{"items":[]}`, dir, env, "sh", script); !jsontest.Has(t, got, `{"released":2}`) {
		t.Errorf("without pods: %s", got)
	}
	if left, _ := filepath.Glob(filepath.Join(dir, "tmp*")); len(left) > 0 {
		t.Errorf("the script leaves %q", left)
	}
}

// The line of the documentation gives a machine the password that the gateway derives.
func TestVNCTheDocumentedLineDerivesThePassword(t *testing.T) {
	needs(t, "python3")
	text, err := os.ReadFile("../../docs/workstations.md")
	if err != nil {
		t.Fatal(err)
	}
	line := regexp.MustCompile(`(?m)^python3 -c .*$`).FindString(string(text))
	if !strings.HasSuffix(line, " /run/secrets/vnc-root default desk1 vm-7f3a/4") {
		t.Fatalf("the line is %q", line)
	}
	root := filepath.Join(t.TempDir(), "root")
	if err := os.WriteFile(root, []byte(harness.MachineRoot+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	password := strings.TrimSpace(runs(t, "", "", nil, "sh", "-c", strings.Replace(line, "/run/secrets/vnc-root", root, 1)))
	place := harness.NewPlace(t)
	place.Boot("desk1", "vm-7f3a/4")
	if place.Password() != password || len(password) != 22 {
		t.Errorf("%q, want %q", password, place.Password())
	}
}

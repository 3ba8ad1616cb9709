package vnc

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/tests/harness"
)

// recordFiles are the stored records of workstations, by the workstation's name.
func recordFiles(h *harness.Gateway) map[string]string {
	h.T.Helper()
	paths, err := filepath.Glob(filepath.Join(h.Dir, "storage", "gatehouse", "workstations", "*.json"))
	if err != nil {
		h.T.Fatal(err)
	}
	byName := map[string]string{}
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			h.T.Fatal(err)
		}
		name, _ := harness.At(harness.Parse(h.T, text), "name").(string)
		byName[name] = path
	}
	return byName
}

// It is not known which workstations are released, so no desktop opens. Models are not affected,
// and no reload is needed once the record is repaired.
func TestVNCADamagedRecordClosesTheDesktopsOnly(t *testing.T) {
	d := harness.NewVNCServer(t, harness.NoSecurity)
	s := harness.Setup{VNC: "register_networks 127.0.0.1/32\n" + d.As("one", "") + d.As("two", "")}
	h := harness.StartVNC(t, s)
	h.VNC.Release("one")
	h.Client.Want(201, "PUT", workstations+"/three", "manage", `{"address":"`+d.Address()+`"}`)
	h.Stop()
	records := recordFiles(h)
	whole, err := os.ReadFile(records["one"])
	if err != nil {
		t.Fatal(err)
	}
	damage := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(records[name], []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	damage("one", string(whole[:len(whole)/2]))
	damage("three", "")
	harness.Log.Reset()
	if err := h.Reload(s); err != nil {
		t.Fatal("the models are closed too: ", err)
	}
	h.VNC.Ready()
	if a := h.Client.Post(harness.ChatV1, "full", harness.Chat("fake/echo", "")); a.Status != 200 {
		t.Errorf("a call: %d %s", a.Status, a.Body)
	}
	for _, c := range [][3]string{
		{"GET", workstations, ""}, {"GET", workstations + "/two", ""}, {"GET", workstations + "/two/sessions", ""}, {"POST", vncOfOne, ""},
		{"POST", workstations + "/two/vnc", "{}"}, {"PUT", workstations + "/four", `{"address":"` + d.Address() + `"}`}, {"DELETE", workstations + "/two", ""},
	} {
		harness.WantRefusal(t, c[1], h.Client.Do(c[0], c[1], "desk", c[2]), 503, "storage_unavailable")
	}
	refusedWith(h, harness.Address{Host: strings.Repeat("a2", 13) + "." + harness.VNCDomain}, "The workstation cannot be reached. Try again later.")
	named := false // the first of them that was read
	for _, line := range harness.Log.Lines(`"level":"error"`) {
		named = named || strings.Contains(line, filepath.Base(records["one"])) || strings.Contains(line, filepath.Base(records["three"]))
	}
	if !named {
		t.Errorf("no error in the log names a record: %q", harness.Log.Lines(`"level":"error"`))
	}

	damage("one", string(whole))
	if err := os.Remove(records["three"]); err != nil {
		t.Fatal(err)
	}
	h.Become(s) // or in five seconds: internal/gateway tries again by itself
	if got := names(h, "desk"); got != "one released, two available" {
		t.Errorf("workstations: %s", got)
	}
	w := h.VNC.View(h.VNC.Issue("connect", "two", ""))
	w.Leave()
}

package tests

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// recordFiles are the stored records of workstations, by the workstation's name.
func (h *harness) recordFiles() map[string]string {
	h.t.Helper()
	paths, err := filepath.Glob(filepath.Join(h.dir, "storage", "gatehouse", "workstations", "*.json"))
	if err != nil {
		h.t.Fatal(err)
	}
	byName := map[string]string{}
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			h.t.Fatal(err)
		}
		name, _ := at(parse(h.t, text), "name").(string)
		byName[name] = path
	}
	return byName
}

// It is not known which workstations are released, so no desktop opens. Models are not affected,
// and no reload is needed once the record is repaired.
func TestVNCADamagedRecordClosesTheDesktopsOnly(t *testing.T) {
	d := newVNCServer(t, asNone)
	s := setup{vnc: "register_networks 127.0.0.1/32\n" + d.as("one", "") + d.as("two", "")}
	h := startVNC(t, s)
	h.release("one")
	h.want(201, "PUT", workstations+"/three", "manage", `{"address":"`+d.address()+`"}`)
	h.stop()
	records := h.recordFiles()
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
	logs.reset()
	if err := h.reload(s); err != nil {
		h.stopped = true
		t.Fatal("the models are closed too: ", err)
	}
	h.vncReady()
	if a := h.post(chatV1, "full", chat("fake/echo", "")); a.status != 200 {
		t.Errorf("a call: %d %s", a.status, a.body)
	}
	for _, c := range [][3]string{
		{"GET", workstations, ""}, {"GET", workstations + "/two", ""}, {"GET", workstations + "/two/sessions", ""}, {"POST", vncOfOne, ""},
		{"POST", workstations + "/two/vnc", "{}"}, {"PUT", workstations + "/four", `{"address":"` + d.address() + `"}`}, {"DELETE", workstations + "/two", ""},
	} {
		wantRefusal(t, c[1], h.do(c[0], c[1], "desk", c[2]), 503, "storage_unavailable")
	}
	h.refusedWith(address{host: strings.Repeat("a2", 13) + "." + vncDomain}, "The workstation cannot be reached. Try again later.")
	named := false // the first of them that was read
	for _, line := range h.logLines(`"level":"error"`) {
		named = named || strings.Contains(line, filepath.Base(records["one"])) || strings.Contains(line, filepath.Base(records["three"]))
	}
	if !named {
		t.Errorf("no error in the log names a record: %q", h.logLines(`"level":"error"`))
	}

	damage("one", string(whole))
	if err := os.Remove(records["three"]); err != nil {
		t.Fatal(err)
	}
	if !eventually(func() bool { return h.do("POST", workstations+"/two/vnc", "connect", "").status == 200 }) {
		t.Fatal("it is not tried again")
	}
	if got := h.names("desk"); got != "one released, two available" {
		t.Errorf("workstations: %s", got)
	}
	w := h.view(h.issue("connect", "two", ""))
	w.leave()
}

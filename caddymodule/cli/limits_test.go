package cli

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

// runCommand runs `caddy gatehouse …` against an admin endpoint, and returns what it prints with runs
// of spaces as one.
func runCommand(t *testing.T, admin http.HandlerFunc, args ...string) (lines []string, err error) {
	t.Helper()
	server := httptest.NewServer(admin)
	defer server.Close()
	cmd := newLimitsCommand()
	if args[0] == "sessions" {
		cmd = newSessionsCommand()
	}
	var out strings.Builder
	cmd.SetOut(&out)
	cmd.SetErr(io.Discard)
	cmd.SetArgs(append(args[1:], "--address", strings.TrimPrefix(server.URL, "http://")))
	err = cmd.ExecuteContext(t.Context())
	for line := range strings.Lines(out.String()) {
		lines = append(lines, strings.Join(strings.Fields(line), " "))
	}
	return lines, err
}

func TestTheCommandShowsLimitsPageByPage(t *testing.T) {
	resets := time.Now().Add(3*time.Hour + 20*time.Minute + 30*time.Second).UTC().Format(time.RFC3339)
	pages := map[string]string{
		"": `{"data":[
			{"subject":"gateway","tenant":null,"type":"concurrency","configured":"200","remaining":150,"used_ratio":0.25,"exhausted":false,"resets_at":null,"in_use":50,"queued":2},
			{"subject":"key:dev","tenant":"acme","type":"budget","configured":"10usd/day","remaining":0,"used_ratio":0.999999,"exhausted":true,
			 "resets_at":"` + resets + `","spent":9.123456789,"reserved":0.5}],"next_cursor":"two"}`,
		"two": `{"data":[
			{"subject":"key:dev","tenant":"acme","type":"budget","configured":"5usd/total","remaining":5,"used_ratio":0,"exhausted":false,"resets_at":null,"spent":0,"reserved":0},
			{"subject":"key:dev","tenant":"acme","type":"rate","configured":"60/min","remaining":15,"used_ratio":0.75,"exhausted":false,"resets_at":null,"used":45}],"next_cursor":null}`,
	}
	admin := func(w http.ResponseWriter, r *http.Request) {
		if q := r.URL.Query(); r.URL.Path != "/gatehouse/limits" || q.Get("tenant") != "acme" || q.Get("min_used") != "0.8" {
			t.Errorf("%s", r.URL)
		}
		_, _ = io.WriteString(w, pages[r.URL.Query().Get("cursor")])
	}
	lines, err := runCommand(t, admin, "limits", "--tenant", "acme", "--full", "80")
	want := []string{
		"SUBJECT TENANT LIMIT USED LEFT FULL RESETS",
		"gateway - concurrency 200 50 + 2 waiting 150 25% -",
		"key:dev acme budget 10usd/day 9.123457 + 0.5 reserved 0 99% full in 3h 20m",
		"key:dev acme budget 5usd/total 0 5 0% never",
		"key:dev acme rate 60/min 45 15 75% -",
	}
	if err != nil || strings.Join(lines, "\n") != strings.Join(want, "\n") {
		t.Errorf("%v\n%s", err, strings.Join(lines, "\n"))
	}
	lines, err = runCommand(t, admin, "limits", "--tenant", "acme", "--full", "80", "--limit", "2")
	if err != nil || len(lines) != 5 || !strings.HasPrefix(lines[4], "Only the first 2 are shown.") {
		t.Errorf("%v %q", err, lines)
	}
	lines, err = runCommand(t, admin, "limits", "--tenant", "acme", "--full", "80", "--json")
	if err != nil || lines[0] != "[" || strings.Count(strings.Join(lines, ""), `"subject"`) != 4 {
		t.Errorf("%v %q", err, lines)
	}
	if _, err = runCommand(t, admin, "limits", "--full", "101"); err == nil || !strings.Contains(err.Error(), "from 0 to 100") {
		t.Errorf("error %v", err)
	}
}

func TestTheCommandShowsAndEndsSessions(t *testing.T) {
	ended := ""
	admin := func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.Method == http.MethodDelete:
			ended = r.URL.Path
			w.WriteHeader(http.StatusNoContent)
		case r.URL.Query().Get("key") == "none":
			_, _ = io.WriteString(w, `{"object":"list","data":[]}`)
		default:
			_, _ = fmt.Fprintf(w, `{"object":"list","data":[{"session_id":"vnc-1","tenant":"acme","workstation_id":"desk1","key":"dev","viewer":"192.0.2.1:5","security":"TLSFirst","view_only":true,"role":"guest","guests":2,
				"started_at":%q,"until":%q,"bytes_up":10,"bytes_down":3670016}]}`,
				time.Now().Add(-26*time.Hour-time.Minute).UTC().Format(time.RFC3339), time.Now().Add(90*time.Second).UTC().Format(time.RFC3339Nano))
		}
	}
	lines, err := runCommand(t, admin, "sessions")
	if err != nil || len(lines) != 2 || lines[0] != "SESSION TENANT WORKSTATION KEY VIEWER SECURITY OPEN FOR ENDS UP DOWN" ||
		lines[1] != "vnc-1 acme desk1 dev 192.0.2.1:5 (guest, view only, guests: 2) TLSFirst 1d 2h in 1m 30s 10 B 3.5 MiB" {
		t.Errorf("%v %q", err, lines)
	}
	if lines, err = runCommand(t, admin, "sessions", "--key", "none"); err != nil || len(lines) != 1 || lines[0] != "No open sessions." {
		t.Errorf("%v %q", err, lines)
	}
	if lines, err = runCommand(t, admin, "sessions", "end", "vnc-1"); err != nil || ended != "/gatehouse/sessions/vnc-1" || lines[0] != "Session vnc-1 has ended." {
		t.Errorf("%v %q, ended %q", err, lines, ended)
	}
	if _, err = runCommand(t, admin, "sessions", "end", "../limits"); err == nil {
		t.Error("a path was taken for a session")
	}
}

package cli

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	caddycmd "github.com/caddyserver/caddy/v2/cmd"
	"github.com/spf13/cobra"

	"github.com/gatehouse-proxy/gatehouse/internal/report"
	"github.com/gatehouse-proxy/gatehouse/internal/testkit/jsontest"
)

// operate runs a command with an admin endpoint, and returns what it prints.
func operate(t *testing.T, cmd *cobra.Command, admin http.HandlerFunc, args ...string) (string, error) {
	t.Helper()
	return operateWith(t, cmd, io.Discard, admin, args...)
}

// operateWith is operate; notes gets what is no part of the answer.
func operateWith(t *testing.T, cmd *cobra.Command, notes io.Writer, admin http.HandlerFunc, args ...string) (string, error) {
	t.Helper()
	server := httptest.NewServer(admin)
	defer server.Close()
	var out strings.Builder
	cmd.SetOut(&out)
	cmd.SetErr(notes)
	cmd.SetArgs(append(args, "--address", strings.TrimPrefix(server.URL, "http://")))
	err := cmd.ExecuteContext(t.Context())
	return out.String(), err
}

func refuse(http.ResponseWriter, *http.Request) { panic("a request was sent") }

func TestACommandSaysThatNoCaddyAnswers(t *testing.T) {
	gone := httptest.NewServer(http.NotFoundHandler())
	address := strings.TrimPrefix(gone.URL, "http://")
	gone.Close()
	o := operator{address: address, out: io.Discard}
	err := printBudgets(&o)
	if err == nil || !strings.HasPrefix(err.Error(), "no Caddy answers at "+address+" (dial tcp ") || !strings.Contains(err.Error(), "--address") {
		t.Errorf("error %v", err)
	}
}

func TestAnUnknownSubcommandAndAMissingArgumentFail(t *testing.T) {
	for wanted, args := range map[string][]string{
		`unknown command "lsit"`:                                {"lsit"},
		"usage: workstation end ID SESSION (given: 1 argument)": {"end", "desk1"},
		"not the name of a workstation":                         {"release", "../../limits"},
	} {
		if _, err := operate(t, newWorkstationCommand(), refuse, args...); err == nil || !strings.Contains(err.Error(), wanted) {
			t.Errorf("%q: %v, want %q", args, err, wanted)
		}
	}
	if _, err := operate(t, newActivityCommand(), refuse, "--since", "-1h"); err == nil || !strings.Contains(err.Error(), "--since") {
		t.Errorf("error %v", err)
	}
	if _, err := operate(t, newActivityCommand(), refuse, "--slower", "-1s"); err == nil || !strings.Contains(err.Error(), "--slower") {
		t.Errorf("error %v", err)
	}
}

func TestWorkstationsAreListedByTenant(t *testing.T) {
	admin := func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, `{"object":"list","data":[{"workstation_id":"a","tenant":"default","source":"declared","state":"available","sessions":1,"tokens":2},
			{"workstation_id":"b","tenant":"acme","source":"ctl-a","generation":"vm-7f3a/4","state":"released","sessions":0,"tokens":0,"address":"192.0.2.1:5900"}]}`)
	}
	for wanted, args := range map[string][]string{
		"WORKSTATION  TENANT   SOURCE    STATE      SESSIONS  TOKENS  ADDRESS         GENERATION\n" +
			"a            default  declared  available  1         2       -               -\n" +
			"b            acme     ctl-a     released   0         0       192.0.2.1:5900  vm-7f3a/4\n": {"list"},
		"WORKSTATION  TENANT  SOURCE  STATE     SESSIONS  TOKENS  ADDRESS         GENERATION\n" +
			"b            acme    ctl-a   released  0         0       192.0.2.1:5900  vm-7f3a/4\n": {"list", "--tenant", "acme"},
		"No workstations.\n": {"list", "--tenant", "none"},
		"[]\n":               {"list", "--tenant", "none", "--json"},
	} {
		if out, err := operate(t, newWorkstationCommand(), admin, args...); err != nil || out != wanted {
			t.Errorf("%q: %v\n%s", args, err, out)
		}
	}
}

func TestARegistrationIsWhatTheFlagsSay(t *testing.T) {
	for wanted, args := range map[string][]string{
		`{"address":"192.0.2.1:5900"}`: nil,
		`{"address":"192.0.2.1:5900","credential":"vm","generation":"vm-7f3a/4","source":"ctl-a"}`: {"--credential", "vm", "--generation", "vm-7f3a/4", "--source", "ctl-a"},
	} {
		var got []byte
		admin := func(w http.ResponseWriter, r *http.Request) {
			got, _ = io.ReadAll(r.Body)
			w.WriteHeader(http.StatusNoContent)
		}
		if out, err := operate(t, newWorkstationCommand(), admin, append([]string{"register", "desk1", "192.0.2.1:5900"}, args...)...); err != nil || string(got) != wanted {
			t.Errorf("%q: %v\n%s\n%s", args, err, out, got)
		}
	}
}

func TestWhatAWorkstationCommandDidIsPrinted(t *testing.T) {
	asked := ""
	admin := func(w http.ResponseWriter, r *http.Request) {
		asked = r.Method + " " + r.URL.Path
		w.WriteHeader(http.StatusNoContent)
	}
	for wanted, args := range map[string][]string{
		"Workstation desk1 is released.\n":         {"release", "desk1"},
		"Workstation desk1 is in service again.\n": {"restore", "desk1", "--tenant", "acme"},
		"Workstation desk1 is in service.\n":       {"register", "desk1", "192.0.2.1:5900"},
		"Session vnc-1 has ended.\n":               {"end", "desk1", "vnc-1"},
	} {
		out, err := operate(t, newWorkstationCommand(), admin, args...)
		if err != nil || out != wanted {
			t.Errorf("%q: %v\n%s", args, err, out)
		}
		tenant := "default"
		if len(args) == 4 {
			tenant = "acme"
		}
		if !strings.Contains(asked, "/gatehouse/workstations/"+tenant+"/desk1") {
			t.Errorf("%q asks %s", args, asked)
		}
	}
}

func TestBudgetsAreLimitsOfOneType(t *testing.T) {
	admin := func(w http.ResponseWriter, r *http.Request) {
		if q := r.URL.Query(); r.URL.Path != "/gatehouse/limits" || q.Get("type") != "budget" || q.Get("tenant") != "acme" {
			t.Errorf("%s", r.URL)
		}
		_, _ = io.WriteString(w, `{"data":[{"subject":"key:dev","type":"budget","configured":"5usd/day","resets_at":"2026-03-19T00:00:00.000Z","spent":2.5000000001,"reserved":0},
			{"subject":"tenant:acme","type":"budget","configured":"9 tokens/total soft","resets_at":null,"spent":3,"reserved":1}],"next_cursor":null}`)
	}
	const want = "SUBJECT      BUDGET               SPENT         RESERVED  RESETS\n" +
		"key:dev      5usd/day             2.5000000001  0         2026-03-19T00:00:00Z\n" +
		"tenant:acme  9 tokens/total soft  3             1         never\n"
	if out, err := operate(t, newBudgetCommand(), admin, "--tenant", "acme"); err != nil || out != want {
		t.Errorf("%v\n%s", err, out)
	}
}

// Each command that asks a running Caddy names it by the same flags.
func TestCommandsAreNamedOnceAndHaveTheSameFlags(t *testing.T) {
	root := &cobra.Command{Use: "gatehouse"}
	caddycmd.Commands()["gatehouse"].CobraFunc(root)
	offline := map[string]bool{"gatehouse check": true, "gatehouse key new": true}
	var walk func(cmd *cobra.Command)
	walk = func(cmd *cobra.Command) {
		seen := map[string]bool{}
		for _, sub := range cmd.Commands() {
			if seen[sub.Name()] {
				t.Errorf("%s is there twice", sub.CommandPath())
			}
			seen[sub.Name()] = true
			walk(sub)
		}
		if cmd == root || cmd.Name() == "key" || offline[cmd.CommandPath()] {
			return
		}
		if cmd.InheritedFlags().Lookup("address") == nil && cmd.PersistentFlags().Lookup("address") == nil {
			t.Errorf("%s has no --address", cmd.CommandPath())
		}
		if json := cmd.Flags().Lookup("json"); json != nil && json.Usage != "print JSON" {
			t.Errorf("%s: --json is described as %q", cmd.CommandPath(), json.Usage)
		}
	}
	walk(root)
}

func TestAKeyIsFoundByItsNameOrTheBeginningOfItsHash(t *testing.T) {
	ada, alan := strings.Repeat("0af9", 16), strings.Repeat("be37", 16)
	made := []report.ShownKey{{Hash: ada, Name: "Ada"}, {Hash: alan, Name: "Alan"}, {Hash: strings.Repeat("c", 64), Name: "dev box"}}
	admin := func(w http.ResponseWriter, r *http.Request) {
		q := r.URL.Query()
		switch {
		case r.URL.Path == keysPath && q.Get("source") == "configuration":
			_, _ = io.WriteString(w, `{"data":[{"name":"dev","source":"configuration"}]}`)
		case r.URL.Path == keysPath && q.Get("include_disabled") == "true":
			_ = json.NewEncoder(w).Encode(map[string]any{"data": slices.DeleteFunc(slices.Clone(made), func(k report.ShownKey) bool {
				return !strings.Contains(strings.ToLower(k.Name), strings.ToLower(q.Get("search"))) && !strings.HasPrefix(k.Hash, q.Get("search"))
			})})
		case r.URL.Path == sessionsPath:
			_, _ = io.WriteString(w, `{"data":[{"session_id":"vnc-1","tenant":"default","workstation_id":"desk1","key":"`+q.Get("key")+`"}]}`)
		default:
			t.Errorf("asked for %s", r.URL)
		}
	}
	for key, want := range map[string]string{"ada": ada, "al": alan, ada[:12]: ada, "be37": alan, "dev": "dev", "dev b": strings.Repeat("c", 64), "abcdefabcdef": "abcdefabcdef"} {
		var notes strings.Builder
		cmd := newSessionsCommand()
		out, err := operateWith(t, cmd, &notes, admin, "--key", key, "--json")
		if err != nil || !jsontest.Has(t, out, `{"key": "`+want+`"}`) {
			t.Errorf("--key %s: %v %s", key, err, out)
		}
		if unknown := strings.Contains(notes.String(), "No key is called "+key); unknown != (key == "abcdefabcdef") {
			t.Errorf("--key %s: noted %q", key, notes.String())
		}
	}
	if _, err := operate(t, newActivityCommand(), admin, "--key", "a"); err == nil || !strings.Contains(err.Error(), `2 keys are called "a" or begin so: give the hash of one, such as 0af90af90af9 (Ada), be37be37be37 (Alan)`) {
		t.Errorf("%v", err)
	}
	if out, err := operate(t, newSessionsCommand(), admin, "--key", ada); err != nil || strings.Contains(out, ada) || !strings.Contains(out, ada[:12]) {
		t.Errorf("%v %s", err, out)
	}
}

package operator

import (
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/tests/harness"
)

// check runs `caddy gatehouse check` in a home of its own, and returns what it prints and its status.
func check(t *testing.T, caddyfile string, args ...string) (out string, status int) {
	t.Helper()
	dir := t.TempDir()
	file := filepath.Join(dir, "Caddyfile")
	if err := os.WriteFile(file, []byte(caddyfile), 0o600); err != nil {
		t.Fatal(err)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), self)
	cmd.Args = append([]string{"caddy", "gatehouse", "check", "--config", file}, args...)
	home := filepath.Join(dir, "home")
	cmd.Env = append(os.Environ(), "HOME="+home, "XDG_DATA_HOME="+home, "XDG_CONFIG_HOME="+home, "CHECK_KEY="+harness.ProviderKey)
	text, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		status = exit.ExitCode()
	} else if err != nil {
		t.Fatal(err)
	}
	if files := filesBelow(t, dir); strings.Join(files, " ") != dir+" "+file {
		t.Errorf("check made files: %v", files)
	}
	return string(text), status
}

// gatehouseFile is a configuration with these options, and nothing else to say of it.
func gatehouseFile(options string) string {
	return "{\n\tgrace_period 5s\n\tgatehouse {\n" + options + "\n\t}\n}\n\nhttp://127.0.0.1:8080 {\n\tgatehouse\n}\n"
}

const (
	checkProvider = "provider fake {\nbase_url http://127.0.0.1:9/v1\napi_key {env.CHECK_KEY}\nmodels known\n}\n"
	checkKey      = "key dev {\nhash sha256:0f1e2d3c4b5a69788796a5b4c3d2e1f00f1e2d3c4b5a69788796a5b4c3d2e1f0\nscopes chat:write\n"
)

func TestCheckFindsWhatIsMostLikelyAMistake(t *testing.T) {
	for name, test := range map[string]struct {
		config string
		status int
		wants  []string
	}{
		"nothing": {strings.Replace(gatehouseFile(checkKey+"}\n"+checkProvider), "{\n", "{\n"+keepsConnections, 1), 0, []string{"0 errors, 0 warnings, 1 note"}},
		"connections that a reload closes": {gatehouseFile(checkKey + "}\n" + checkProvider), 0,
			[]string{"note listener_wrappers", "servers { listener_wrappers { gatehouse tls gatehouse } }", "0 errors, 0 warnings, 2 notes"}},
		"TLS connections that a reload closes": {strings.NewReplacer("{\n\tgrace", "{\nlocal_certs\nskip_install_trust\nservers {\nlistener_wrappers {\ngatehouse\ntls\n}\n}\n\tgrace", "http://127.0.0.1:8080", "https://127.0.0.1:8443").
			Replace(gatehouseFile(checkKey + "}\n" + checkProvider)), 0, []string{"note listener_wrappers", "2 notes"}},
		"a broken file":            {"{", 2, []string{"syntax error"}},
		"what does not load":       {gatehouseFile(checkKey + "}\n" + strings.Replace(checkProvider, "CHECK_KEY", "CHECK_NONE", 1)), 2, []string{"CHECK_NONE is not set"}},
		"a key that calls nothing": {gatehouseFile(checkKey + "models other/*\n}\n" + checkProvider), 2, []string{"error    key dev", "it can call nothing", "other/*"}},
		"a model that is not served": {gatehouseFile(checkKey + "models fake/known other/x\n}\nmodel none/* {\nrate 1/s\n}\n" + checkProvider), 1,
			[]string{"warning  key dev", "other/x", "model none/*", "it limits nothing"}},
		"an expired key": {gatehouseFile(checkKey + "expires 2020-01-01\n}\n" + checkProvider), 1, []string{"it expired at 2020-01-01"}},
		"a target that is not served": {gatehouseFile(checkKey + "}\nalias a {\ngroup {\ntarget fake/known\ntarget fake/none\n}\n}\n" + checkProvider), 1,
			[]string{"alias a", "fake/none"}},
		"limits that never bind": {gatehouseFile(checkKey + "rate 100/min\nrate 50/h\nbudget 20 tokens/day\nconcurrency 9\n}\ntenant default {\nbudget 10 tokens/day\nrate 60/min\n}\nconcurrency 8\n" + checkProvider), 1,
			[]string{"rate 100/min never binds: tenant default has rate 60/min", "rate 100/min never binds, because of rate 50/h",
				"budget 20 tokens/day never binds: tenant default has budget 10 tokens/day", "concurrency 9 never binds: gateway has concurrency 8"}},
		"no price":                    {gatehouseFile(checkKey + "budget 1usd/day\n}\n" + checkProvider), 1, []string{"budget 1usd/day of key dev is hard, so its calls of fake/known are refused with 402"}},
		"no price, a tenant's budget": {gatehouseFile(checkKey + "}\ntenant default {\nbudget 2usd/day\n}\n" + checkProvider), 1, []string{"budget 2usd/day of tenant default is hard"}},
		"no credential": {gatehouseFile(checkKey + "}\n" + strings.NewReplacer("http://127.0.0.1:9", "https://api.example.com", "api_key {env.CHECK_KEY}\n", "").Replace(checkProvider)), 1,
			[]string{"no api_key"}},
		"a provider without models": {gatehouseFile(checkKey + "}\n" + strings.Replace(checkProvider, "models known", "models gpt-*", 1)), 2, []string{"no model of it can be called"}},
		"the test provider":         {strings.Replace(gatehouseFile(checkKey+"}\nprovider test {\ndialect test\n}\n"), "127.0.0.1:8080", ":8080", 1), 1, []string{"test provider"}},
		"engines without TLS": {gatehouseFile(checkKey + "}\n" + checkProvider + "cluster prod {\nvalkey valkey://10.0.0.5\npostgres postgres://gw@10.0.0.6/gw?sslmode=disable\n}\n"), 1,
			[]string{"cluster prod: Valkey", "valkeys://", "cluster prod: PostgreSQL", "sslmode=verify-full", "0 errors, 2 warnings"}},
		"no grace period": {strings.Replace(gatehouseFile(checkKey+"}\n"+checkProvider), "grace_period 5s", "", 1), 1, []string{"grace_period 30s"}},
		"an access log": {strings.Replace(gatehouseFile(checkKey+"}\n"+checkProvider), "\tgatehouse\n}\n", "\tgatehouse\n\tlog {\n\t\toutput file access.log\n\t}\n}\n", 1), 1,
			[]string{"X-Api-Key"}},
		"no site": {strings.Replace(gatehouseFile(checkKey+"}\n"+checkProvider), "\tgatehouse\n}\n", "\trespond ok\n}\n", 1), 2, []string{"no site has the directive"}},
		"desktops": {gatehouseFile(checkKey + "}\nvnc {\ndomain vnc.example.com\nworkstation desk1 10.0.0.7:5901\n}\n" + checkProvider), 2,
			[]string{"no layer4 server", "needs the DNS", "there is no certificate for *.vnc.example.com yet"}},
		"another port than the listener's": {strings.Replace(gatehouseFile(checkKey+"}\nvnc {\ndomain vnc.localhost\nport 5905\n}\n"+checkProvider), "{\n", "{\nlayer4 {\n127.0.0.1:5901-5904 {\nroute {\nvnc\n}\n}\n}\n", 1), 1,
			[]string{"the addresses of desktops have port 5905, and layer4 listens at 127.0.0.1:5901-5904"}},
		"the listener's port": {strings.Replace(gatehouseFile(checkKey+"}\nvnc {\ndomain vnc.localhost\nport 5901\n}\n"+checkProvider), "{\n", "{\nlayer4 {\n:5901 {\nroute {\nvnc\n}\n}\n}\n", 1), 0, []string{"0 warnings"}},
		"agents without desktops": {
			gatehouseFile(strings.Replace(checkKey, "chat:write", "chat:write mcp:call workstations:automate", 1) + "mcp desks\n}\nmcp desks {\ndesktops\n}\n" + checkProvider), 1,
			[]string{"warning mcp desks it has no desktops", "warning key dev its scope workstations:automate has no effect", "0 errors, 2 warnings"},
		},
		"agents without automation": {
			gatehouseFile(strings.Replace(checkKey, "chat:write", "chat:write workstations:automate", 1) + "}\nvnc {\ndomain vnc.example.com\nautomation view\nsession {\nautomation off\n}\n}\n" + checkProvider), 2,
			[]string{"warning key dev its scope workstations:automate has no effect", "1 warning,"},
		},
		"agents with automation": {
			gatehouseFile(strings.Replace(checkKey, "chat:write", "chat:write workstations:automate", 1) + "}\nvnc {\ndomain vnc.example.com\nautomation view\n}\n" + checkProvider), 2,
			[]string{"0 warnings"},
		},
		"tools that nobody reaches": {gatehouseFile(checkKey + "mcp demo\n}\nkey ci {\nsecret {env.CHECK_KEY}\nscopes mcp:call\n}\nkey lab {\nhash sha256:1f1e2d3c4b5a69788796a5b4c3d2e1f00f1e2d3c4b5a69788796a5b4c3d2e1f0\nscopes mcp:call\ntenant lab\nmcp demo\n}\n" +
			"tenant lab {\nmcp far\n}\nmcp demo {\ndemo\n}\nmcp far {\nurl https://tools.example.com/mcp\n}\nmcp open {\nurl https://tools.example.com/mcp\napi_key literal-key-3f9a\n}\n" + strings.Replace(checkProvider, "api_key {env.CHECK_KEY}\n", "", 1)), 1, []string{
			"warning key dev its mcp lines have no effect", "warning key ci it has the scope mcp:call and reaches no MCP server", "warning key lab its tenant lab takes all MCP servers from it",
			"warning mcp demo no key reaches it", "warning mcp far no key reaches it", "note mcp far nothing authorizes the gateway there", "warning mcp open its api_key is written in the configuration", "warning mcp demo it is the built-in server",
		}},
		"a secret in the open": {gatehouseFile(checkKey + "secret " + harness.Secret("full") + "\n}\n" + checkProvider), 1, []string{"its secret is written in the configuration"}},
	} {
		t.Run(name, func(t *testing.T) {
			out, status := check(t, test.config)
			if status != test.status {
				t.Errorf("the status is %d, not %d", status, test.status)
			}
			flat := strings.Join(strings.Fields(out), " ")
			for _, want := range test.wants {
				if !strings.Contains(flat, strings.Join(strings.Fields(want), " ")) {
					t.Errorf("no %q", want)
				}
			}
			for _, secret := range []string{harness.Secret("full"), harness.ProviderKey, "level\":"} {
				if strings.Contains(out, secret) {
					t.Errorf("%q is printed", secret)
				}
			}
			if t.Failed() {
				t.Log("\n" + out)
			}
		})
	}
}

// Only --dial asks the network: for lists of models, with the credential, and nothing else.
func TestCheckTriesCredentials(t *testing.T) {
	var mu sync.Mutex // guards asked
	var asked []string
	provider := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		asked = append(asked, r.Method+" "+r.URL.Path)
		mu.Unlock()
		if r.Header.Get("Authorization") != "Bearer "+harness.ProviderKey {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		_, _ = w.Write([]byte(`{"object":"list","data":[{"id":"listed","object":"model"}]}`))
	}))
	defer provider.Close()
	block := func(name, key string) string {
		return "provider " + name + " {\nbase_url " + provider.URL + "/v1\napi_key " + key + "\ndiscover 10m\n}\n"
	}
	config := gatehouseFile(checkKey + "models good/listed good/not-listed bad/*\n}\n" + block("good", "{env.CHECK_KEY}") + block("bad", "wrong-credential-3f9a"))
	if _, status := check(t, config); status != 1 || asked != nil { // a literal credential
		t.Errorf("without --dial: status %d, asked %v", status, asked)
	}
	out, status := check(t, config, "--dial", "--json")
	var found []struct{ Severity, Subject, Problem string }
	if err := json.Unmarshal([]byte(out), &found); err != nil || status != 2 {
		t.Fatalf("%d %v %s", status, err, out)
	}
	var all strings.Builder
	for _, f := range found {
		all.WriteString(f.Severity + " " + f.Subject + ": " + f.Problem + "\n")
	}
	for _, want := range []string{"error provider bad: it refuses the gateway's credential with 401", "note provider good: its list of 1 model came", "warning key dev: no provider serves a model of good/not-listed\n"} {
		if !strings.Contains(all.String(), want) {
			t.Errorf("no %q in\n%s", want, all.String())
		}
	}
	if strings.Join(asked, " ") != "GET /v1/models GET /v1/models" || strings.Contains(out, "wrong-credential-3f9a") {
		t.Errorf("asked %v; %s", asked, out)
	}
}

// Names below localhost lead to this machine also where no resolver knows them (RFC 6761, section 6.3).
func TestCheckKnowsDesktopsBelowLocalhost(t *testing.T) {
	config := strings.Replace(gatehouseFile(checkKey+"}\nvnc {\ndomain vnc.localhost\nport 9\n}\n"+checkProvider), "{\n", "{\nlayer4 {\n127.0.0.1:9 {\nroute {\nvnc\n}\n}\n}\n", 1)
	out, _ := check(t, config, "--dial")
	if flat := strings.Join(strings.Fields(out), " "); !strings.Contains(flat, "gatehouse-check.vnc.localhost leads to 127.0.0.1:9") || strings.Contains(flat, "DNS record") {
		t.Error(out)
	}
}

package operator

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/tests/harness"
)

// What an operator sees, keeps and passes on has names and hashes, and nothing that opens anything.
func TestSecretsAreInNoOutputForOperators(t *testing.T) {
	h := harness.Vacant(t)
	admin := "unix//" + h.Dir + "/admin"
	hashed := "key hashed {\nhash sha256:" + harness.SHA256(harness.Secret("hashed")) + "\nscopes chat:write models:read\nrate 1000/min\nbudget 100 tokens/total\n}\n"
	config := harness.Setup{Keys: harness.DefaultKeys + hashed, VNC: "workstation desk1 127.0.0.1:5901 {\npassword {env.PROVIDER_KEY}\n}", NoLayer4: true, NoKeys: true, Global: "admin " + admin}
	c := h.Run(config)
	var ids []string
	for _, model := range []string{"fake/leaky-headers", "fake/err-401", "fake/error-200", "fake/err-mid-stream", "fake/OWN", "OWN", "test/echo"} {
		for _, key := range []string{"full", "hashed"} {
			model := strings.Replace(model, "OWN", harness.Secret(key), 1)
			r := h.Client.Request(harness.ChatV1, key, strings.Replace(harness.Chat(model, harness.Streaming), "say hello", canaries["the prompt"], 1))
			r.Header.Set("Cookie", "session="+canaries["the client's cookie"])
			r.Header.Set("X-Client-Request-Id", harness.Secret(key))
			r.Header.Set("X-Forwarded-For", clientAddress)
			ids = append(ids, h.Client.Send(r).Header.Get("X-Request-Id"))
		}
	}
	seen := map[string]string{}
	for _, args := range [][]string{
		{"budget"}, {"providers"}, {"providers", "--json"}, {"workstation", "list"}, {"health"}, {"health", "--json"},
		{"activity"}, {"activity", "--json"}, {"activity", "--csv"}, {"series"}, {"series", "--json"}, {"limits"}, {"limits", "--json"}, {"sessions"}, {"key", "list"},
		{"why", harness.Secret("nobody")}, {"workstation", "release", harness.Secret("full")},
	} {
		out, failure, _ := c.Operate(append(args, "--address", admin)...)
		if len(args) > 1 && (args[1] == "release" || args[0] == "why") { // the operator's own argument
			failure = strings.NewReplacer(harness.Secret("nobody"), "", harness.Secret("full"), "").Replace(failure)
		}
		seen[strings.Join(args, " ")] = out + failure
	}
	for _, id := range ids {
		for _, form := range [][]string{{"why", id}, {"why", id, "--json"}} {
			out, failure, err := c.Operate(append(form, "--address", admin)...)
			if err != nil {
				t.Errorf("%v: %v %s", form, err, failure)
			}
			seen[strings.Join(form, " ")] = out + failure
		}
	}
	file := filepath.Join(h.Dir, "backup.db")
	if _, failure, err := c.Operate("backup", file, "--address", admin); err != nil {
		t.Fatalf("%v %s", err, failure)
	}
	copied, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	seen["the backup"] = string(copied)
	configFile, err := filepath.Glob(filepath.Join(h.Dir, "Caddyfile-*"))
	if err != nil || len(configFile) != 1 {
		t.Fatal(configFile, err)
	}
	out, failure, _ := c.Operate("check", "--dial", "--config", configFile[0])
	if !strings.Contains(out, "provider fake") {
		t.Errorf("check looked at nothing: %s %s", out, failure)
	}
	seen["check"] = out + failure
	for where, text := range seen {
		for what, canary := range canaries {
			if i := strings.Index(text, canary); i >= 0 {
				t.Errorf("%s holds %s: …%s…", where, what, text[max(0, i-200):min(len(text), i+60)])
			}
		}
		if strings.Contains(text, clientAddress) {
			t.Errorf("%s holds the client's address", where)
		}
	}
}

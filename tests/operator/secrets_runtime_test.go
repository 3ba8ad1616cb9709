package operator

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/testkit/jsontest"
	"github.com/gatehouse-proxy/gatehouse/tests/harness"
)

// The secrets of keys made at run time are shown once, and are nowhere else: not those that are good,
// nor one that was replaced, nor that of a key that is disabled.
func TestSecretsOfKeysMadeAtRunTimeAreShownOnce(t *testing.T) {
	h := harness.Vacant(t)
	admin := "unix//" + h.Dir + "/admin"
	c := h.Run(harness.Setup{Keys: managerKeys, Options: runtimeBlock, NoLayer4: true, NoKeys: true, Global: "admin " + admin})
	secretIn := func(answer []byte) string { return harness.At(harness.Parse(t, answer), "key").(string) }

	good, disabled := makeKey(h, `,"limit":1`), makeKey(h, "")
	rotate := func(grace string) string {
		return secretIn(h.Client.Want(201, "POST", "/api/v1/keys/"+good.hash+"/rotate", "manager", `{"grace":"`+grace+`"}`).Body)
	}
	newest, made := rotate("1h"), make(map[string]string)
	out, failure, err := c.Operate("key", "create", "--name", "operator's", "--json", "--address", admin)
	if err != nil {
		t.Fatalf("%v %s", err, failure)
	}
	operators := runtimeKey{harness.At(harness.Parse(t, []byte(out)), "data", "hash").(string), secretIn([]byte(out))}
	replaced := operators.secret
	if out, failure, err = c.Operate("key", "rotate", operators.hash[:16], "--json", "--address", admin); err != nil {
		t.Fatalf("%v %s", err, failure)
	}
	changeKey(h, disabled, `{"disabled":true}`)
	for what, secret := range map[string]string{
		"a good secret": newest, "a secret in its grace": good.secret, "a replaced secret": replaced, "a disabled key's secret": disabled.secret, "an operator's": secretIn([]byte(out)),
	} {
		made[what] = secret
	}

	seen := map[string]string{}
	var ids []string
	for what, secret := range made {
		for _, model := range []string{"fake/leaky-headers", "fake/err-401", "fake/err-mid-stream", secret, "fake/" + secret, "none/" + secret, "fake/echo"} {
			for _, key := range []runtimeKey{{"", secret}, {"", newest}} {
				r := requestWith(h, key, harness.ChatV1, harness.Chat(model, `,"user":"`+secret+`","metadata":{"key":"`+secret+`"}`))
				for _, header := range []string{"X-Request-Id", "X-Client-Request-Id", "HTTP-Referer", "X-Title", "User-Agent", "Idempotency-Key"} {
					r.Header.Set(header, secret)
				}
				a := h.Client.Send(r)
				ids = append(ids, a.Header.Get("X-Request-Id"))
				if model != "fake/echo" { // the provider repeats the request
					seen["an answer of "+model+" with "+what] += string(a.Body)
				}
			}
		}
		for _, path := range []string{"/api/v1/keys/" + secret, "/api/v1/keys?workspace_id=" + secret, "/api/v1/keys?tenant=" + secret, "/v1/models/" + secret} {
			seen["an answer of "+path[:14]] += string(h.Client.Get(path, "manager").Body)
		}
		r := h.Client.Request("/api/v1/keys", "manager", `{"name":"idempotent"}`)
		r.Header.Set("Idempotency-Key", secret)
		if a := h.Client.Send(r); a.Status != 201 {
			t.Errorf("%d %s", a.Status, a.Body)
		}
	}
	seen["the list"] = string(h.Client.Get("/api/v1/keys?include_disabled=true", "manager").Body)
	seen["the activity"] = string(h.Client.Get("/api/v1/activity?limit=1000", "manager").Body)
	seen["the metrics"] = string(h.Client.Get("/metrics", "").Body)
	for _, args := range [][]string{
		{"key", "list", "--all"}, {"key", "list", "--all", "--json"}, {"key", "show", good.hash}, {"key", "show", operators.hash, "--json"}, {"key", "disable", operators.hash},
		{"budget"}, {"activity"}, {"activity", "--csv"}, {"series", "--json"}, {"limits", "--json"}, {"health", "--json"},
	} {
		out, failure, err := c.Operate(append(args, "--address", admin)...)
		if err != nil {
			t.Errorf("%v: %v %s", args, err, failure)
		}
		seen[strings.Join(args, " ")] = out + failure
	}
	for _, id := range ids[:min(len(ids), 14)] {
		out, failure, _ := c.Operate("why", id, "--json", "--address", admin)
		seen["why"] += out + failure
	}
	file := filepath.Join(h.Dir, "backup.db")
	if _, failure, err := c.Operate("backup", file, "--address", admin); err != nil {
		t.Fatalf("%v %s", err, failure)
	}
	copied, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	seen["the backup"], seen["the files"] = string(copied), harness.DataFiles(h)
	for line := range strings.Lines(c.Output.Text()) {
		if !jsontest.Has(t, line, `{"logger":"http.log.access"}`) { // Caddy's, which has the headers as they came
			seen["the log"] += line
		}
	}
	if !strings.Contains(seen["the backup"], "idempotent") || !strings.Contains(seen["the log"], "a key was rotated at run time") || len(seen["why"]) < 1000 {
		t.Error("nothing to look at")
	}
	for where, text := range seen {
		for what, secret := range made {
			if i := strings.Index(text, secret); i >= 0 {
				t.Errorf("%s holds %s: …%s…", where, what, text[max(0, i-200):min(len(text), i+100)])
			}
		}
	}
}

package operator

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/tests/harness"
)

func TestKeysOfAFileAreAsGoodAsThoseOfTheCaddyfile(t *testing.T) {
	h := harness.Prepare(t)
	file := filepath.Join(h.Dir, "keys.jsonl")
	write := func(lines string) {
		t.Helper()
		if err := os.WriteFile(file, []byte(lines), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	const full = `{"name":"full","secrets":["{env.KEY_FULL}"],"scopes":["chat:write"],"rates":["1/min"]}` + "\n"
	write(full + `{"name":"chat","secrets":["{env.KEY_CHAT}"],"scopes":["chat:write"],"max_messages":1}
{"name":"narrow","secrets":["{env.KEY_NARROW}"],"scopes":["chat:write"],"models":["test/*"]}
{"name":"other","secrets":["{env.KEY_OTHER}"],"scopes":["chat:write"],"tenant":"other"}
`)
	with := harness.Setup{Keys: "key_file DIR/keys.jsonl\n" + harness.Key("models", ""), Options: "tenant other {\nrate 2/min\n}\n"}
	if err := h.Reload(with); err != nil {
		t.Fatal(err)
	}
	twoMessages := `{"model":"fake/echo","messages":[{"role":"user","content":"a"},{"role":"user","content":"b"}]}`
	for _, c := range []struct {
		key, body string
		status    int
	}{
		{"models", harness.Hello("fake/echo"), 200},
		{"full", harness.Hello("fake/echo"), 200},
		{"full", harness.Hello("fake/echo"), 429},
		{"chat", harness.Hello("fake/echo"), 200},
		{"chat", twoMessages, 400},
		{"chat", harness.Hello("fake/echo"), 200},
		{"narrow", harness.Hello("fake/echo"), 404},
		{"other", twoMessages, 200},
		{"other", twoMessages, 200},
		{"other", twoMessages, 429},
		{"hosted", twoMessages, 401},
	} {
		if a := h.Client.Post(harness.ChatV1, c.key, c.body); a.Status != c.status {
			t.Errorf("%s: status %d, want %d: %s", c.key, a.Status, c.status, a.Body)
		}
	}

	write(full)
	with.Options = ""
	h.Become(with)
	for key, want := range map[string]int{"chat": 401, "full": 429} {
		if a := h.Client.Post(harness.ChatV1, key, harness.Hello("fake/echo")); a.Status != want {
			t.Errorf("%s after a reload: status %d, want %d: %s", key, a.Status, want, a.Body)
		}
	}
}

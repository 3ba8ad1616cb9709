package tests

import (
	"os"
	"path/filepath"
	"testing"
)

func TestKeysOfAFileAreAsGoodAsThoseOfTheCaddyfile(t *testing.T) {
	h := prepare(t)
	file := filepath.Join(h.dir, "keys.jsonl")
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
	with := setup{keys: "key_file DIR/keys.jsonl\n" + keyBlock("models", ""), options: "tenant other {\nrate 2/min\n}\n"}
	if err := h.reload(with); err != nil {
		t.Fatal(err)
	}
	twoMessages := `{"model":"fake/echo","messages":[{"role":"user","content":"a"},{"role":"user","content":"b"}]}`
	for _, c := range []struct {
		key, body string
		status    int
	}{
		{"models", chatBody("fake/echo"), 200},
		{"full", chatBody("fake/echo"), 200},
		{"full", chatBody("fake/echo"), 429},
		{"chat", chatBody("fake/echo"), 200},
		{"chat", twoMessages, 400},
		{"chat", chatBody("fake/echo"), 200},
		{"narrow", chatBody("fake/echo"), 404},
		{"other", twoMessages, 200},
		{"other", twoMessages, 200},
		{"other", twoMessages, 429},
		{"hosted", twoMessages, 401},
	} {
		if a := h.post(chatV1, c.key, c.body); a.status != c.status {
			t.Errorf("%s: status %d, want %d: %s", c.key, a.status, c.status, a.body)
		}
	}

	write(full)
	with.options = ""
	h.change(h.caddyfile(with))
	for key, want := range map[string]int{"chat": 401, "full": 429} {
		if a := h.post(chatV1, key, chatBody("fake/echo")); a.status != want {
			t.Errorf("%s after a reload: status %d, want %d: %s", key, a.status, want, a.body)
		}
	}
}

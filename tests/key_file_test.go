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
	if err := h.reload(with); err != nil {
		t.Fatal(err)
	}
	if a := h.post(chatV1, "chat", chatBody("fake/echo")); a.status != 401 {
		t.Errorf("a key that the file has no more: %d %s", a.status, a.body)
	}
	if a := h.post(chatV1, "full", chatBody("fake/echo")); a.status != 429 {
		t.Errorf("the rate after a reload: %d %s", a.status, a.body)
	}
}

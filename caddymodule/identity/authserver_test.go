package identity

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"
)

func TestTheBlockOfTheAuthorizationServer(t *testing.T) {
	read := func(text string) (*AuthorizationServer, error) {
		d := caddyfile.NewTestDispenser(text)
		d.Next()
		o := new(AuthorizationServer)
		return o, o.read(d)
	}
	o, err := read(`authorization_server {
		token_life 10m
		client studio studio://signed-in http://127.0.0.1/callback
		client other other://x
		client_hosts app.example.com claude.ai
		no_client_documents
	}`)
	if err != nil {
		t.Fatal(err)
	}
	const want = `{"token_life":600000000000,"clients":{"other":["other://x"],"studio":["studio://signed-in","http://127.0.0.1/callback"]},` +
		`"client_hosts":["app.example.com","claude.ai"],"no_client_documents":true}`
	if got, err := json.Marshal(o); err != nil || string(got) != want {
		t.Errorf("%s, %v", got, err)
	}
	for text, want := range map[string]string{
		"client studio":                     "wrong argument count",
		"client a a://x\nclient a a://y":    "twice",
		"client_hosts":                      "wrong argument count",
		"no_client_documents yes":           "wrong argument count",
		"clients studio studio://signed-in": "unknown option",
	} {
		if _, err := read("authorization_server {\n" + text + "\n}"); err == nil || !strings.Contains(strings.ToLower(err.Error()), want) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
}

package core

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/caddyserver/caddy/v2"
	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"
)

// accountsOf resolves the accounts of a provider and shows them: name, address, query, key and
// header.
func accountsOf(t *testing.T, p Provider) (shown []string, a *accounts, logs *observer.ObservedLogs) {
	t.Helper()
	core, logs := observer.New(zap.InfoLevel)
	a = &accounts{logger: zap.New(core)}
	endpoints, err := a.of(&p)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range endpoints {
		key := ""
		if e.Credential != nil {
			key = e.Credential()
		}
		text := fmt.Sprintf("%s %s?%s %s", e.Name, e.BaseURL, e.Query.Encode(), key)
		for _, f := range e.Header {
			text += " " + f.Name + ":" + f.Value()
		}
		shown = append(shown, text)
	}
	return shown, a, logs
}

func TestEndpointsTakeWhatTheyLackFromTheirProvider(t *testing.T) {
	t.Setenv("ONE", "secret-one")
	t.Setenv("TWO", "secret-two")
	shown, a, logs := accountsOf(t, Provider{
		Name: "acme", Optional: true,
		Account: Account{
			BaseURL: "https://acme.example/v1",
			Access: Access{
				APIKey: "{env.ONE}", Header: map[string]string{"api-key": "{env.ONE}", "X-Title": "ours"}, Query: map[string]string{"v": "1", "tier": "1"},
			},
		},
		Endpoints: []Endpoint{
			{Name: "plain"},
			{Name: "own", Account: Account{
				BaseURL: "https://own.example/v1",
				Access:  Access{APIKey: "literal-key", Header: map[string]string{"Api-Key": "Key {env.TWO}"}, Query: map[string]string{"tier": "2"}},
			}},
			{Name: "gone", Account: Account{Access: Access{APIKey: "{env.GATEHOUSE_TEST_UNSET}"}}},
			{Name: "gone-too", Account: Account{Access: Access{Header: map[string]string{"x-other": "{env.GATEHOUSE_TEST_UNSET}"}}}},
		},
	})
	want := []string{
		"plain https://acme.example/v1?tier=1&v=1 secret-one X-Title:ours api-key:secret-one",
		"own https://own.example/v1?tier=2&v=1 literal-key Api-Key:Key secret-two X-Title:ours",
	}
	if !slices.Equal(shown, want) {
		t.Errorf("endpoints\n%s\nwant\n%s", strings.Join(shown, "\n"), strings.Join(want, "\n"))
	}
	slices.Sort(a.secrets)
	if got := strings.Join(slices.Compact(a.secrets), " "); got != "literal-key secret-one secret-two" {
		t.Errorf("secrets %q", got)
	}
	for text, n := range map[string]int{"an endpoint of an optional provider is left out": 2, "a secret is written in the configuration itself": 1} {
		if found := logs.FilterMessageSnippet(text).Len(); found != n {
			t.Errorf("%q is logged %d times, want %d: %v", text, found, n, logs.All())
		}
	}
	if logs.FilterField(zap.String("of", `provider "acme" endpoint "own"`)).Len() != 1 {
		t.Errorf("the warning does not name the endpoint: %v", logs.All())
	}
}

func TestAHeaderIsASecretByItsPlaceholderOrItsName(t *testing.T) {
	for name, secret := range map[string]bool{"api-key": true, "Cf-Aig-Authorization": true, "X-Auth-Token": true, "X-Title": false, "Anthropic-Version": false, "X-Monkey": false} {
		_, a, logs := accountsOf(t, Provider{Name: "acme", Account: Account{BaseURL: "https://acme.example/v1", Access: Access{Header: map[string]string{name: "2023-06-01"}}}})
		if len(a.secrets) > 0 != secret || logs.Len() > 0 != secret {
			t.Errorf("%s: secrets %q, logged %v", name, a.secrets, logs.All())
		}
	}
}

func TestConnectionsOpenWithinTheirTime(t *testing.T) {
	for _, c := range []struct {
		transport string
		connect   time.Duration
		want      time.Duration
	}{
		{"", 0, 10 * time.Second},
		{"", 2 * time.Second, 2 * time.Second},
		{`{"protocol":"http","dial_timeout":4000000000}`, 0, 4 * time.Second},
	} {
		var raw json.RawMessage
		if c.transport != "" {
			raw = json.RawMessage(c.transport)
		}
		made, err := newConnections(raw, c.connect, "https://acme.example/v1")
		if err != nil || made.connect != c.want || made.settings.DialTimeout != caddy.Duration(c.want) {
			t.Errorf("%s with connect %s: %+v, %v", c.transport, c.connect, made, err)
		}
	}
}

//go:build linux && claudecode

// Package claudecode signs the real Claude Code in at a gateway, as a person does, and has it and
// Codex call by caddy gatehouse login. It needs the programs, whose paths are in GATEHOUSE_CLAUDE
// and GATEHOUSE_CODEX, tmux, and the right to make a mount namespace: make clients runs it, with
// the build tag claudecode.
package claudecode

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/testkit/identitytest"
	"github.com/gatehouse-proxy/gatehouse/tests/harness"
)

func TestMain(m *testing.M) { harness.Main(m) }

const options = `
	origin ORIGIN
	encryption_secret {env.SIGN_IN_SECRET}
	role developer {
		scopes chat:write models:read
		unpriced allow
		LIMITS
	}
	provider claude {
		dialect anthropic
		base_url PROVIDER/v1
		api_key {env.PROVIDER_KEY}
		models agent usage-all
	}
	catalog DIR/prices.json
	identity idp {
		issuer ISSUER
		client ` + identitytest.ClientID + ` {env.SIGN_IN_CLIENT}
		role developer {
			groups ai-users
		}
	}
	authorization_server {
		token_life 20s
	}`

// people starts a gateway at which somebody can sign in, by a role that has these limits too.
func people(t *testing.T, limits string) *harness.Gateway {
	t.Helper()
	t.Setenv("SIGN_IN_CLIENT", identitytest.ClientSecret)
	t.Setenv("SIGN_IN_SECRET", strings.Repeat("s", 32))
	issuer := identitytest.Start(t)
	issuer.SignIn("ann", map[string]any{"groups": []string{"ai-users"}, "email": "ann@example.com", "email_verified": true})
	h := harness.Prepare(t)
	must(t, os.WriteFile(filepath.Join(h.Dir, "prices.json"), []byte(prices), 0o600))
	replaced := strings.NewReplacer("ORIGIN", h.Ports.Origin(), "ISSUER", issuer.URL, "LIMITS", limits).Replace(options)
	if err := h.Reload(harness.Setup{Options: replaced}); err != nil {
		t.Fatal(err)
	}
	return h
}

// path is that of a program, in a variable.
func path(t *testing.T, variable string) string {
	t.Helper()
	program := os.Getenv(variable)
	if program == "" {
		t.Fatalf("%s is not set: the path of the program", variable)
	}
	return program
}

// prices are 0.001 USD for each token.
const prices = `{"models":[{"id":"claude/agent","price":{"prompt":"1000","completion":"1000"}},{"id":"claude/usage-all","price":{"prompt":"1000","completion":"1000"}}]}`

// connected starts a gateway, and signs Claude Code in there.
func connected(t *testing.T, limits string) (*harness.Gateway, *screen) {
	t.Helper()
	program, h := path(t, "GATEHOUSE_CLAUDE"), people(t, limits)
	s := start(t, program, h.Ports.Origin())
	s.connect()
	return h, s
}

func TestClaudeCodeSignsIn(t *testing.T) {
	h, s := connected(t, "")
	tool := func() string {
		return s.run("--print", `use Bash {"command":"cat fruit.txt","description":"reads a file"}`, "--output-format", "json", "--allowed-tools", "Bash(cat:*)")
	}
	if said := tool(); !strings.Contains(said, "pineapple") {
		t.Fatalf("the round trip of a tool: %s", said)
	}
	first := s.credentials()
	if first.access == "" || first.refresh == "" {
		t.Fatal("there are no tokens")
	}
	// The token ends: Claude Code asks for another by itself.
	if !harness.Eventually(func() bool { return works(h, first.access) == http.StatusUnauthorized }) {
		t.Fatal("the token does not end")
	}
	if said := tool(); !strings.Contains(said, "pineapple") {
		t.Fatalf("after the end of the token: %s", said)
	}
	second := s.credentials()
	if second.access == first.access || second.refresh == first.refresh {
		t.Error("there is no other token")
	}
	// Signing out ends the tokens at the gateway.
	if works(h, second.access) != http.StatusOK {
		t.Error("the second token is not good")
	}
	said := s.run("auth", "logout")
	if !harness.Eventually(func() bool { return works(h, second.access) == http.StatusUnauthorized }) {
		t.Errorf("signed out, and the token is good: %s", said)
	}
}

// What a person reads of the budget: how much of it is spent, the dollars, and in the end the
// gateway's sentence.
func TestClaudeCodeShowsTheBudget(t *testing.T) {
	h, s := connected(t, "budget 200usd/month soft")
	spend := func(usd string) {
		t.Helper()
		r := h.Client.Request("/v1/messages", "", `{"model":"claude/usage-all","max_tokens":`+usd+`000,"messages":[{"role":"user","content":"x"}]}`)
		r.Header.Set("Authorization", "Bearer "+s.credentials().access)
		r.Header.Set("Anthropic-Version", "2023-06-01")
		if a := h.Client.Send(r); a.Status != http.StatusOK {
			t.Fatalf("%d %s", a.Status, a.Body)
		}
	}
	s.reopen()
	s.wait("shift+tab to cycle")
	spend("160")
	s.press("say pineapple", "Enter")
	s.wait("of your usage credits")
	s.wait(" · done ")
	spend("30")
	s.press("say pineapple", "Enter")
	s.wait("is used up · it is full again at 00:00 UTC on")
	s.press("/usage", "Enter")
	s.wait("/ $200.00 spent this month")
}

// works returns the status of a call with a token.
func works(h *harness.Gateway, token string) int {
	r := h.Client.Request("/v1/models", "", "")
	r.Header.Set("Authorization", "Bearer "+token)
	return h.Client.Send(r).Status
}

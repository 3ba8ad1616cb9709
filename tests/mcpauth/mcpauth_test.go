//go:build linux && mcpauth

// Package mcpauth lets real clients of MCP sign a person in at a gateway: the official SDKs,
// Inspector, Claude Code, Codex, and the protocol's conformance tests of authorization servers. It
// needs them; see .ci/suites.
package mcpauth

import (
	"os"
	"os/exec"
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
		scopes mcp:call
		mcp demo
		mcp other
	}
	provider claude {
		dialect anthropic
		base_url PROVIDER/v1
		api_key {env.PROVIDER_KEY}
		models agent
	}
	mcp demo {
		demo
	}
	mcp other {
		demo
	}
	identity idp {
		issuer ISSUER
		client ` + identitytest.ClientID + ` {env.SIGN_IN_CLIENT}
		role developer {
			groups ai-users
		}
	}
	authorization_server {
		token_life 10s
		client conformance http://127.0.0.1/callback
		no_client_documents
	}`

// gateway is one where a person signs in.
type gateway struct {
	*harness.Gateway
	origin string
	*person
}

func start(t *testing.T) *gateway {
	t.Helper()
	t.Setenv("SIGN_IN_CLIENT", identitytest.ClientSecret)
	t.Setenv("SIGN_IN_SECRET", strings.Repeat("s", 32))
	issuer := identitytest.Start(t)
	issuer.SignIn("ann", map[string]any{"groups": []string{"ai-users"}, "email": "ann@example.com", "email_verified": true})
	h := harness.Prepare(t)
	g := &gateway{Gateway: h, origin: h.Ports.Origin()}
	setup := harness.Setup{Options: strings.NewReplacer("ORIGIN", g.origin, "ISSUER", issuer.URL).Replace(options)}
	if err := h.Reload(setup); err != nil {
		t.Fatal(err)
	}
	g.person = startPerson(t, g.origin)
	return g
}

// peer is the path of what a test needs, from the environment.
func peer(t *testing.T, name string) string {
	t.Helper()
	path := os.Getenv(name)
	if path == "" {
		t.Fatalf("%s is not set: see .ci/suites", name)
	}
	return path
}

// run runs a client with the address of the server of tools and of the person, and returns what it
// writes.
func (g *gateway) run(t *testing.T, dir string, command ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), command[0], command[1:]...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "ORIGIN="+g.origin, "PERSON="+g.person.URL, "HOME="+t.TempDir())
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %v\n%s", command, err, out)
	}
	return string(out)
}

// The official SDKs: each calls a tool, again with the next token, and in vain at another server.
func TestTheSDKs(t *testing.T) {
	node, g := peer(t, "MCP_NODE"), start(t)
	script, err := filepath.Abs("client.py")
	if err != nil {
		t.Fatal(err)
	}
	for name, command := range map[string][]string{
		"Python":                    {peer(t, "MCP_PYTHON"), script},
		"Go":                        {peer(t, "MCP_GO")},
		"TypeScript":                {filepath.Join(node, "node_modules/.bin/node"), "client.mjs", "client"},
		"TypeScript, the first one": {filepath.Join(node, "node_modules/.bin/node"), "client.mjs", "sdk"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel() // they wait for the end of their tokens
			said := g.run(t, nodeDir(t, node), command...)
			for _, line := range []string{"first: hello", "renewed: hello", "elsewhere: refused"} {
				if !strings.Contains(said, line) {
					t.Errorf("the client does not say %q:\n%s", line, said)
				}
			}
		})
	}
}

// nodeDir is a folder with the scripts and the modules.
func nodeDir(t *testing.T, node string) string {
	t.Helper()
	dir := t.TempDir()
	script, err := os.ReadFile("client.mjs")
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, "client.mjs"), script, 0o600)
	}
	if err == nil {
		err = os.Symlink(filepath.Join(node, "node_modules"), filepath.Join(dir, "node_modules"))
	}
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

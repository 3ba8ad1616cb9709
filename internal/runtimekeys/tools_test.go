package runtimekeys_test

import (
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/pattern"
	"github.com/gatehouse-proxy/gatehouse/internal/runtimekeys"
)

// tools is a block whose keys may call some tools, of a tenant that is bounded too.
func tools(b *runtimekeys.Block) {
	b.Tools, b.TenantTools = pattern.List{"github/read_*", "demo/*"}, map[string]pattern.List{"acme": {"github/*", "demo/echo"}}
}

func TestAKeyCallsNoToolThatItDoesNotName(t *testing.T) {
	s, _ := open(t, new(memory))
	b := block(tools)
	for _, c := range []struct {
		body                string
		reads, writes, echo bool
	}{
		{`{"name":"k"}`, false, false, false},
		{`{"name":"k","mcp":null}`, false, false, false},
		{`{"name":"k","mcp":[]}`, false, false, false},
		{`{"name":"k","mcp":["github/read_*"]}`, true, false, false},
		{`{"name":"k","mcp":["github/read_file","demo/*"]}`, true, false, true},
	} {
		_, secret := create(t, s, b, c.body)
		key, _, err := s.Authenticate(b, secret, noon)
		if err != nil {
			t.Fatal(err)
		}
		if key.AllowsTool("github", "read_file") != c.reads || key.AllowsTool("github", "write_file") != c.writes || key.AllowsTool("demo", "echo") != c.echo {
			t.Errorf("%s: %v %v %v", c.body, key.AllowsTool("github", "read_file"), key.AllowsTool("github", "write_file"), key.AllowsTool("demo", "echo"))
		}
		if key.AllowsTool("demo", "slow") {
			t.Errorf("%s: the tenant does not bound the key", c.body)
		}
	}
}

func TestToolsBeyondTheBlockAreRefused(t *testing.T) {
	s, _ := open(t, new(memory))
	for body, b := range map[string]*runtimekeys.Block{
		`{"name":"k","mcp":["github/*"]}`:          block(tools),
		`{"name":"k","mcp":["github/write_file"]}`: block(tools),
		`{"name":"k","mcp":["other/read_file"]}`:   block(tools),
		`{"name":"k","mcp":["*"]}`:                 block(tools),
		`{"name":"k","mcp":["*/read_file"]}`:       block(tools),
		`{"name":"k","mcp":["demo"]}`:              block(tools),
		`{"name":"k","mcp":["demo/echo","x y/z"]}`: block(tools),
		`{"name":"k","mcp":["demo/echo"]}`:         block(nil),
		`{"name":"k","mcp":"demo/echo"}`:           nil,
		`{"name":"k","mcp":[""]}`:                  nil,
	} {
		if b == nil { // the member itself is wrong
			if _, err := edit(t, true, body); err == nil || apierror.From(err).Param != "mcp" {
				t.Errorf("%s: %v", body, err)
			}
			continue
		}
		_, _, err := s.Create(t.Context(), b, "acme", mustEdit(t, true, body), "")
		wantCode(t, err, apierror.InvalidValue)
		if err != nil && apierror.From(err).Param != "mcp" {
			t.Errorf("%s: %v", body, err)
		}
	}
}

// A key that exists has no more than a block that became tighter, and none without one.
func TestATighterBlockTakesToolsAway(t *testing.T) {
	s, _ := open(t, new(memory))
	_, secret := create(t, s, block(tools), `{"name":"k","mcp":["github/read_*","demo/*"]}`)
	for _, c := range []struct {
		change      func(*runtimekeys.Block)
		reads, echo bool
	}{
		{tools, true, true},
		{func(b *runtimekeys.Block) { b.Tools = pattern.List{"demo/*"} }, false, true},
		{nil, false, false},
	} {
		key, _, err := s.Authenticate(block(c.change), secret, noon)
		if err != nil || key.AllowsTool("github", "read_file") != c.reads || key.AllowsTool("demo", "echo") != c.echo || key.AllowsServer("github") != c.reads {
			t.Errorf("%v %v", err, key.Key)
		}
	}
}

func TestABlockWithAToolOfNoServerIsRefused(t *testing.T) {
	for _, p := range []string{"*", "*/read", "github", ""} {
		b := block(func(b *runtimekeys.Block) { b.Tools, b.Limits.Name = pattern.List{p}, "runtime_keys" })
		if err := b.Check(); err == nil {
			t.Errorf("%q is taken", p)
		}
	}
}

//go:build linux

package main

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/testkit/faults"
	"github.com/gatehouse-proxy/gatehouse/tests/process"
)

// logTimeout is how long the gateway may take to log what it has answered.
const logTimeout = 30 * time.Second

// models are models of the fake provider that a client calls as an agent. Codex knows two of the
// names, and offers different tools to each of the three.
var models = []string{"agent", "gpt-5.5-agent", "gpt-6.1-sol-agent"}

// caddyfile takes the port, the blocks of the keys, the fake provider's origin, its models, the
// catalog, the access log, the port of a VNC server, and more options.
const caddyfile = `{
	admin off
	skip_install_trust
	persist_config off
	grace_period 5s
	gatehouse {
%[8]s
		key reader {
			secret {env.CLIENTS_READER_KEY}
			scopes activity:read workstations:manage
		}
%[2]s
		provider fake {
			base_url %[3]s/v1
			api_key {env.CLIENTS_PROVIDER_KEY}
			models %[4]s
		}
		provider chatonly {
			base_url %[3]s/v1
			api_key {env.CLIENTS_PROVIDER_KEY}
			models %[4]s
			responses translate
		}
		provider claude {
			dialect anthropic
			base_url %[3]s/v1
			api_key {env.CLIENTS_PROVIDER_KEY}
			models %[4]s
		}
		provider gemini {
			dialect gemini
			base_url %[3]s/gemini/v1beta
			api_key {env.CLIENTS_PROVIDER_KEY}
			models gemini-3-agent
		}
		provider responsesonly {
			base_url %[3]s/responses-only/v1
			api_key {env.CLIENTS_PROVIDER_KEY}
			models %[4]s
			chat translate
		}
		catalog %[5]s
		mcp demo {
			demo
		}
		mcp desktops {
			desktops
		}
		vnc {
			domain vnc.localhost
			automation control
			workstation desk1 127.0.0.1:%[7]d {
				password {env.CLIENTS_DESKTOP_PASSWORD}
			}
		}
	}
}

http://:%[1]d {
	bind 127.0.0.1
	log {
		output file %[6]s
	}
	gatehouse
}
`

// key is a gateway key: its name, and the options of its block.
type key struct {
	name, secret string
	options      []string
}

func (k key) block() string {
	hash := fmt.Sprintf("hash sha256:%x", sha256.Sum256([]byte(k.secret)))
	lines := append([]string{hash, "scopes chat:write models:read mcp:call workstations:automate"}, k.options...)
	return "\t\tkey " + k.name + " {\n\t\t\t" + strings.Join(lines, "\n\t\t\t") + "\n\t\t}\n"
}

// writeCatalog prices every model: under a hard budget of money each call must have a price.
func writeCatalog(file string) error {
	catalog := make(map[string]any)
	add := func(provider, model string) {
		catalog[provider+"/"+model] = map[string]any{
			"litellm_provider": provider, "mode": "chat", "max_input_tokens": 400_000, "max_output_tokens": 64_000,
			"input_cost_per_token": 1e-6, "output_cost_per_token": 2e-6,
		}
	}
	for _, provider := range []string{"fake", "chatonly", "responsesonly", "claude"} {
		for _, model := range models {
			add(provider, model)
		}
	}
	add("gemini", "gemini-3-agent")
	text, err := json.Marshal(catalog)
	if err != nil {
		return err
	}
	return os.WriteFile(file, text, 0o600)
}

// gateway is a running Caddy with the fake provider behind it.
type gateway struct {
	*process.Process
	origin, reader, log string
	upstream            *faults.Provider
	desk                *desk // nil: no scenario uses one
	stopUpstream        context.CancelFunc
	logged              int // bytes of the access log that belong to earlier scenarios
}

// startGateway returns when the gateway answers.
func startGateway(ctx context.Context, caddy, dir string, keys []key, desk *desk, options string) (*gateway, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	ports, err := process.FreePorts(1)
	if err != nil {
		return nil, err
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	catalog := filepath.Join(dir, "catalog.json")
	if err := writeCatalog(catalog); err != nil {
		return nil, err
	}
	g := &gateway{
		origin: fmt.Sprintf("http://127.0.0.1:%d", ports[0]), reader: process.Secret(), log: filepath.Join(dir, "access.log"),
		upstream: faults.New(), desk: desk,
	}
	var blocks strings.Builder
	for _, k := range keys {
		blocks.WriteString(k.block())
	}
	upstream, cancel := context.WithCancel(context.Background())
	g.stopUpstream = cancel
	go func() { _ = g.upstream.Serve(upstream, l) }() // if it fails, every scenario does
	text := fmt.Sprintf(caddyfile, ports[0], blocks.String(), "http://"+l.Addr().String(), strings.Join(models, " "), catalog, g.log, desk.port(), options)
	env := []string{"CLIENTS_READER_KEY=" + g.reader, "CLIENTS_PROVIDER_KEY=" + process.Secret(), "CLIENTS_DESKTOP_PASSWORD=" + desk.password()}
	ready := func() error { _, err := g.rows(ctx, "reader"); return err }
	if g.Process, err = process.StartCaddy(ctx, caddy, dir, text, env, ready); err != nil {
		cancel()
		return nil, err
	}
	return g, nil
}

func (g *gateway) stop() {
	g.Stop()
	g.stopUpstream()
}

// row is a call in the activity.
type row struct {
	Status int     `json:"status"`
	Code   string  `json:"code"`
	Model  string  `json:"model"`
	Usage  float64 `json:"usage"` // its cost in USD
	Priced bool    `json:"priced"`
	Method string  `json:"method"` // of a request to an MCP server
	Route  string  `json:"route"`

	TraceID string `json:"trace_id"`
}

// ofDesktop reports whether the call is a picture or an input of a desktop, by its route.
func (r row) ofDesktop() bool { return strings.Contains(r.Route, "/workstations/") }

// rows are the calls of a key, the newest first.
func (g *gateway) rows(ctx context.Context, name string) ([]row, error) {
	var list struct {
		Data []row `json:"data"`
	}
	err := g.ask(ctx, http.MethodGet, activityOf(name), &list)
	return list.Data, err
}

// leave ends all sessions at the desktop: an agent's stays open for a minute, in which it has the input.
func (g *gateway) leave(ctx context.Context) error {
	var list struct {
		Data []struct {
			ID string `json:"session_id"`
		} `json:"data"`
	}
	err := g.ask(ctx, http.MethodGet, "/v1/sessions", &list)
	for _, s := range list.Data {
		err = errors.Join(err, g.ask(ctx, http.MethodDelete, "/v1/sessions/"+s.ID, nil))
	}
	return err
}

// ask asks the gateway by the key of the suite.
func (g *gateway) ask(ctx context.Context, method, path string, into any) error {
	req, err := http.NewRequestWithContext(ctx, method, g.origin+path, nil)
	if err != nil {
		return err
	}
	req.Header.Set("Authorization", "Bearer "+g.reader)
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	if res.StatusCode >= http.StatusMultipleChoices {
		return fmt.Errorf("%s %s: %s", method, req.URL.Path, res.Status)
	}
	if into == nil {
		return nil
	}
	return json.NewDecoder(res.Body).Decode(into)
}

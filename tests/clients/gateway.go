//go:build linux

package main

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/testprovider/faults"
	"github.com/gatehouse-proxy/gatehouse/tests/process"
)

// patience is how long the gateway may take to be ready, and to have logged what
// it has answered.
const patience = 30 * time.Second

// models are those of the fake provider that a client calls as an agent. Codex
// knows two of the names, and offers other tools to each of the three.
var models = []string{"agent", "gpt-5.5-agent", "gpt-6.1-sol-agent"}

// caddyfile takes the port, the blocks of the keys, the fake provider's origin,
// its models, the catalog and the access log.
const caddyfile = `{
	admin off
	persist_config off
	grace_period 5s
	gatehouse {
		key reader {
			secret {env.CLIENTS_READER_KEY}
			scopes activity:read
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
		provider responsesonly {
			base_url %[3]s/responses-only/v1
			api_key {env.CLIENTS_PROVIDER_KEY}
			models %[4]s
			chat translate
		}
		catalog %[5]s
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
	lines := append([]string{hash, "scopes chat:write models:read"}, k.options...)
	return "\t\tkey " + k.name + " {\n\t\t\t" + strings.Join(lines, "\n\t\t\t") + "\n\t\t}\n"
}

// writeCatalog prices every model: under a hard budget of money each call must
// have a price.
func writeCatalog(file string) error {
	catalog := make(map[string]any)
	for _, provider := range []string{"fake", "chatonly", "responsesonly"} {
		for _, model := range models {
			catalog[provider+"/"+model] = map[string]any{
				"litellm_provider": provider, "mode": "chat", "max_input_tokens": 400_000, "max_output_tokens": 64_000,
				"input_cost_per_token": 1e-6, "output_cost_per_token": 2e-6,
			}
		}
	}
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
	stopUpstream        context.CancelFunc
	logged              int // bytes of the access log that belong to earlier scenarios
}

// startGateway returns when the gateway answers.
func startGateway(ctx context.Context, caddy, dir string, keys []key) (*gateway, error) {
	ports, err := process.FreePorts(1)
	if err != nil {
		return nil, err
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	catalog, file := filepath.Join(dir, "catalog.json"), filepath.Join(dir, "Caddyfile")
	if err := writeCatalog(catalog); err != nil {
		return nil, err
	}
	g := &gateway{
		origin: fmt.Sprintf("http://127.0.0.1:%d", ports[0]), reader: secret(), log: filepath.Join(dir, "access.log"),
		upstream: faults.New(),
	}
	var blocks strings.Builder
	for _, k := range keys {
		blocks.WriteString(k.block())
	}
	text := fmt.Sprintf(caddyfile, ports[0], blocks.String(), "http://"+l.Addr().String(), strings.Join(models, " "), catalog, g.log)
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		return nil, err
	}
	upstream, cancel := context.WithCancel(context.Background())
	g.stopUpstream = cancel
	go func() { _ = g.upstream.Serve(upstream, l) }() // if it fails, every scenario does
	cmd := exec.CommandContext(ctx, caddy, "run", "--config", file, "--adapter", "caddyfile")
	cmd.Env = append(os.Environ(), "XDG_DATA_HOME="+filepath.Join(dir, "data"), "XDG_CONFIG_HOME="+filepath.Join(dir, "config"),
		"CLIENTS_READER_KEY="+g.reader, "CLIENTS_PROVIDER_KEY="+secret())
	if g.Process, err = process.Start(cmd, filepath.Join(dir, "caddy.log")); err != nil {
		cancel()
		return nil, fmt.Errorf("starting the gateway: %w", err)
	}
	ready := func() error { _, err := g.rows(ctx, "reader"); return err }
	if err := g.eventually(ctx, ready); err != nil {
		g.ShowLog(os.Stderr)
		g.stop()
		return nil, fmt.Errorf("the gateway is not ready: %w", err)
	}
	return g, nil
}

func (g *gateway) stop() {
	g.Stop()
	g.stopUpstream()
}

// eventually calls check until it returns nil, or the gateway ends.
func (g *gateway) eventually(ctx context.Context, check func() error) error {
	const pause = 20 * time.Millisecond
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	tick := time.NewTicker(pause)
	defer tick.Stop()
	for {
		err := check()
		if err == nil {
			return nil
		}
		select {
		case <-g.Exited:
			return fmt.Errorf("the gateway ended: %w", err)
		case <-ctx.Done():
			return err
		case <-tick.C:
		}
	}
}

// row is a call in the activity.
type row struct {
	Status int     `json:"status"`
	Code   string  `json:"code"`
	Model  string  `json:"model"`
	Usage  float64 `json:"usage"` // what it cost in USD
	Priced bool    `json:"priced"`
}

// rows are the calls of a key, the newest first.
func (g *gateway) rows(ctx context.Context, name string) ([]row, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, g.origin+activityOf(name), nil)
	if err != nil {
		return nil, err
	}
	req.Header.Set("Authorization", "Bearer "+g.reader)
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return nil, err
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("GET %s: %s", req.URL.Path, res.Status)
	}
	var list struct {
		Data []row `json:"data"`
	}
	err = json.NewDecoder(res.Body).Decode(&list)
	return list.Data, err
}

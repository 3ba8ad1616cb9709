//go:build unix

package main

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/gatehouse-proxy/gatehouse/tests/process"
)

// caddyfile has the core's options alone. It takes the port of the site, and more options.
const caddyfile = `{
	admin off
	skip_install_trust
	gatehouse {
		key app {
			secret {env.KEY}
			scopes chat:write models:read activity:read workstations:connect workstations:manage
			budget 1M tokens/day
		}
		provider test {
			dialect test
			models *
		}
		vnc {
			domain vnc.localhost
			workstation card {
				test_card
			}
		}
%[2]s	}
}

http://:%[1]d {
	bind 127.0.0.1
%[3]s	gatehouse_health
	gatehouse
}
`

//go:embed sdk.py
var sdk string

// gateway is a Caddy that was started.
type gateway struct {
	*process.Process
	origin, key string
}

// start runs a Caddy with more options in the global block, and more directives in the site.
func start(ctx context.Context, caddy, dir, options, site string) (*gateway, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	ports, err := process.FreePorts(1)
	if err != nil {
		return nil, err
	}
	g := &gateway{origin: fmt.Sprintf("http://127.0.0.1:%d", ports[0]), key: process.Secret()}
	g.Process, err = process.StartCaddy(ctx, caddy, dir, fmt.Sprintf(caddyfile, ports[0], options, site), []string{"KEY=" + g.key}, func() error {
		_, err := g.call(ctx, http.MethodGet, "/v1/models", http.StatusOK)
		return err
	})
	return g, err
}

// call makes a request, and returns the body of an answer with the status.
func (g *gateway) call(ctx context.Context, method, path string, want int) (string, error) {
	req, err := http.NewRequestWithContext(ctx, method, g.origin+path, nil)
	if err != nil {
		return "", err
	}
	req.Header.Set("Authorization", "Bearer "+g.key)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return "", err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err == nil && resp.StatusCode != want {
		err = fmt.Errorf("%s %s: status %d, want %d: %s", method, path, resp.StatusCode, want, body)
	}
	return string(body), err
}

// use makes calls by the SDK, gets an address of a desktop, and tries blocks of features.
func use(ctx context.Context, caddy, python, dir string, r *process.Result) error {
	g, err := start(ctx, caddy, filepath.Join(dir, "core"), "", "")
	if err != nil {
		return err
	}
	defer g.Stop()
	cmd := exec.CommandContext(ctx, python, "-c", sdk)
	cmd.Env = append(os.Environ(), "OPENAI_BASE_URL="+g.origin+"/v1", "OPENAI_API_KEY="+g.key)
	out, err := cmd.CombinedOutput()
	if err != nil {
		err = fmt.Errorf("%w: %s", err, out)
	}
	r.Check("the Python SDK of OpenAI: models, chat, streams, Responses, a wrong key, a wrong model", err)
	text, err := g.call(ctx, http.MethodGet, "/api/v1/activity", http.StatusOK)
	if err == nil && strings.Count(text, `"model"`) < 4 {
		err = errors.New("want the rows of all calls: " + text)
	}
	r.Check("activity has the calls", err)
	text, err = g.call(ctx, http.MethodPost, "/v1/workstations/card/vnc", http.StatusOK)
	if err == nil && !strings.Contains(text, ".vnc.localhost:5900") {
		err = errors.New("no address: " + text)
	}
	r.Check("a desktop has an address", err)
	_, err = g.call(ctx, http.MethodPost, "/mcp/demo", http.StatusNotFound)
	r.Check("endpoints of features are not found", err)
	for _, f := range features {
		if f.options != "" {
			r.Check("a block of "+f.name+" is refused with its path", f.refused(ctx, caddy, filepath.Join(dir, f.name)))
		}
	}
	return nil
}

// refused returns an error unless the core alone refuses the options of a feature with its path.
func (f feature) refused(ctx context.Context, caddy, dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	file := filepath.Join(dir, "Caddyfile")
	if err := os.WriteFile(file, []byte(fmt.Sprintf(caddyfile, 1, f.options, "")), 0o600); err != nil {
		return err
	}
	cmd := exec.CommandContext(ctx, caddy, "validate", "--config", file)
	cmd.Env = append(os.Environ(), "KEY="+process.Secret())
	out, err := cmd.CombinedOutput()
	if err == nil || !strings.Contains(string(out), "build it with github.com/gatehouse-proxy/gatehouse/"+f.path) {
		return fmt.Errorf("%v, %s", err, out)
	}
	return nil
}

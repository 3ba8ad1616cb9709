//go:build linux

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"time"

	"filippo.io/age"

	"github.com/gatehouse-proxy/gatehouse/tests/process"
)

const (
	agentEnv    = "DESKTOPS_AGENT"
	personEnv   = "DESKTOPS_PERSON"
	readerEnv   = "DESKTOPS_READER"
	passwordEnv = "DESKTOPS_PASSWORD_" // and the server's name
)

// caddyfile takes the port of the HTTP site, the workstations, the bounds of agents' desktops, and for whom
// recordings are encrypted.
const caddyfile = `{
	admin off
	persist_config off
	skip_install_trust
	grace_period 3s
	gatehouse {
		key agent {
			secret {env.` + agentEnv + `}
			scopes workstations:automate
		}
		key person {
			secret {env.` + personEnv + `}
			scopes workstations:connect workstations:manage recordings:read
		}
		vnc {
			domain vnc.localhost
			automation control
			automation_sessions %[3]d
			automation_memory %[4]dMiB
			record {
				recipient %[5]s
				replay_identity {env.` + readerEnv + `}
			}
%[2]s		}
	}
}

http://:%[1]d {
	bind 127.0.0.1
	gatehouse_health
	gatehouse
}
`

type gateway struct {
	*process.Process
	origin        string
	agent, person string // keys
}

// startGateway returns when the HTTP site answers.
func startGateway(ctx context.Context, caddy, dir string, servers []*server) (*gateway, error) {
	ports, err := process.FreePorts(1)
	if err != nil {
		return nil, err
	}
	if err := os.Mkdir(dir, 0o700); err != nil {
		return nil, err
	}
	g := &gateway{origin: fmt.Sprintf("http://127.0.0.1:%d", ports[0]), agent: process.Secret(), person: process.Secret()}
	reader, err := age.GenerateX25519Identity()
	if err != nil {
		return nil, err
	}
	blocks, env := "", []string{agentEnv + "=" + g.agent, personEnv + "=" + g.person, readerEnv + "=" + reader.String()}
	for _, s := range servers {
		login := ""
		if s.password != "" {
			login = fmt.Sprintf("\t\t\t\tpassword {env.%s%s}\n", passwordEnv, s.name)
			env = append(env, passwordEnv+s.name+"="+s.password)
		}
		block := func(name, more string) {
			blocks += fmt.Sprintf("\t\t\tworkstation %s 127.0.0.1:%d {\n%s%s\t\t\t}\n", name, s.port, login, more)
		}
		block(s.name, "")
		if s.crowded {
			block(s.name+recorded, "\t\t\t\tsession {\n\t\t\t\t\trecord on\n\t\t\t\t}\n")
			for _, name := range s.names() {
				block(name, "")
			}
		}
	}
	g.Process, err = process.StartCaddy(ctx, caddy, dir, fmt.Sprintf(caddyfile, ports[0], blocks, mostSessions, memoryBound, reader.Recipient()), env, func() error {
		return g.call(ctx, http.MethodGet, "/v1/workstations", g.person, nil, nil)
	})
	return g, err
}

// refused is an answer that is no success.
type refused struct {
	status int
	text   string
}

func (r *refused) Error() string { return fmt.Sprintf("%d %s", r.status, r.text) }

// ask returns an answer and its body.
func (g *gateway) ask(ctx context.Context, method, path, key string, body []byte, header http.Header) (*http.Response, []byte, error) {
	const timeout, largest = 20 * time.Second, 16 << 20
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, method, g.origin+path, bytes.NewReader(body))
	if err != nil {
		return nil, nil, err
	}
	for name := range header {
		req.Header.Set(name, header.Get(name))
	}
	req.Header.Set("Authorization", "Bearer "+key)
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return nil, nil, err
	}
	defer res.Body.Close()
	text, err := io.ReadAll(io.LimitReader(res.Body, largest))
	if err == nil && res.StatusCode >= http.StatusBadRequest {
		err = &refused{res.StatusCode, string(text)}
	}
	return res, text, err
}

// call asks with a body of JSON, and reads one.
func (g *gateway) call(ctx context.Context, method, path, key string, body []byte, into any) error {
	_, text, err := g.ask(ctx, method, path, key, body, nil)
	if err != nil {
		return fmt.Errorf("%s %s: %w", method, path, err)
	}
	if into == nil {
		return nil
	}
	return json.Unmarshal(text, into)
}

// listens checks that a port of the loopback accepts.
func listens(port int) error {
	conn, err := net.Dial("tcp", fmt.Sprintf("127.0.0.1:%d", port))
	if err != nil {
		return err
	}
	return conn.Close()
}

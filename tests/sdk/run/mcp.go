package main

import (
	"context"
	"fmt"
	"net"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/gatehouse-proxy/gatehouse/tests/process"
)

// mcpTarget is no provider: the SDKs of MCP.
const mcpTarget = "mcp"

// serversTimeout is how long a server may take to listen.
const serversTimeout = 20 * time.Second

// mcpServers are the Go SDK's server for conformance tests, which has all of the protocol: one of the
// stateless era, and one of that of sessions. Their addresses are "" if there are none.
type mcpServers struct {
	stateless, sessions string
	running             []*process.Process
}

// startMCPServers returns when both listen. Without a binary there are none, and suites that need them
// fail.
func startMCPServers(ctx context.Context, binary, dir string) (*mcpServers, error) {
	s := &mcpServers{stateless: "http://127.0.0.1:9/", sessions: "http://127.0.0.1:9/"} // nobody listens
	if binary == "" {
		return s, nil
	}
	ports, err := process.FreePorts(2)
	if err != nil {
		return nil, err
	}
	for i, stateless := range []bool{true, false} {
		address := fmt.Sprintf("127.0.0.1:%d", ports[i])
		cmd := exec.CommandContext(ctx, binary, "-http", address, fmt.Sprintf("-stateless=%v", stateless))
		p, err := process.Start(cmd, filepath.Join(dir, fmt.Sprintf("mcp%d.log", i)))
		if err != nil {
			s.stop()
			return nil, fmt.Errorf("starting the MCP server: %w", err)
		}
		s.running = append(s.running, p)
		if err := process.Eventually(ctx, serversTimeout, func() error { return listens(address) }); err != nil {
			s.stop()
			return nil, fmt.Errorf("the MCP server: %w", err)
		}
	}
	s.stateless, s.sessions = fmt.Sprintf("http://localhost:%d/", ports[0]), fmt.Sprintf("http://localhost:%d/", ports[1])
	return s, nil
}

func listens(address string) error {
	conn, err := net.Dial("tcp", address)
	if err != nil {
		return err
	}
	return conn.Close()
}

func (s *mcpServers) stop() {
	for _, p := range s.running {
		p.Stop()
	}
}

// mcpSuites are the SDKs of MCP, Inspector's CLI, and the protocol's conformance tests.
func mcpSuites(p peers, python func(string, ...string) suite) (all []suite) {
	node := func(file string) suite {
		return suite{dir: p.mcpNode, command: []string{filepath.Join(p.mcpNode, "node_modules/.bin/node"), file}, missing: process.Absent(p.mcpNode, "mcp-node")}
	}
	for _, row := range []struct {
		name string
		suite
	}{
		{"mcp-python-2.3.0", python("mcp_suite.py")},
		{"mcp-npm-1.32.2", node("typescript1.mjs")},
		{"mcp-client-npm-2.4.0", node("typescript2.mjs")},
		{"mcp-go-1.7.0", suite{command: []string{p.goMCP, "-test.v", "-test.timeout", suiteTimeout.String()}, missing: process.Absent(p.goMCP, "go-mcp")}},
		{"mcp-inspector-2.12.0", node("inspector.mjs")},
		{"mcp-conformance-0.2.0", node("conformance.mjs")},
	} {
		s := row.suite
		s.name, s.target = row.name+"/"+mcpTarget, mcpTarget
		if p.mcpServer == "" && s.missing == "" {
			s.missing = process.Absent("", "mcp-server")
		}
		all = append(all, s)
	}
	return all
}

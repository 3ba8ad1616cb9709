//go:build unix

// Package clustertest runs several gateways as one cluster: the engines they share, a fake provider,
// each gateway as a process of its own, and Caddy as the balancer before them. All listen on the
// loopback, keep their data in a temporary folder and end with the test.
//
//	c := clustertest.Start(t, clustertest.Config{Caddy: "./caddy", Gateways: 2, Engines: clustertest.StartEngines(t)})
//	a, b := c.Gateways[0], c.Gateways[1]
//	a.Kill(); b.Pause(); c.Engines.Redis.Kill()
//
// Its tests are those of the cluster as a whole. Those whose name begins with TestLong are run by
// `make cluster-test` only.
package clustertest

import (
	"context"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/testkit/enginetest"
	"github.com/gatehouse-proxy/gatehouse/tests/process"
)

// T is the test that a cluster belongs to, or a program that runs one.
type T = enginetest.T

// Config says which cluster to start.
type Config struct {
	Caddy    string // the program
	Gateways int
	Engines  *Engines // nil: each gateway is alone
	// Options are more options of the gatehouse block, equal for all gateways. PROVIDER is the origin
	// of the fake provider.
	Options string
	// VNC are more options of the vnc block.
	VNC string
	// Ports of the balancer; 0: a free one.
	HTTPPort, VNCPort int
	// Environment of the gateways, besides that of the test.
	Environment []string
	// Alone leaves the balancer out.
	Alone bool
}

// Cluster is a running cluster.
type Cluster struct {
	Engines  *Engines
	Provider *Provider
	Gateways []*Gateway
	Balancer *Balancer // nil if alone

	t      T
	config Config
	dir    string // the gateways share its folder storage, as a network file system
}

// Start returns when all gateways are ready. They end with the test.
func Start(t T, config Config) *Cluster {
	t.Helper()
	dir, err := os.MkdirTemp("", "gh-cluster")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	c := &Cluster{t: t, config: config, dir: dir, Engines: config.Engines, Provider: startProvider(t)}
	prices := filepath.Join(dir, "prices.json")
	if err := os.WriteFile(prices, []byte(catalog), 0o600); err != nil {
		t.Fatal(err)
	}
	vncPort := config.VNCPort
	ports := c.ports(2)
	if vncPort == 0 {
		vncPort = ports[1]
	}
	for i := range config.Gateways {
		g := newGateway(c, "gw"+strconv.Itoa(i+1), vncPort)
		c.Gateways = append(c.Gateways, g)
		t.Cleanup(g.end)
		if err := g.Start(); err != nil { // one by one: the first makes the local authority
			t.Fatal(err)
		}
	}
	if !config.Alone {
		httpPort := config.HTTPPort
		if httpPort == 0 {
			httpPort = ports[0]
		}
		c.Balancer = c.balance(httpPort, vncPort)
	}
	return c
}

func (c *Cluster) balance(httpPort, vncPort int) *Balancer {
	c.t.Helper()
	calls, viewers := Balanced{Port: httpPort}, Balanced{Port: vncPort}
	for _, g := range c.Gateways {
		calls.To = append(calls.To, strings.TrimPrefix(g.Origin, "http://"))
		viewers.To = append(viewers.To, g.VNC)
	}
	return StartBalancer(c.t, c.config.Caddy, calls, viewers)
}

func (c *Cluster) ports(n int) []int {
	c.t.Helper()
	ports, err := process.FreePorts(n)
	if err != nil {
		c.t.Fatal(err)
	}
	return ports
}

// RootCA is the file with the root certificate of the addresses of desktops.
func (c *Cluster) RootCA() string {
	return filepath.Join(c.dir, "storage", "pki", "authorities", "local", "root.crt")
}

// Eventually waits until check returns nil, and returns its last error after the timeout.
func Eventually(ctx context.Context, timeout time.Duration, check func() error) error {
	return process.Eventually(ctx, timeout, check)
}

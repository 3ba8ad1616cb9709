//go:build linux

package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/gatehouse-proxy/gatehouse/tests/clustertest"
	"github.com/gatehouse-proxy/gatehouse/tests/desktop"
	"github.com/gatehouse-proxy/gatehouse/tests/process"
)

// nodes is how many gateways a cluster has. A balancer gives them the requests in turn, and the
// connections of viewers: an address is issued by one and opened by the other.
const nodes = 2

// startCluster returns a gateway that stands for all: its origin and port are the balancer's, its log
// is that of the last.
func startCluster(ctx context.Context, t clustertest.T, caddy, dir string, port int, desktops []*desktop.Desktop, vncAuth bool) (*gateway, error) {
	engines := clustertest.StartEngines(t)
	storage := filepath.Join(dir, "storage")
	ports, err := process.FreePorts(nodes + 1)
	if err != nil {
		return nil, err
	}
	requests, viewers := clustertest.Balanced{Port: ports[nodes]}, clustertest.Balanced{Port: port}
	key := process.Secret()
	var last *gateway
	for i := range nodes {
		name := fmt.Sprintf("gw%d", i+1)
		own := filepath.Join(dir, name)
		if err := os.Mkdir(own, 0o700); err != nil {
			return nil, err
		}
		g, err := startGateway(ctx, caddy, own, port, desktops, vncAuth, node{
			port: ports[i], key: key, ca: filepath.Join(storage, "pki", "authorities", "local", "root.crt"),
			global: "storage file_system " + storage, options: engines.Block(name),
		})
		if err != nil {
			return nil, err
		}
		t.Cleanup(g.Stop)
		requests.To = append(requests.To, strings.TrimPrefix(g.origin, "http://"))
		viewers.To = append(viewers.To, fmt.Sprintf("127.0.0.1:%d", ports[i]))
		last = g
	}
	last.origin, last.port = clustertest.StartBalancer(t, caddy, requests, viewers).Origin, port
	return last, nil
}

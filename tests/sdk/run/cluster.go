//go:build unix

package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/gatehouse-proxy/gatehouse/tests/clustertest"
	"github.com/gatehouse-proxy/gatehouse/tests/process"
)

// nodes is how many gateways a cluster of the suites has.
const nodes = 2

// newsTime is how long one gateway may not know what was changed at another, in seconds: one, and slack
// for a busy machine.
const newsTime = "3"

// start starts what the suites call: one gateway, or a cluster of them behind a balancer. configure
// makes the configuration of a gateway with its files in a folder.
func start(ctx context.Context, p peers, dir string, configure func(dir string) (configuration, error)) (*gateway, error) {
	if p.cluster == nil {
		c, err := configure(dir)
		if err != nil {
			return nil, err
		}
		return startGateway(ctx, p.caddy, dir, c, newSecrets())
	}
	return startCluster(ctx, p, dir, configure)
}

// startCluster returns a gateway that stands for all: its sites are those of the balancer. The
// gateways keep their certificates in one folder, so that all have the same authority.
func startCluster(ctx context.Context, p peers, dir string, configure func(dir string) (configuration, error)) (*gateway, error) {
	engines := clustertest.StartEngines(p.cluster)
	storage, secrets := filepath.Join(dir, "storage"), newSecrets()
	var one *gateway
	var calls, secure clustertest.Balanced
	for i := range nodes {
		name := fmt.Sprintf("gw%d", i+1)
		own := filepath.Join(dir, name)
		if err := os.Mkdir(own, 0o700); err != nil {
			return nil, err
		}
		c, err := configure(own)
		if err != nil {
			return nil, err
		}
		c.text = strings.Replace(c.text, "\tgatehouse {\n", "\tstorage file_system "+storage+"\n\tgatehouse {\n"+engines.Block(name)+"\n", 1)
		c.text = strings.Replace(c.text, "bind 127.0.0.1\n", "bind 127.0.0.1\n\tgatehouse_health\n", 1)
		c.ca = filepath.Join(storage, "pki", "authorities", "local", "root.crt")
		g, err := startGateway(ctx, p.caddy, own, c, secrets)
		if err != nil {
			return nil, err
		}
		p.cluster.Cleanup(g.Stop)
		calls.To = append(calls.To, fmt.Sprintf("127.0.0.1:%d", c.http))
		secure.To = append(secure.To, fmt.Sprintf("127.0.0.1:%d", c.https))
		one = g
	}
	ports, err := process.FreePorts(nodes)
	if err != nil {
		return nil, err
	}
	calls.Port, secure.Port = ports[0], ports[1]
	b := clustertest.StartBalancer(p.cluster, p.caddy, calls, secure)
	one.http, one.newsTime = b.Origin, newsTime
	if one.https != "" {
		one.https = fmt.Sprintf("https://localhost:%d", secure.Port)
	}
	return one, nil
}

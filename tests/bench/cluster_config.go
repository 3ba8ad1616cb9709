//go:build linux

package main

import (
	"context"
	"fmt"
	"path/filepath"

	"github.com/gatehouse-proxy/gatehouse/tests/clustertest"
)

// clusterCallsAtOnce is so many that each of several gateways may have all connections of a case, also by
// its share while the engine is slow.
const clusterCallsAtOnce = 1024

// clusterCaddyfile is a gateway with a key of three limits and one without any.
func clusterCaddyfile(s site, block string) string {
	return globalOptions(s, fmt.Sprintf(`	gatehouse {
		data_dir %[1]q
		%[2]s
		key %[3]s {
			secret {env.%[4]s}
			scopes chat:write models:read
			rate 100M/min
			concurrency %[5]d
			budget 1000000usd/total
		}
		key free {
			secret {env.%[6]s}
			scopes chat:write models:read
		}
		catalog %[7]q
		provider up {
			base_url http://%[8]s/v1
			api_key {env.%[9]s}
			models %[10]s
			responses native
		}
	}
`, filepath.Join(filepath.Dir(s.storage), "data"), block, benchKey, gatewayKeyVar, clusterCallsAtOnce, spentKeyVar, s.catalog, s.upstream, upstreamKeyVar, modelWhole+" "+modelCoalesced)) +
		fmt.Sprintf(`http://:%d {
	bind 127.0.0.1
	gatehouse
}
`, s.port)
}

// startClusterGateway starts a gateway, alone without engines. Its role is the name of its node.
func (f *fleet) startClusterGateway(ctx context.Context, which role, engines *clustertest.Engines) (*server, error) {
	s, cfg, env, err := f.newServer(which, f.upstream)
	if err != nil {
		return nil, err
	}
	s.renames = true
	if err := writeCatalog(cfg.catalog); err != nil {
		return nil, err
	}
	if s.proc, err = f.runCaddy(string(which), s.dir, env, clusterCaddyfile(cfg, engines.Block(string(which)))); err != nil {
		return nil, err
	}
	return s, s.proc.await(ctx, func() error { return s.ready(ctx, f.secrets.gateway) })
}

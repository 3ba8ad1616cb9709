//go:build unix

package clustertest

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/gatehouse-proxy/gatehouse/tests/process"
)

// balancerCaddyfile is Caddy as a balancer without affinity: HTTP calls go to the gateways in turn,
// and so do connections of viewers, byte by byte. A gateway that cannot be reached is left out; what
// it has not begun to read is sent to another.
const balancerCaddyfile = `{
	admin off
	persist_config off
	auto_https off
	layer4 {
		127.0.0.1:%[1]d {
			route {
				proxy {
					%[2]s
					lb_policy round_robin
					lb_try_duration 5s
					lb_try_interval 50ms
					fail_duration 1s
				}
			}
		}
	}
}
http://:%[3]d {
	bind 127.0.0.1
	reverse_proxy %[4]s {
		lb_policy round_robin
		lb_try_duration 5s
		lb_try_interval 50ms
		fail_duration 1s
		health_uri /readyz
		health_interval 250ms
		health_timeout 2s
		flush_interval -1
	}
}
`

// Balancer is the one name of the cluster.
type Balancer struct {
	Origin string // http://127.0.0.1:port
	VNC    string // host:port
}

func startBalancer(c *Cluster, httpPort, vncPort int) *Balancer {
	c.t.Helper()
	var origins, desktops []string
	for _, g := range c.Gateways {
		origins = append(origins, strings.TrimPrefix(g.Origin, "http://"))
		desktops = append(desktops, "upstream "+g.VNC)
	}
	dir := filepath.Join(c.dir, "balancer")
	if err := os.Mkdir(dir, 0o700); err != nil {
		c.t.Fatal(err)
	}
	text := fmt.Sprintf(balancerCaddyfile, vncPort, strings.Join(desktops, "\n"), httpPort, strings.Join(origins, " "))
	b := &Balancer{Origin: fmt.Sprintf("http://127.0.0.1:%d", httpPort), VNC: fmt.Sprintf("127.0.0.1:%d", vncPort)}
	p, err := process.StartCaddy(c.t.Context(), c.config.Caddy, dir, text, nil, func() error {
		_, err := Client{Origin: b.Origin}.Do(c.t.Context(), "GET", "/healthz", "")
		return err
	})
	if err != nil {
		c.t.Fatal("the balancer: ", err)
	}
	c.t.Cleanup(p.Stop)
	return b
}

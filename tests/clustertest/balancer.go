//go:build unix

package clustertest

import (
	"fmt"
	"os"
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
		%s
	}
}
http://:%d {
	bind 127.0.0.1
	reverse_proxy %s {
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

const streamCaddyfile = `127.0.0.1:%d {
			route {
				proxy {
					%s
					lb_policy round_robin
					lb_try_duration 5s
					lb_try_interval 50ms
					fail_duration 1s
				}
			}
		}
`

// Balancer is the one name of a cluster.
type Balancer struct {
	Origin string // http://127.0.0.1:port
	VNC    string // host:port of the first stream

	process *process.Process
}

// Log is what the process has written.
func (b *Balancer) Log() string { return b.process.Log() }

// Balanced is a port of a balancer and the addresses behind it.
type Balanced struct {
	Port int
	To   []string // host:port
}

// StartBalancer starts Caddy as a balancer for HTTP, and for other connections byte by byte. The
// gateways have gatehouse_health at the HTTP addresses.
func StartBalancer(t T, caddy string, http Balanced, streams ...Balanced) *Balancer {
	t.Helper()
	dir, err := os.MkdirTemp("", "gh-balancer")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	text := ""
	for _, s := range streams {
		text += fmt.Sprintf(streamCaddyfile, s.Port, "upstream "+strings.Join(s.To, "\nupstream "))
	}
	text = fmt.Sprintf(balancerCaddyfile, text, http.Port, strings.Join(http.To, " "))
	b := &Balancer{Origin: fmt.Sprintf("http://127.0.0.1:%d", http.Port)}
	if len(streams) > 0 {
		b.VNC = fmt.Sprintf("127.0.0.1:%d", streams[0].Port)
	}
	p, err := process.StartCaddy(t.Context(), caddy, dir, text, nil, func() error {
		_, err := Client{Origin: b.Origin}.Do(t.Context(), "GET", "/healthz", "")
		return err
	})
	if err != nil {
		t.Fatal("the balancer: ", err)
	}
	b.process = p
	t.Cleanup(p.Stop)
	return b
}

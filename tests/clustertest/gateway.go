//go:build unix

package clustertest

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"time"

	"github.com/gatehouse-proxy/gatehouse/tests/process"
)

// Domain is the base of the addresses of desktops.
const Domain = "vnc.localhost"

// gatewayCaddyfile is the configuration of one gateway. It tells a balancer for a second that it
// ends, lets calls under way end within five, and keeps connections over a reload.
const gatewayCaddyfile = `{
	admin %[1]s
	persist_config off
	skip_install_trust
	auto_https disable_redirects
	shutdown_delay 1s
	grace_period 5s
	servers {
		listener_wrappers {
			gatehouse
		}
	}
	storage file_system %[2]s/storage
	gatehouse {
		data_dir %[3]s/data
		share_ports
		%[4]s
		catalog %[2]s/prices.json
		provider test {
			dialect test
		}
		provider fake {
			base_url %[5]s/v1
			models *
			discover off
		}
		provider metered {
			base_url %[5]s/metered/v1
			models *
			discover off
			responses translate
		}
		%[6]s
		vnc {
			domain ` + Domain + `
			port %[7]d
			%[8]s
		}
	}
	layer4 {
		%[9]s {
			route {
				vnc
			}
		}
	}
}
http://:%[10]d {
	bind 127.0.0.1
	gatehouse_health
	handle /metrics {
		metrics
	}
	gatehouse_console
	gatehouse
}
`

// desktops are workstations that the gateways draw themselves.
const desktops = "workstation demo {\ntest_card\n}\nworkstation second {\ntest_card\n}\nworkstation third {\ntest_card\n}"

// Gateway is one process of the cluster.
type Gateway struct {
	Name   string
	Origin string // http://127.0.0.1:port
	VNC    string // host:port

	cluster *Cluster
	dir     string
	admin   string
	vncPort int // of the addresses
	process *process.Process
}

func newGateway(c *Cluster, name string, vncPort int) *Gateway {
	c.t.Helper()
	ports := c.ports(3)
	at := func(i int) string { return net.JoinHostPort("127.0.0.1", strconv.Itoa(ports[i])) }
	g := &Gateway{Name: name, Origin: "http://" + at(0), VNC: at(1), cluster: c, dir: filepath.Join(c.dir, name), admin: at(2), vncPort: vncPort}
	if err := os.Mkdir(g.dir, 0o700); err != nil {
		c.t.Fatal(err)
	}
	return g
}

// Successor is another gateway of the cluster at the same ports, which has not started. It replaces g
// while both run.
func (g *Gateway) Successor(name string) *Gateway {
	next := newGateway(g.cluster, name, g.vncPort)
	next.Origin, next.VNC = g.Origin, g.VNC
	g.cluster.t.Cleanup(next.end)
	return next
}

// caddyfile is its configuration.
func (g *Gateway) caddyfile() string {
	c := g.cluster
	_, port, _ := net.SplitHostPort(g.Origin[len("http://"):])
	n, _ := strconv.Atoi(port)
	return fmt.Sprintf(gatewayCaddyfile, g.admin, c.dir, g.dir, c.Engines.Block(g.Name), c.Provider.Origin, c.config.Options,
		g.vncPort, c.config.VNC+"\n"+desktops, g.VNC, n)
}

// Start starts a gateway that has ended, and returns when it is ready.
func (g *Gateway) Start() (err error) {
	c := g.cluster.config
	g.process, err = process.StartCaddy(g.cluster.t.Context(), c.Caddy, g.dir, g.caddyfile(), c.Environment, g.Ready)
	if err != nil {
		return fmt.Errorf("%s: %w", g.Name, err)
	}
	return nil
}

// Ready returns nil if the gateway asks for calls, and shows a certificate to viewers.
func (g *Gateway) Ready() error {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, g.Origin+"/readyz", nil)
	if err != nil {
		return err
	}
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		return err
	}
	resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return errors.New("GET /readyz: " + resp.Status)
	}
	conn, err := g.cluster.dialTLS(ctx, g.VNC, "nobody."+Domain)
	if err != nil {
		return err
	}
	return conn.Close()
}

// Kill ends the gateway as a power failure would.
func (g *Gateway) Kill() {
	_ = syscall.Kill(g.process.PID(), syscall.SIGKILL)
	<-g.process.Exited
}

// Terminate asks the gateway to end, and returns what is closed when it has.
func (g *Gateway) Terminate() (ended <-chan struct{}) {
	_ = syscall.Kill(g.process.PID(), syscall.SIGTERM)
	return g.process.Exited
}

// Stop asks the gateway to end and waits for it.
func (g *Gateway) Stop() { g.process.Stop() }

// Pause stops the process until Resume.
func (g *Gateway) Pause() { _ = syscall.Kill(g.process.PID(), syscall.SIGSTOP) }

// Resume lets a paused process go on.
func (g *Gateway) Resume() { _ = syscall.Kill(g.process.PID(), syscall.SIGCONT) }

// Reload loads the configuration again, as an operator does.
func (g *Gateway) Reload() error {
	file := filepath.Join(g.dir, "Caddyfile")
	cmd := exec.Command(g.cluster.config.Caddy, "reload", "--force", "--address", g.admin, "--config", file, "--adapter", "caddyfile")
	if text, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%s: reload: %w: %s", g.Name, err, text)
	}
	return nil
}

// Command runs a command of the program beside the gateway, as an operator does.
func (g *Gateway) Command(arguments ...string) (string, error) {
	cmd := exec.Command(g.cluster.config.Caddy, append(arguments, "--address", g.admin)...)
	text, err := cmd.CombinedOutput()
	return string(text), err
}

// PID is the process id of the gateway.
func (g *Gateway) PID() int { return g.process.PID() }

// Dir is the folder of the gateway: its Caddyfile, log and data.
func (g *Gateway) Dir() string { return g.dir }

// Admin is the address of its admin endpoint.
func (g *Gateway) Admin() string { return g.admin }

// Log is what the process has written.
func (g *Gateway) Log() string { return g.process.Log() }

// end is the end of the test, which the gateway may have reached paused or not at all.
func (g *Gateway) end() {
	if g.process != nil && g.process.Running() {
		g.Resume()
		g.Kill()
	}
}

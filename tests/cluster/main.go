//go:build unix

// Command cluster runs three gateways as one on the loopback, for people to try out: Redis or Valkey
// with a replica and three Sentinels, PostgreSQL, and Caddy as the balancer before the gateways. It
// prints lines for a shell, and ends everything with Ctrl-C.
//
//	go run ./tests/cluster -caddy ./caddy [-gateways 3] [-http 8080] [-vnc 5900]
//
// The programs are those of the Debian packages redis-server (or valkey-server) and postgresql.
// Nothing is kept.
package main

import (
	"cmp"
	"context"
	"flag"
	"fmt"
	"net"
	"os"
	"os/signal"
	"path/filepath"
	"strconv"
	"syscall"

	"github.com/gatehouse-proxy/gatehouse/tests/clustertest"
	"github.com/gatehouse-proxy/gatehouse/tests/process"
)

type options struct {
	caddy     string
	gateways  int
	http, vnc int
}

func main() {
	var o options
	flag.StringVar(&o.caddy, "caddy", "./caddy", "the gateway")
	flag.IntVar(&o.gateways, "gateways", 3, "`number` of gateways")
	flag.IntVar(&o.http, "http", port("GATEWAY_SERVER_PORT", 8080), "`port` of the balancer")
	flag.IntVar(&o.vnc, "vnc", port("GATEWAY_VNC_PORT", 5900), "`port` of the balancer for viewers")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := clustertest.Run(ctx, func(t clustertest.T) { serve(t, o) })
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "cluster:", err)
		os.Exit(1)
	}
}

func port(variable string, usual int) int {
	n, err := strconv.Atoi(os.Getenv(variable))
	if err != nil {
		return usual
	}
	return n
}

// limits are small, so that each is met by hand.
const limits = `
	key dev {
		secret %s
		scopes chat:write models:read activity:read keys:manage workstations:connect workstations:manage
		rate 20/min
		concurrency 4
		budget 5usd/day soft
	}
	runtime_keys {
		scopes chat:write models:read
	}
`

func serve(t clustertest.T, o options) {
	caddy, err := filepath.Abs(o.caddy)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(caddy); err != nil {
		t.Fatal(err)
	}
	for _, p := range []int{o.http, o.vnc} {
		l, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(p)))
		if err != nil {
			t.Fatal(err)
		}
		l.Close()
	}
	programs := clustertest.EnginePrograms()
	if len(programs) == 0 {
		t.Fatal("neither redis-server nor valkey-server is installed (apt-get install redis-server)")
	}
	fmt.Printf("starting %s with a replica and three Sentinels, PostgreSQL, %d gateways and a balancer\n", filepath.Base(programs[0]), o.gateways)
	engines := clustertest.StartSentinels(t, programs[0])
	key := cmp.Or(os.Getenv("GATEWAY_API_KEY"), process.Secret())
	c := clustertest.Start(t, clustertest.Config{
		Caddy: caddy, Gateways: o.gateways, Engines: engines.Engines, Options: fmt.Sprintf(limits, key), HTTPPort: o.http, VNCPort: o.vnc,
	})
	fmt.Printf("\nthe engine: %s, its replica %s, Sentinels %v; PostgreSQL: %s\n", engines.Fronts[0].Addr, engines.Fronts[1].Addr, engines.Sentinels, engines.DSN)
	for _, g := range c.Gateways {
		fmt.Printf("%s: %s, viewers %s, process %d, its folder %s\n", g.Name, g.Origin, g.VNC, g.PID(), g.Dir())
	}
	fmt.Printf(lines, key, c.Balancer.Origin, c.RootCA(), o.caddy, c.Gateways[0].Admin())
	<-t.Context().Done()
	fmt.Println("\nending")
}

const lines = `
In another terminal:

# Each call goes to the next gateway; 20 a minute are let in, by all of them together.
curl -i -H "Authorization: Bearer %[1]s" -H "Content-Type: application/json" -d '{"model":"test/echo","messages":[{"role":"user","content":"hello"}]}' %[2]s/v1/chat/completions

# What was called, whichever gateway has served it:
curl -s -H "Authorization: Bearer %[1]s" "%[2]s/api/v1/activity?limit=5"

# A key that one gateway makes and the next one takes:
curl -s -H "Authorization: Bearer %[1]s" -H "Content-Type: application/json" -d '{"name":"mine"}' %[2]s/api/v1/keys

# A desktop: one gateway gives the address, the next one opens it. The third line ends the session.
vncviewer "-X509CA=%[3]s" "$(curl -s -X POST -H "Authorization: Bearer %[1]s" %[2]s/v1/workstations/demo/vnc | sed 's/.*"vnc_url":"\([^"]*\).*/\1/')" &
curl -s -X DELETE -H "Authorization: Bearer %[1]s" %[2]s/v1/workstations/demo
curl -s -X PUT -d '{}' -H "Authorization: Bearer %[1]s" -H "Content-Type: application/json" %[2]s/v1/workstations/demo

# The nodes as one of them sees them:
%[4]s gatehouse cluster --address %[5]s

Kill a gateway or an engine by its process id and see what goes on. Ctrl-C ends all.
`

// Command run drives a built gateway with the official SDKs of OpenAI, OpenRouter, Anthropic, Google and MCP.
//
//	go run ./tests/sdk/run -caddy ./caddy -fake FAKEPROVIDER -python PYTHON -python-anthropic1 DIR -python-clouds PYTHON -node DIR
//		-go TESTBINARY -go-anthropic TESTBINARY -go-anthropic1 TESTBINARY -go-google TESTBINARY
//		-go-mcp TESTBINARY -mcp-node DIR -mcp-server SERVER [-only REGEXP] [-results FILE] [-cluster]
//
// It starts the fake provider and the gateway, on free ports of the loopback and with their data in
// a temporary folder. It runs each suite against the built-in test provider and against the fake
// one, and ends everything it started. A suite whose flag is empty fails: there is no skipping.
// -cluster puts a balancer and two gateways in the gateway's place.
// -results appends a line "name TAB passed TAB failed TAB seconds" for each suite.
package main

import (
	"context"
	"errors"
	"flag"
	"os"
	"path/filepath"

	"github.com/gatehouse-proxy/gatehouse/tests/clustertest"
	"github.com/gatehouse-proxy/gatehouse/tests/process"
)

func main() {
	var p peers
	flag.StringVar(&p.fake, "fake", "", "the built tests/fakeprovider")
	flag.StringVar(&p.python, "python", "", "a Python that has tests/sdk/python/requirements.txt")
	flag.StringVar(&p.node, "node", "", "a folder with the packages of tests/sdk/node")
	flag.StringVar(&p.goTest, "go", "", "the test binary of tests/sdk/go")
	flag.StringVar(&p.pythonAnthropic1, "python-anthropic1", "", "a folder with the package of tests/sdk/python/anthropic-1.txt")
	flag.StringVar(&p.pythonClouds, "python-clouds", "", "a Python that has tests/sdk/python/clouds.txt")
	flag.StringVar(&p.goAnthropic, "go-anthropic", "", "the test binary of tests/sdk/go/anthropic")
	flag.StringVar(&p.goAnthropic1, "go-anthropic1", "", "the same, built with the tag anthropic1")
	flag.StringVar(&p.goGoogle, "go-google", "", "the test binary of tests/sdk/go/google")
	flag.StringVar(&p.goMCP, "go-mcp", "", "the test binary of tests/sdk/go/mcp")
	flag.StringVar(&p.mcpNode, "mcp-node", "", "a folder with the packages of tests/sdk/mcp")
	flag.StringVar(&p.mcpServer, "mcp-server", "", "the built everything-server of the Go SDK of MCP")
	flag.StringVar(&p.pairs, "pairs", "", "what go test ./internal/modelcall -run EveryPair -args -pairs FILE wrote")
	flag.StringVar(&p.sources, "sources", "tests/sdk", "the folder of the suites")
	cluster := flag.Bool("cluster", false, "call two gateways that share Redis and PostgreSQL, through a balancer")
	process.Main("sdk", "suites", func(ctx context.Context, o process.Options) (ok bool, err error) {
		if !*cluster {
			return run(ctx, p, o)
		}
		failed := clustertest.Run(ctx, func(t clustertest.T) {
			p.cluster = t
			ok, err = run(ctx, p, o)
		})
		return ok, errors.Join(err, failed)
	})
}

func run(ctx context.Context, p peers, o process.Options) (ok bool, err error) {
	p.caddy = o.Caddy
	dir, err := os.MkdirTemp("", "gatehouse-sdk-")
	if err != nil {
		return false, err
	}
	defer os.RemoveAll(dir)

	fake, err := startFake(ctx, p.fake, filepath.Join(dir, "fake.log"))
	if err != nil {
		return false, err
	}
	defer fake.Stop()
	report := func(r *process.Result) error { return r.Report(o.Results) }
	var serving, refusing []suite
	for _, s := range suites(p) {
		switch {
		case !o.Only.MatchString(s.name):
		case s.target == refusalsTarget:
			refusing = append(refusing, s)
		default:
			serving = append(serving, s)
		}
	}
	ok = true
	for _, group := range []struct {
		name   string
		suites []suite
		run    func(context.Context, peers, string, *fakeProvider, []suite, func(*process.Result) error) (bool, error)
	}{{"serving", serving, runServed}, {refusalsTarget, refusing, runRefusals}} {
		if len(group.suites) == 0 {
			continue
		}
		own := filepath.Join(dir, group.name)
		if err := os.Mkdir(own, 0o700); err != nil {
			return false, err
		}
		passed, err := group.run(ctx, p, own, fake, group.suites, report)
		if err != nil {
			return false, err
		}
		ok = ok && passed
	}
	return ok, ctx.Err()
}

// runServed runs the suites whose calls are answered.
func runServed(ctx context.Context, p peers, dir string, fake *fakeProvider, chosen []suite, report func(*process.Result) error) (bool, error) {
	servers, err := startMCPServers(ctx, p.mcpServer, dir)
	if err != nil {
		return false, err
	}
	defer servers.stop()
	g, err := start(ctx, p, dir, func(dir string) (configuration, error) { return servingConfig(dir, fake.origin, servers) })
	if err != nil {
		return false, err
	}
	defer g.Stop()
	return g.runSuites(ctx, chosen, report, func(i int) []string {
		return append(g.environment(chosen[i].target, chosen[i].https, fake.origin),
			"MCP_STATELESS="+servers.stateless, "MCP_SESSIONS="+servers.sessions)
	})
}

// runSuites runs them one after another and shows the gateway's log if one fails.
func (g *gateway) runSuites(ctx context.Context, chosen []suite, report func(*process.Result) error, environment func(i int) []string) (ok bool, err error) {
	ok = true
	for i, s := range chosen {
		r := s.run(ctx, environment(i))
		ok = ok && r.Failed == 0
		if err := report(r); err != nil {
			return false, err
		}
	}
	if !ok {
		g.ShowLog(os.Stderr)
	}
	return ok, nil
}

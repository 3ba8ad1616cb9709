//go:build linux

// Bench compares the cost of the gateway with that of simpler servers: it loads the upstream
// directly, Caddy's plain reverse_proxy, and the gateway, one after the other inside every round,
// and reports the ratios of the paired rounds. For VNC it does the same with caddy-l4's tls and
// proxy, a bare TLS-to-TCP copy, and the gateway's VNC listener; the workstation is then in the
// parent process too.
//
//	go run ./tests/bench -caddy ./caddy               # what `make bench` runs
//	go run ./tests/bench -caddy ./caddy -quick        # one short round, a smoke test
//	go run ./tests/bench -caddy ./caddy -prompt prose # plain English instead of source code
//	go run ./tests/bench -caddy ./caddy -only req-1k-on,rate-refused
//
//	go run ./tests/bench -caddy ./caddy -capacity FILE # what docs/scale.md is made from
//
// The cases named tls-… are what users run: TLS from the client, TLS and HTTP/2 to the provider.
//
// The gateway is measured with limits, budgets and guardrails off. In the cases named …-on,
// -limits, -budgets and -guards it is compared with a second gateway that has them on.
//
// Each round starts new servers on loopback: the upstream or the bare copy (this binary again, in
// one of its serving modes) and two processes of the same Caddy binary with equal GOGC, GOMEMLIMIT
// and GOMAXPROCS. CPU is the process time of the server alone, from /proc/PID/stat; memory is from
// /proc/PID/status, which makes this a Linux program. Every answer is checked, so a server that
// answers wrongly fails its case instead of looking fast.
//
// The load client runs in the parent process and shares the machine with the servers. So requests a
// second and latencies are those of a shared machine; read CPU a request and the ratios.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"syscall"
	"time"
)

// serveCommand is the first argument that turns this binary into the upstream.
const serveCommand = "serve"

// clientGOGC keeps the load client's garbage collector from disturbing the measurement; its memory
// does not matter.
const clientGOGC = 400

func main() {
	if len(os.Args) > 1 && (os.Args[1] == serveCommand || os.Args[1] == relayCommand || os.Args[1] == socketCommand) {
		if err := serveOne(os.Args[1], os.Args[2:]); err != nil {
			fmt.Fprintf(os.Stderr, "bench %s: %v\n", os.Args[1], err)
			os.Exit(1)
		}
		return
	}
	// The servers share the terminal's process group and get its Ctrl-C too. The context makes this
	// process end them in order and wait for them.
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	code := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

// serveOne runs this binary as one of the servers that it starts.
func serveOne(command string, args []string) error {
	if command == serveCommand {
		if len(args) != 2 {
			return errors.New("the upstream needs a certificate and its key")
		}
		return serveUpstream(os.Stdin, os.Stdout, os.Getenv(upstreamKeyVar), args[0], args[1])
	}
	if len(args) != 3 {
		return errors.New("a relay needs a certificate, its key and a target")
	}
	if command == socketCommand {
		return serveSocket(os.Stdin, os.Stdout, args[0], args[1], args[2])
	}
	return serveRelay(os.Stdin, os.Stdout, args[0], args[1], args[2])
}

// options are the settings of one run; each is a flag.
type options struct {
	Caddy      string        `json:"caddy"`
	Prompt     promptKind    `json:"prompt"`
	Rounds     int           `json:"rounds"`
	Time       time.Duration `json:"time_ns"`
	Rate       int           `json:"rate"`
	Held       int           `json:"held"`
	Sessions   int           `json:"sessions"`
	Only       string        `json:"only,omitempty"`
	GOGC       string        `json:"gogc"`
	MemLimit   string        `json:"gomemlimit"`
	GOMAXPROCS int           `json:"gomaxprocs"`
	JSON       string        `json:"-"`
	Peers      string        `json:"peers,omitempty"`
	Rows       string        `json:"rows,omitempty"`
	Capacity   string        `json:"-"`
}

func parseOptions(args []string, stderr io.Writer) (options, error) {
	o := options{Prompt: codePrompt}
	var quick bool
	f := flag.NewFlagSet("bench", flag.ContinueOnError)
	f.SetOutput(stderr)
	f.StringVar(&o.Caddy, "caddy", "./caddy", "Caddy `binary` that runs both reverse_proxy and the gateway")
	f.Var(&o.Prompt, "prompt", "`kind` of the prompts: code, as a coding tool sends, or prose")
	f.IntVar(&o.Rounds, "rounds", minRounds, "rounds; a verdict needs 5")
	f.DurationVar(&o.Time, "time", 2*time.Second, "length of one measurement, after a warm-up of a quarter of it")
	f.IntVar(&o.Rate, "rate", 300, "requests a second of the fixed-rate case")
	f.IntVar(&o.Held, "held", 400, "streams of the held-stream case")
	f.IntVar(&o.Sessions, "sessions", 500, "VNC sessions of the idle-session case")
	f.StringVar(&o.Only, "only", "", "comma-separated `cases` to run (default all)")
	f.StringVar(&o.GOGC, "gogc", "100", "GOGC of the servers")
	f.StringVar(&o.MemLimit, "memlimit", "1GiB", "GOMEMLIMIT of the servers")
	f.IntVar(&o.GOMAXPROCS, "gomaxprocs", runtime.NumCPU(), "GOMAXPROCS of the servers")
	f.StringVar(&o.JSON, "json", "", "also write the report with every round to this `file`")
	f.StringVar(&o.Peers, "peers", "", "compare with the other gateways that are installed in this `folder`, and nothing else")
	f.StringVar(&o.Rows, "rows", "", "the gateways of pages-open begin with a copy of this data `folder`, made by tests/manyrows")
	f.StringVar(&o.Capacity, "capacity", "", "write what tests/tools/scale makes its tables from to this `file`, and measure nothing else")
	f.BoolVar(&quick, "quick", false, "one short round: -rounds 1 -time 300ms -held 50 -sessions 50")
	if err := f.Parse(args); err != nil {
		return o, err
	}
	if quick {
		o.Rounds, o.Time, o.Held, o.Sessions = 1, 300*time.Millisecond, 50, 50
	}
	if f.NArg() > 0 {
		return o, fmt.Errorf("unexpected argument %q", f.Arg(0))
	}
	for _, n := range []struct {
		name        string
		value, most int
	}{
		{"rounds", o.Rounds, maxRounds}, {"rate", o.Rate, maxRate}, {"held", o.Held, maxHeld}, {"sessions", o.Sessions, maxSessions}, {"gomaxprocs", o.GOMAXPROCS, maxProcs},
	} {
		if n.value < 1 || n.value > n.most {
			return o, fmt.Errorf("-%s %d is not within 1 and %d", n.name, n.value, n.most)
		}
	}
	if o.Time < minTime || o.Time > maxTime {
		return o, fmt.Errorf("-time %s is not within %s and %s", o.Time, minTime, maxTime)
	}
	return o, nil
}

// run is the whole program except signals. It returns the exit status: 0 if every case was
// measured, whatever the verdicts, 1 if one failed, 2 for usage.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	o, err := parseOptions(args, stderr)
	if errors.Is(err, flag.ErrHelp) {
		return 0
	}
	if err != nil {
		fmt.Fprintln(stderr, "bench:", err)
		return 2
	}
	r := &runner{opts: o, progress: stderr, settle: settleTime}
	if err := r.choose(); err != nil {
		fmt.Fprintln(stderr, "bench:", err)
		return 2
	}
	if o.Only == "" && o.Peers == "" && len(r.suites) < len(allSuites()) {
		fmt.Fprintf(stderr, "bench: %s is left out: it needs redis-server and PostgreSQL\n", clusterCase)
	}
	if r.opts.Caddy, err = filepath.Abs(o.Caddy); err != nil {
		fmt.Fprintln(stderr, "bench:", err)
		return 2
	}
	if o.Peers != "" {
		if r.opts.Peers, err = filepath.Abs(o.Peers); err != nil {
			fmt.Fprintln(stderr, "bench:", err)
			return 2
		}
	}
	debug.SetGCPercent(clientGOGC)
	if o.Capacity != "" {
		if err := measureCapacity(ctx, r.opts, stderr); err != nil {
			fmt.Fprintln(stderr, "bench:", err)
			return 1
		}
		return 0
	}

	runErr := r.run(ctx)
	rep := r.report()
	if rep.measured() {
		if err := rep.writeText(stdout); err != nil {
			fmt.Fprintln(stderr, "bench:", err)
			return 1
		}
		if err := writeJSON(o.JSON, rep); err != nil {
			fmt.Fprintln(stderr, "bench:", err)
			return 1
		}
	}
	if runErr != nil {
		fmt.Fprintln(stderr, "bench:", runErr)
		return 1
	}
	if rep.failed() {
		return 1
	}
	return 0
}

// writeJSON writes the report to path; an empty path writes nothing.
func writeJSON(path string, rep *report) error {
	if path == "" {
		return nil
	}
	text, err := json.MarshalIndent(rep, "", "  ")
	if err != nil {
		return fmt.Errorf("encoding the report: %w", err)
	}
	return os.WriteFile(path, append(text, '\n'), 0o644)
}

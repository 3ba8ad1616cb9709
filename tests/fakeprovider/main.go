// Fakeprovider runs the provider of internal/testkit/faults in its own process, for tests that
// drive a real gateway.
//
//	fakeprovider [-listen 127.0.0.1:0] [-instances 1]
//
// The first line on stdout is "listening on http://HOST:PORT"; several instances have a line each.
// They know nothing of each other: what one records, or becomes, the others do not. The process ends when its standard
// input closes, so that none outlives the test that started it, or on SIGTERM or an interrupt; then
// open connections are dropped. What it can do is in the package comment of faults.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"os"
	"os/signal"
	"syscall"

	"github.com/gatehouse-proxy/gatehouse/internal/testkit/faults"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, os.Interrupt)
	defer stop()
	if err := run(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr); err != nil {
		fmt.Fprintln(os.Stderr, "fakeprovider:", err)
		os.Exit(1)
	}
}

// run serves until ctx or stdin ends.
func run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) error {
	flags := flag.NewFlagSet("fakeprovider", flag.ContinueOnError)
	flags.SetOutput(stderr)
	listen := flags.String("listen", "127.0.0.1:0", "`address` to listen on; port 0 takes a free one")
	instances := flags.Int("instances", 1, "`number` of independent providers, which need a -listen with port 0")
	if err := flags.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			return nil
		}
		return err
	}
	if *instances < 1 || *instances > maxInstances {
		return fmt.Errorf("from 1 to %d instances, not %d", maxInstances, *instances)
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var listeners []net.Listener
	for range *instances {
		l, err := net.Listen("tcp", *listen)
		if err != nil {
			return err
		}
		defer l.Close()
		listeners = append(listeners, l)
		fmt.Fprintf(stdout, "listening on http://%s\n", l.Addr())
	}
	go func() {
		_, _ = io.Copy(io.Discard, stdin) // ends when the parent has ended
		cancel()
	}()
	ended := make(chan error)
	for _, l := range listeners {
		go func() { ended <- faults.New().Serve(ctx, l) }()
	}
	var failed error
	for range listeners {
		failed = errors.Join(failed, <-ended)
		cancel() // one alone is not what was asked for
	}
	return failed
}

// maxInstances is more than any test fails over to.
const maxInstances = 16

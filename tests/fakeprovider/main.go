// Fakeprovider runs the fake model provider of internal/fake in a process of its own, for tests
// that drive a real gateway.
//
//	fakeprovider [-listen 127.0.0.1:0] [-record=false]
//
// The first line on stdout is "listening on http://HOST:PORT". The process ends when its standard
// input closes, so that none outlives the test that started it, or on SIGTERM or an interrupt; then
// open connections are dropped. What it can do is in the package comment of internal/fake.
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

	"github.com/gatehouse-proxy/gatehouse/internal/fake"
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
	record := flags.Bool("record", true, "record requests; off for load tests")
	if err := flags.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			return nil
		}
		return err
	}
	var opts []fake.Option
	if !*record {
		opts = append(opts, fake.WithoutRecord())
	}
	l, err := net.Listen("tcp", *listen)
	if err != nil {
		return err
	}
	defer l.Close()
	fmt.Fprintf(stdout, "listening on http://%s\n", l.Addr())

	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go func() {
		_, _ = io.Copy(io.Discard, stdin) // ends when the parent has ended
		cancel()
	}()
	return fake.New(opts...).Serve(ctx, l)
}

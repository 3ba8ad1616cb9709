//go:build linux

// Command firsthour follows docs/first-hour.md: it runs each block of the page in order, and compares what
// comes with what the page shows.
//
//	go run ./tests/firsthour -claude PROGRAM [-page FILE] [-results FILE] [-v]
//
// The page has the ports of a first hour: 8080, 5900, 11434, 443. So all of it runs in a network namespace of its own, which
// has a loopback interface alone; with root, or where users may make one. Redis and PostgreSQL are at their
// usual ports, as Debian's packages start them, and there is a screen. A program that is missing fails:
// there is no skipping.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/gatehouse-proxy/gatehouse/tests/clustertest"
	"github.com/gatehouse-proxy/gatehouse/tests/process"
)

// needed are the programs of the page, besides those of the base system.
var needed = []string{"bash", "curl", "go", "make", "git", "Xtigervnc", "xtigervncviewer", "Xvfb", "psql"}

type options struct {
	process.Options
	page, claude string
	verbose      bool
}

func main() {
	var o options
	flag.StringVar(&o.page, "page", "docs/first-hour.md", "the page to follow")
	flag.StringVar(&o.claude, "claude", "", "Claude Code's program")
	flag.BoolVar(&o.verbose, "v", false, "show what each step printed")
	process.Main("firsthour", "sections (here all, as each needs those before it)", func(ctx context.Context, flags process.Options) (bool, error) {
		o.Options = flags
		if inNamespace() {
			return o.run(ctx)
		}
		return again(ctx)
	})
}

// run follows the page.
func (o options) run(ctx context.Context) (ok bool, err error) {
	r, began := process.NewResult("first hour"), time.Now()
	if missing := o.missing(); missing != "" {
		r.Missing(missing)
		return false, r.Report(o.Results)
	}
	failed := clustertest.Run(ctx, func(t clustertest.T) {
		if err = o.prepare(t); err == nil {
			err = o.follow(ctx, t, r)
		}
	})
	r.Took = time.Since(began)
	if o.verbose || r.Failed > 0 {
		fmt.Println(r.Details())
	}
	return r.Failed == 0, errors.Join(err, failed, r.Report(o.Results))
}

func (o options) missing() string {
	if why := process.Absent(o.claude, "claude"); why != "" {
		return why
	}
	for _, name := range needed {
		if _, err := exec.LookPath(name); err != nil {
			return err.Error()
		}
	}
	return ""
}

// prepare starts what the page expects to be there.
func (o options) prepare(t clustertest.T) error {
	if err := loopbackUp(); err != nil {
		return fmt.Errorf("the loopback interface: %w", err)
	}
	engines := clustertest.StartEngines(t)
	if text, err := exec.Command("psql", engines.DSN, "-c", "CREATE DATABASE gatehouse").CombinedOutput(); err != nil {
		return fmt.Errorf("psql: %w: %s", err, text)
	}
	for port, address := range map[string]string{"6379": engines.Redis.Addr, "5432": engines.Postgres.Addr} {
		if err := forward(t, port, address); err != nil {
			return err
		}
	}
	return nil
}

// forward passes connections from a port of the loopback to an address, until the end.
func forward(t clustertest.T, port, address string) error {
	l, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", port))
	if err != nil {
		return err
	}
	t.Cleanup(func() { l.Close() })
	go func() { // ends with the listener
		for {
			in, err := l.Accept()
			if err != nil {
				return
			}
			out, err := net.Dial("tcp", address)
			if err != nil {
				in.Close()
				continue
			}
			go pass(in, out)
			go pass(out, in)
		}
	}()
	return nil
}

// pass copies until one side ends, which ends the other.
func pass(to, from net.Conn) {
	_, _ = io.Copy(to, from)
	to.Close()
	from.Close()
}

// follow runs the steps in a fresh home, and ends at the first that is not as the page says.
func (o options) follow(ctx context.Context, t clustertest.T, r *process.Result) error {
	steps, err := readPage(o.page)
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "gatehouse-firsthour-")
	if err != nil {
		return err
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	environment, err := o.environment(dir)
	if err != nil {
		return err
	}
	screen, err := process.Start(exec.Command("Xvfb", display, "-screen", "0", "1400x900x24", "-nolisten", "tcp"), filepath.Join(dir, "Xvfb.log"))
	if err != nil {
		return err
	}
	t.Cleanup(screen.Stop)
	sh, err := startShell(dir, environment)
	if err != nil {
		return err
	}
	t.Cleanup(sh.stop)
	section := ""
	for _, s := range steps {
		if section != "" && s.section != section {
			r.Check(section, nil)
		}
		section = s.section
		output, err := o.do(ctx, sh, s)
		if o.verbose {
			fmt.Printf("$ %s%s\n%s", s.command, s.options, output)
		}
		if err != nil {
			r.Check(section, fmt.Errorf("%s:%d: $ %s\n%w; it printed\n%s", o.page, s.line, s.command, err, output))
			return nil
		}
	}
	r.Check(section, nil)
	return nil
}

// do runs one step.
func (o options) do(ctx context.Context, sh *shell, s step) (output string, err error) {
	if s.options != "" {
		s.command = "sed -i '/^\tgatehouse {$/r /dev/stdin' Caddyfile <<'EOF'\n" + s.options + "\nEOF"
	}
	output, err = sh.run(ctx, s.command)
	switch {
	case s.strict && !agrees(s.shown, output):
		return output, fmt.Errorf("the page shows\n%s", s.shown)
	case s.strict && ctx.Err() == nil:
		return output, nil // the output says how it ended
	}
	return output, err
}

// display is the screen of the person.
const display = ":7"

// environment is that of a person who has just signed in. Go keeps its cache: a build from nothing
// takes minutes.
func (o options) environment(dir string) ([]string, error) {
	home, programs := filepath.Join(dir, "home"), filepath.Join(dir, "programs")
	for _, d := range []string{home, programs} {
		if err := os.Mkdir(d, 0o700); err != nil {
			return nil, err
		}
	}
	claude, err := filepath.Abs(o.claude)
	if err != nil {
		return nil, err
	}
	if err := os.Symlink(claude, filepath.Join(programs, "claude")); err != nil {
		return nil, err
	}
	if err := os.Symlink("/usr/bin/xtigervncviewer", filepath.Join(programs, "vncviewer")); err != nil {
		return nil, err
	}
	environment := []string{
		"HOME=" + home, "PATH=" + programs + ":" + os.Getenv("PATH"), "DISPLAY=" + display, "LANG=C.UTF-8",
		// It would look for its maker's machines.
		"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1", "USE_BUILTIN_RIPGREP=0",
	}
	kept, err := exec.Command("go", "env", "GOCACHE", "GOMODCACHE", "GOFLAGS", "CGO_ENABLED").Output()
	if err != nil {
		return nil, fmt.Errorf("go env: %w", err)
	}
	for i, value := range strings.Split(strings.TrimRight(string(kept), "\n"), "\n") {
		environment = append(environment, []string{"GOCACHE", "GOMODCACHE", "GOFLAGS", "CGO_ENABLED"}[i]+"="+value)
	}
	return environment, nil
}

//go:build unix

package process

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"regexp"
	"strings"
	"syscall"
	"time"
)

// Options are the flags that all suites have.
type Options struct {
	Caddy   string         // the gateway
	Only    *regexp.Regexp // the names to run; never nil in Main
	Results string         // the file for the counts; "" = none
}

// Main is the main function of the command name, after it has declared its own flags. It runs the
// suite until that ends or a signal comes, and exits with status 1 if run fails. kind is what -only
// selects.
func Main(name, kind string, run func(context.Context, Options) (ok bool, err error)) {
	o := Options{Only: regexp.MustCompile("")}
	flag.StringVar(&o.Caddy, "caddy", "./caddy", "the gateway")
	flag.StringVar(&o.Results, "results", "", "append the counts to this file")
	flag.Func("only", "run the "+kind+" whose name matches this `regexp`", func(text string) (err error) {
		o.Only, err = regexp.Compile(text)
		return err
	})
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	ok, err := run(ctx, o)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, name+":", err)
	}
	if !ok || err != nil {
		os.Exit(1)
	}
}

// Result counts the checks of one run.
type Result struct {
	Name           string // as the table of results shows it: "viewer tigervnc"
	Passed, Failed int
	Took           time.Duration

	lines []string
	last  time.Time // of the last check
}

// NewResult begins a run. Its checks are timed from now on.
func NewResult(name string) *Result { return &Result{Name: name, last: time.Now()} }

// Check counts one check. err is why it failed, nil if it passed, which Check reports.
func (r *Result) Check(what string, err error) bool {
	n, now := r.Passed+r.Failed+1, time.Now()
	took := now.Sub(r.last).Seconds()
	r.last = now
	if err != nil {
		r.Failed++
		r.lines = append(r.lines, fmt.Sprintf("not ok %d - %s (%.1f s): %v", n, what, took, err))
		return false
	}
	r.Passed++
	r.lines = append(r.lines, fmt.Sprintf("ok %d - %s (%.1f s)", n, what, took))
	return true
}

// Must counts a step only if it fails: it prepares a check.
func (r *Result) Must(what string, err error) bool { return err == nil || r.Check(what, err) }

// Missing fails a run that is not possible because a program is not there.
func (r *Result) Missing(why string) {
	r.Failed = 1
	fmt.Printf("%s cannot run: %s\n", r.Name, why)
}

// Details returns the checks since the last call, one a line.
func (r *Result) Details() string {
	text := strings.Join(r.lines, "\n")
	r.lines = nil
	return text
}

// String is the line for people.
func (r *Result) String() string {
	return fmt.Sprintf("%s: %d passed, %d failed, %.1f s", r.Name, r.Passed, r.Failed, r.Took.Seconds())
}

// Report prints the result and, if file is not empty, appends it to file as the line "name TAB
// passed TAB failed TAB seconds".
func (r *Result) Report(file string) error {
	fmt.Println(r)
	if file == "" {
		return nil
	}
	f, err := os.OpenFile(file, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(f, "%s\t%d\t%d\t%.0f\n", r.Name, r.Passed, r.Failed, r.Took.Seconds())
	if closeErr := f.Close(); err == nil {
		err = closeErr
	}
	return err
}

// Absent returns why a program cannot run whose path is the value of a flag, "" if it is given.
func Absent(path, flag string) string {
	if path == "" {
		return "-" + flag + " is empty"
	}
	return ""
}

//go:build linux

package main

import (
	"fmt"
	"os"
	"strings"
	"time"
)

// result counts the checks of one client.
type result struct {
	name           string
	passed, failed int
	took           time.Duration
	lines          []string // of the scenario that runs
}

// check counts one check of a scenario: err is why it failed.
func (r *result) check(scenario, what string, err error) {
	n := r.passed + r.failed + 1
	if err != nil {
		r.failed++
		r.lines = append(r.lines, fmt.Sprintf("not ok %d - %s: %s: %v\n", n, scenario, what, err))
		return
	}
	r.passed++
	r.lines = append(r.lines, fmt.Sprintf("ok %d - %s: %s\n", n, scenario, what))
}

func (r *result) report() string { return strings.Join(r.lines, "") }

func (r *result) String() string {
	return fmt.Sprintf("client %s: %d passed, %d failed, %.1f s", r.name, r.passed, r.failed, r.took.Seconds())
}

func (r *result) appendTo(file string) error {
	f, err := os.OpenFile(file, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(f, "client %s\t%d\t%d\t%.0f\n", r.name, r.passed, r.failed, r.took.Seconds())
	if closeErr := f.Close(); err == nil {
		err = closeErr
	}
	return err
}

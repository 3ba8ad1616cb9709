//go:build linux

package main

import (
	"fmt"
	"os"
	"strings"
	"time"
)

// result counts the checks of one viewer.
type result struct {
	name           string
	passed, failed int
	took           time.Duration
	lines          []string
	last           time.Time // of the last check
}

// check counts one check: err is why it failed.
func (r *result) check(what string, err error) bool {
	n, now := r.passed+r.failed+1, time.Now()
	took := now.Sub(r.last).Seconds()
	r.last = now
	if err != nil {
		r.failed++
		r.lines = append(r.lines, fmt.Sprintf("not ok %d - %s (%.1f s): %v", n, what, took, err))
		return false
	}
	r.passed++
	r.lines = append(r.lines, fmt.Sprintf("ok %d - %s (%.1f s)", n, what, took))
	return true
}

// must counts a step only if it failed: it prepares a check.
func (r *result) must(what string, err error) bool { return err == nil || r.check(what, err) }

func (r *result) String() string {
	return fmt.Sprintf("viewer %s: %d passed, %d failed, %.1f s", r.name, r.passed, r.failed, r.took.Seconds())
}

func (r *result) details() string { return strings.Join(r.lines, "\n") }

func (r *result) appendTo(file string) error {
	f, err := os.OpenFile(file, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(f, "viewer %s\t%d\t%d\t%.0f\n", r.name, r.passed, r.failed, r.took.Seconds())
	if closeErr := f.Close(); err == nil {
		err = closeErr
	}
	return err
}

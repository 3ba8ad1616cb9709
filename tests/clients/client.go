//go:build linux

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/testkit/faults"
	"github.com/gatehouse-proxy/gatehouse/tests/desktop"
	"github.com/gatehouse-proxy/gatehouse/tests/process"
)

const (
	// runTimeout ends a client that hangs. The slowest that does not takes a minute: aider repeats a
	// 402 for so long.
	runTimeout = 90 * time.Second
	// fruit is the content of the file fruit.txt, which clients read with a tool.
	fruit = "pineapple"
)

// client is a program under test.
type client struct {
	name, version string
	more          bool   // make test does not run it, make clients does
	missing       string // why it cannot run
	// settings are what a user sets for the gateway, which may depend on a scenario's options. A
	// program of ours has them in its script instead, between two comments.
	settings func(scenario) []setting
	script   string
	// command is a run in the folder dir, with the client's own home.
	command func(ctx context.Context, r run) *exec.Cmd
	// read extracts what the client shows from its output: the model's text or an error.
	read      func(stdout, stderr []byte) (said, failed string)
	scenarios []scenario
}

// run is the input of a client.
type run struct {
	scenario
	origin    string // of the gateway
	dir, home string
	secret    string // of the gateway key
}

func clientsOf(p programs) []client {
	return slices.Concat([]client{codex(p), claude(p), llm(p), agents(p), opencode(p), aider(p), gemini(p)}, loops(p), libraries(p))
}

// choose keeps the scenarios that match and gives each its secret.
func (c *client) choose(only *regexp.Regexp) {
	c.scenarios = slices.DeleteFunc(c.scenarios, func(s scenario) bool { return !only.MatchString(c.name + "/" + s.name) })
	for i := range c.scenarios {
		c.scenarios[i].secret = process.Secret()
	}
}

// observation is what a run did, as all sides saw it.
type observation struct {
	said, failed string // shown by the client
	took         time.Duration
	asked        []asked          // by the client, at the gateway
	upstream     []faults.Request // by the gateway, at the provider
	rows         []row
	form         desktop.Contents // after the run
	output       []byte           // of the client
}

// observe runs c.
func (g *gateway) observe(ctx context.Context, c client, s scenario, dir string) (observation, error) {
	var seen observation
	home := filepath.Join(filepath.Dir(dir), "home")
	for _, d := range []string{dir, home} {
		if err := os.MkdirAll(d, 0o700); err != nil {
			return seen, err
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "fruit.txt"), []byte(fruit+"\n"), 0o600); err != nil {
		return seen, err
	}
	g.upstream.Reset()
	if s.desktop() {
		if err := g.desk.form.Clear(); err != nil {
			return seen, err
		}
	}
	limited, cancel := context.WithTimeout(ctx, runTimeout)
	defer cancel()
	r := run{s, g.origin, dir, home, s.secret}
	cmd := c.command(limited, r)
	if c.settings != nil {
		env, err := r.apply(c.settings(s))
		if err != nil {
			return seen, err
		}
		cmd.Env = append(cmd.Env, env...)
	}
	cmd.Dir, cmd.Stdin = dir, strings.NewReader(s.prompt)
	cmd.Env = append(cmd.Env, surroundings(home)...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	began := time.Now()
	err := cmd.Run()
	seen.took = time.Since(began)
	seen.output = append(stdout.Bytes(), stderr.Bytes()...)
	if err != nil && cmd.ProcessState == nil {
		return seen, err
	}
	seen.said, seen.failed = c.read(stdout.Bytes(), stderr.Bytes())
	seen.upstream = g.upstream.Requests()
	if s.desktop() {
		seen.form = g.desk.form.Contents()
		if err := g.leave(ctx); err != nil {
			return seen, err
		}
	}
	if seen.rows, err = g.rows(ctx, s.keyName(c.name)); err != nil {
		return seen, err
	}
	seen.asked, err = g.requests(ctx, s.keyName(c.name))
	return seen, err
}

// surroundings are the environment of every client. It contains nothing of the user's, and requests
// to other machines end at a port that nobody listens on.
func surroundings(home string) []string {
	const nowhere = "http://127.0.0.1:1"
	return []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + home, "LANG=C.UTF-8",
		"XDG_CONFIG_HOME=" + filepath.Join(home, "config"), "XDG_DATA_HOME=" + filepath.Join(home, "data"),
		"XDG_CACHE_HOME=" + filepath.Join(home, "cache"), "XDG_STATE_HOME=" + filepath.Join(home, "state"),
		"HTTP_PROXY=" + nowhere, "HTTPS_PROXY=" + nowhere, "http_proxy=" + nowhere, "https_proxy=" + nowhere,
		"NO_PROXY=127.0.0.1,localhost", "no_proxy=127.0.0.1,localhost",
	}
}

// describe shows what was seen. It includes all of the client's output only if all is set.
func (o observation) describe(all bool) string {
	var b strings.Builder
	fmt.Fprintf(&b, "# %.1f s\n", o.took.Seconds())
	for _, a := range o.asked {
		fmt.Fprintf(&b, "# asked %s\n", a)
	}
	for _, r := range o.upstream {
		fmt.Fprintf(&b, "# provider received %s %s %d bytes, status %d: %s\n", r.Method, r.Path, r.BodyBytes, r.Status, shape(r.Body))
	}
	for _, r := range o.rows {
		fmt.Fprintf(&b, "# activity %+v\n", r)
	}
	if all {
		const most = 8 << 10
		fmt.Fprintf(&b, "%s\n", bytes.TrimSpace(o.output[max(0, len(o.output)-most):]))
	}
	return b.String()
}

// shape is the names of a body's fields and the types of its tools.
func shape(body []byte) string {
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(body, &fields); err != nil {
		return err.Error()
	}
	kinds := make(map[string]int)
	countTools(fields["tools"], kinds)
	var items []struct {
		Type  string          `json:"type"`
		Tools json.RawMessage `json:"tools"`
	}
	_ = json.Unmarshal(fields["input"], &items) // a string, or chat: no items
	for _, it := range items {
		countTools(it.Tools, kinds)
	}
	return fmt.Sprintf("fields %v, tools %v", slices.Sorted(maps.Keys(fields)), kinds)
}

func countTools(list json.RawMessage, kinds map[string]int) {
	var tools []struct {
		Type  string          `json:"type"`
		Tools json.RawMessage `json:"tools"`
	}
	_ = json.Unmarshal(list, &tools) // absent: none
	for _, t := range tools {
		kinds[t.Type]++
		countTools(t.Tools, kinds)
	}
}

package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"time"
)

// suiteTimeout ends a suite that hangs; the slowest takes some seconds.
const suiteTimeout = 4 * time.Minute

// peers are the programs and folders from outside. Empty means not there.
type peers struct {
	caddy, fake, python, node, goTest, sources string
}

type suite struct {
	name    string
	target  string // provider: "test", "fake", or "chatonly" or "responsesonly", where calls of the other API are translated; or refusalsTarget
	https   bool
	missing string // why it cannot run
	dir     string
	command []string
}

// suites is the table of tested SDKs, each against the providers, and the
// HTTPS run.
func suites(p peers) []suite {
	python := func(file string, args ...string) suite {
		return suite{command: append([]string{p.python, "-u", filepath.Join(p.sources, "python", file)}, args...), missing: absent(p.python, "python")}
	}
	node := func(args ...string) suite {
		return suite{command: append([]string{"node"}, args...), dir: p.node, missing: absent(p.node, "node")}
	}
	table := []struct {
		name string
		suite
	}{
		{"openai-python-3.6.0", python("openai_sync.py")},
		{"openai-python-3.6.0-async", python("openai_async.py")},
		{"openrouter-python-1.1.38", python("openrouter_suite.py")},
		{"openai-npm-7.55.0", node("openai.mjs")},
		{"openrouter-npm-1.2.8", node("openrouter.mjs", "openrouter-1.2.8")},
		{"openrouter-npm-1.2.27", node("openrouter.mjs", "openrouter-1.2.27")},
		{"openrouter-npm-1.3.19", node("openrouter.mjs", "openrouter-1.3.19")},
	}
	var all []suite
	for _, target := range []string{"test", "fake", "chatonly", "responsesonly"} {
		for _, row := range table {
			s := row.suite
			s.name, s.target = row.name+"/"+target, target
			all = append(all, s)
		}
		s := suite{name: "openai-go-3.95.0/" + target, target: target, missing: absent(p.goTest, "go")}
		s.command = []string{p.goTest, "-test.v", "-test.timeout", suiteTimeout.String(), "-test.skip", "OnlyRefusals"}
		if target != "fake" {
			s.command[len(s.command)-1] += "|OnlyFake"
		}
		all = append(all, s)
	}
	for _, row := range []struct {
		name string
		suite
	}{
		{"openai-python-3.6.0", python("refusals_openai.py", "sync")},
		{"openai-python-3.6.0-async", python("refusals_openai.py", "async")},
		{"openrouter-python-1.1.38", python("refusals_openrouter.py")},
		{"openai-npm-7.55.0", node("refusals_openai.mjs")},
		{"openrouter-npm-1.2.8", node("refusals_openrouter.mjs", "openrouter-1.2.8")},
		{"openrouter-npm-1.2.27", node("refusals_openrouter.mjs", "openrouter-1.2.27")},
		{"openrouter-npm-1.3.19", node("refusals_openrouter.mjs", "openrouter-1.3.19")},
		{"openai-go-3.95.0", suite{
			command: []string{p.goTest, "-test.v", "-test.timeout", suiteTimeout.String(), "-test.run", "OnlyRefusals"},
			missing: absent(p.goTest, "go"),
		}},
	} {
		s := row.suite
		s.name, s.target = row.name+"/"+refusalsTarget, refusalsTarget
		all = append(all, s)
	}
	https := python("https_run.py")
	https.name, https.target, https.https = "python-https-http2/test", "test", true
	return append(all, https)
}

func absent(path, flag string) string {
	if path == "" {
		return "-" + flag + " is empty"
	}
	return ""
}

type result struct {
	name           string
	passed, failed int
	took           time.Duration
}

func (r result) String() string {
	return fmt.Sprintf("sdk %s: %d passed, %d failed, %.1f s", r.name, r.passed, r.failed, r.took.Seconds())
}

func (r result) appendTo(file string) error {
	f, err := os.OpenFile(file, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(f, "sdk %s\t%d\t%d\t%.0f\n", r.name, r.passed, r.failed, r.took.Seconds())
	if closeErr := f.Close(); err == nil {
		err = closeErr
	}
	return err
}

// run shows the output of a suite only if something failed.
func (s suite) run(ctx context.Context, env []string) result {
	began := time.Now()
	if s.missing != "" {
		fmt.Printf("sdk %s cannot run: %s\n", s.name, s.missing)
		return result{name: s.name, failed: 1}
	}
	ctx, cancel := context.WithTimeout(ctx, suiteTimeout)
	defer cancel()
	cmd := exec.CommandContext(ctx, s.command[0], s.command[1:]...)
	cmd.Dir, cmd.Env = s.dir, env
	output, err := cmd.CombinedOutput()
	r := count(output)
	r.name, r.took = s.name, time.Since(began)
	if err != nil && r.failed == 0 || r.passed == 0 && r.failed == 0 {
		r.failed = 1 // it crashed, or ran nothing
	}
	if r.failed > 0 {
		fmt.Printf("%s\nsdk %s: %v\n", bytes.TrimSpace(output), s.name, err)
	}
	return r
}

var (
	passed = regexp.MustCompile(`(?m)^(?:ok \d+ - |--- PASS: )`)
	failed = regexp.MustCompile(`(?m)^(?:not ok \d+ - |--- FAIL: )`)
)

// count reads TAP and the output of "go test -v", top level only.
func count(output []byte) result {
	return result{passed: len(passed.FindAll(output, -1)), failed: len(failed.FindAll(output, -1))}
}

package main

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"github.com/gatehouse-proxy/gatehouse/tests/clustertest"
	"github.com/gatehouse-proxy/gatehouse/tests/process"
)

// suiteTimeout ends a suite that hangs; the slowest takes some seconds.
const suiteTimeout = 4 * time.Minute

// peers are the programs and folders from outside. Empty means not there.
type peers struct {
	caddy, fake, python, node, goTest, sources  string
	pythonAnthropic1, goAnthropic, goAnthropic1 string
	pythonClouds                                string
	goGoogle                                    string
	goMCP, mcpNode, mcpServer                   string
	pairs                                       string // what the test of all pairs of APIs wrote

	cluster clustertest.T // what a cluster ends with; nil: one gateway
}

// keysTarget is no provider: the suites of keys made at run time.
const keysTarget = "keys"

// cloudsTarget is no provider: the clients of clouds, whose requests are compared with the gateway's.
const cloudsTarget = "clouds"

// sourcesTarget is no provider: a control plane of desktops.
const sourcesTarget = "sources"

type suite struct {
	name    string
	target  string // a provider of gateway.go, directTarget, keysTarget or refusalsTarget
	https   bool
	missing string // why it cannot run
	dir     string
	command []string
}

// suites is the table of tested SDKs, each against the providers, and the HTTPS run.
func suites(p peers) []suite {
	python := func(file string, args ...string) suite {
		return suite{command: append([]string{p.python, "-u", filepath.Join(p.sources, "python", file)}, args...), missing: process.Absent(p.python, "python")}
	}
	node := func(args ...string) suite {
		return suite{command: append([]string{"node"}, args...), dir: p.node, missing: process.Absent(p.node, "node")}
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
	for _, target := range []string{"test", "fake", "chatonly", "responsesonly", "anthropic", "gemini", "converse"} {
		for _, row := range table {
			s := row.suite
			s.name, s.target = row.name+"/"+target, target
			all = append(all, s)
		}
		s := suite{name: "openai-go-3.95.0/" + target, target: target, missing: process.Absent(p.goTest, "go")}
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
			missing: process.Absent(p.goTest, "go"),
		}},
	} {
		s := row.suite
		s.name, s.target = row.name+"/"+refusalsTarget, refusalsTarget
		all = append(all, s)
	}
	for _, row := range []struct {
		name string
		suite
	}{
		{"openrouter-python-1.1.38", python("keys_suite.py")},
		{"openrouter-npm-1.2.8", node("keys.mjs", "openrouter-1.2.8")},
		{"openrouter-npm-1.2.27", node("keys.mjs", "openrouter-1.2.27")},
		{"openrouter-npm-1.3.19", node("keys.mjs", "openrouter-1.3.19")},
	} {
		s := row.suite
		s.name, s.target = row.name+"/"+keysTarget, keysTarget
		all = append(all, s)
	}
	for _, row := range []struct{ name, file string }{{"cloud-clients-python", "clouds_suite.py"}, {"cloud-tokens-python", "tokens_suite.py"}} {
		all = append(all, suite{
			name: row.name + "/" + cloudsTarget, target: cloudsTarget, missing: process.Absent(p.pythonClouds, "python-clouds"),
			command: []string{p.pythonClouds, "-u", filepath.Join(p.sources, "python", row.file)},
		})
	}
	for _, row := range []struct {
		name string
		suite
	}{{"openai-python-3.6.0", python("azure_suite.py")}, {"openai-npm-7.55.0", node("azure.mjs")}} {
		s := row.suite
		s.name, s.target = row.name+"/"+cloudsTarget, cloudsTarget
		all = append(all, s)
	}
	for _, row := range []struct{ name, python, vendors string }{
		{"vendors-python", p.python, "openai anthropic google"}, {"vendors-clouds-python", p.pythonClouds, "botocore"},
	} {
		all = append(all, suite{
			name: row.name + "/" + cloudsTarget, target: cloudsTarget, missing: cmp.Or(process.Absent(row.python, "python"), process.Absent(p.pairs, "pairs")),
			command: append([]string{row.python, "-u", filepath.Join(p.sources, "python", "pairs_suite.py"), p.pairs}, strings.Fields(row.vendors)...),
		})
	}
	if p.cluster == nil { // each gateway of a cluster would ask another control plane
		s := python("sources_suite.py")
		s.name, s.target = "webhook-verifier-python/"+sourcesTarget, sourcesTarget
		all = append(all, s)
	}
	https := python("https_run.py")
	https.name, https.target, https.https = "python-https-http2/test", "test", true
	all = append(append(all, https), anthropicSuites(p, python, node)...)
	all = append(all, googleSuites(p, python, node)...)
	all = append(all, mcpSuites(p, python)...)
	return append(all, mediaSuites(python, node)...)
}

// mediaTargets are those of the calls of OpenRouter's SDKs besides chat: the fake provider without the
// gateway, and with it as OpenRouter and as OpenAI.
var mediaTargets = []string{directTarget, "rt", "fake"}

// mediaSuites are the embeddings, documents, pictures and sounds of OpenRouter's SDKs.
func mediaSuites(python func(string, ...string) suite, node func(...string) suite) (all []suite) {
	for _, row := range []struct {
		name string
		suite
	}{
		{"openrouter-python-1.1.38-media", python("openrouter_media.py")},
		{"openrouter-npm-1.2.8-media", node("openrouter_media.mjs", "openrouter-1.2.8")},
		{"openrouter-npm-1.2.27-media", node("openrouter_media.mjs", "openrouter-1.2.27")},
		{"openrouter-npm-1.3.19-media", node("openrouter_media.mjs", "openrouter-1.3.19")},
	} {
		for _, target := range mediaTargets {
			s := row.suite
			s.name, s.target = row.name+"/"+target, target
			all = append(all, s)
		}
	}
	return all
}

// run shows the output of a suite only if something failed.
func (s suite) run(ctx context.Context, env []string) *process.Result {
	began := time.Now()
	r := process.NewResult("sdk " + s.name)
	if s.missing != "" {
		r.Missing(s.missing)
		return r
	}
	ctx, cancel := context.WithTimeout(ctx, suiteTimeout)
	defer cancel()
	cmd := exec.CommandContext(ctx, s.command[0], s.command[1:]...)
	cmd.Dir, cmd.Env = s.dir, env
	output, err := cmd.CombinedOutput()
	r.Passed, r.Failed = count(output)
	r.Took = time.Since(began)
	if err != nil && r.Failed == 0 || r.Passed == 0 && r.Failed == 0 {
		r.Failed = 1 // it crashed, or ran nothing
	}
	if r.Failed > 0 {
		fmt.Printf("%s\n%s: %v\n", bytes.TrimSpace(output), r.Name, err)
	}
	return r
}

var (
	passedLine = regexp.MustCompile(`(?m)^(?:ok \d+ - |--- PASS: )`)
	failedLine = regexp.MustCompile(`(?m)^(?:not ok \d+ - |--- FAIL: )`)
)

// count reads TAP and the output of "go test -v", top level only.
func count(output []byte) (passed, failed int) {
	return len(passedLine.FindAll(output, -1)), len(failedLine.FindAll(output, -1))
}

package main

import (
	"slices"
	"strings"

	"github.com/gatehouse-proxy/gatehouse/tests/process"
)

// directTarget is the fake provider without the gateway: what the SDKs of Anthropic expect there
// is what the fake must be.
const directTarget = "direct"

// The targets of the SDKs of Anthropic: a provider of their API, and two for which the calls are
// translated. The newest major of each also proves the fake.
var (
	olderTargets  = []string{"anthropic", "chatonly"}
	newestTargets = []string{directTarget, "anthropic", "chatonly", "responsesonly", "gemini", "converse"}
)

// anthropicSuites are the SDKs of Anthropic: the newest major, and the last one that sends the
// version of 2023.
func anthropicSuites(p peers, python func(string, ...string) suite, node func(...string) suite) (all []suite) {
	older := python("anthropic_suite.py")
	older.command = append([]string{"env", "PYTHONPATH=" + p.pythonAnthropic1}, older.command...)
	if older.missing == "" {
		older.missing = process.Absent(p.pythonAnthropic1, "python-anthropic1")
	}
	binary := func(path, flag string) suite {
		return suite{command: []string{path, "-test.v", "-test.timeout", suiteTimeout.String(), "-test.skip"}, missing: process.Absent(path, flag)}
	}
	skipped := map[string]string{directTarget: "^$", "anthropic": "OnlyDirect$", "chatonly": "Only(Direct|Native)$", "responsesonly": "Only(Direct|Native)$", "gemini": "Only(Direct|Native)$", "converse": "Only(Direct|Native)$"}
	for _, row := range []struct {
		name    string
		targets []string
		suite
	}{
		{"anthropic-python-1.17.0", olderTargets, older},
		{"anthropic-python-2.12.0", newestTargets, python("anthropic_suite.py")},
		{"anthropic-npm-0.137.0", olderTargets, node("anthropic.mjs", "anthropic-0.137.0")},
		{"anthropic-npm-1.12.0", newestTargets, node("anthropic.mjs", "anthropic-1.12.0")},
		{"anthropic-go-1.84.0", olderTargets, binary(p.goAnthropic1, "go-anthropic1")},
		{"anthropic-go-2.13.0", newestTargets, binary(p.goAnthropic, "go-anthropic")},
	} {
		for _, target := range row.targets {
			s := row.suite
			s.name, s.target = row.name+"/"+target, target
			if strings.HasPrefix(row.name, "anthropic-go-") {
				s.command = append(slices.Clip(s.command), skipped[target])
			}
			all = append(all, s)
		}
	}
	return all
}

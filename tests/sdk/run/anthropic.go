package main

import "github.com/gatehouse-proxy/gatehouse/tests/process"

// directTarget is the fake provider without the gateway: what the SDKs of Anthropic expect there
// is what the fake must be.
const directTarget = "direct"

// anthropicTargets are those of the SDKs of Anthropic.
var anthropicTargets = []string{directTarget}

// anthropicSuites are the SDKs of Anthropic: the newest major, and the last one that sends the
// version of 2023.
func anthropicSuites(p peers, python func(string, ...string) suite, node func(...string) suite) (all []suite) {
	older := python("anthropic_suite.py")
	older.command = append([]string{"env", "PYTHONPATH=" + p.pythonAnthropic1}, older.command...)
	if older.missing == "" {
		older.missing = process.Absent(p.pythonAnthropic1, "python-anthropic1")
	}
	binary := func(path, flag string) suite {
		return suite{command: []string{path, "-test.v", "-test.timeout", suiteTimeout.String()}, missing: process.Absent(path, flag)}
	}
	for _, target := range anthropicTargets {
		for _, row := range []struct {
			name string
			suite
		}{
			{"anthropic-python-1.17.0", older},
			{"anthropic-python-2.12.0", python("anthropic_suite.py")},
			{"anthropic-npm-0.137.0", node("anthropic.mjs", "anthropic-0.137.0")},
			{"anthropic-npm-1.12.0", node("anthropic.mjs", "anthropic-1.12.0")},
			{"anthropic-go-1.84.0", binary(p.goAnthropic1, "go-anthropic1")},
			{"anthropic-go-2.13.0", binary(p.goAnthropic, "go-anthropic")},
		} {
			s := row.suite
			s.name, s.target = row.name+"/"+target, target
			all = append(all, s)
		}
	}
	return all
}

package main

import (
	"slices"

	"github.com/gatehouse-proxy/gatehouse/tests/process"
)

// googleTargets are those of Google's SDKs: the fake provider without the gateway, and with it. No other
// provider has their API.
var googleTargets = []string{directTarget, "gemini"}

// googleSuites are Google's GenAI SDKs.
func googleSuites(p peers, python func(string, ...string) suite, node func(...string) suite) (all []suite) {
	binary := suite{
		command: []string{p.goGoogle, "-test.v", "-test.timeout", suiteTimeout.String(), "-test.skip"},
		missing: process.Absent(p.goGoogle, "go-google"),
	}
	skipped := map[string]string{directTarget: "OnlyGateway$", "gemini": "^$"}
	for _, row := range []struct {
		name string
		suite
	}{
		{"google-python-3.4.0", python("google_suite.py")},
		{"google-npm-3.1.0", node("google.mjs")},
		{"google-go-1.77.0", binary},
	} {
		for _, target := range googleTargets {
			s := row.suite
			s.name, s.target = row.name+"/"+target, target
			if row.name == "google-go-1.77.0" {
				s.command = append(slices.Clip(s.command), skipped[target])
			}
			all = append(all, s)
		}
	}
	return all
}

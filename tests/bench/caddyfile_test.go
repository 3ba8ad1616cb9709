//go:build linux

package main

import (
	"strings"
	"testing"
)

var testSite = site{
	admin: "127.0.0.1:1", port: 2, guarded: 3, secure: 5, upstream: "127.0.0.1:4", secureUpstream: "127.0.0.1:6",
	cert: certificate{cert: "/c", key: "/k"}, storage: "/s", log: "/l", access: "/a", catalog: "/p",
}

// testCaddyfiles are all that a round can start.
func testCaddyfiles() map[string]string {
	all := map[string]string{"proxy": proxyCaddyfile(testSite)}
	for d := range everyDuty + 1 {
		all["gateway with "+d.String()] = gatewayCaddyfile(testSite, d)
	}
	return all
}

func TestCaddyfilesAreBalancedAndOnLoopback(t *testing.T) {
	for name, text := range testCaddyfiles() {
		outside := strings.ReplaceAll(text, refusal, "")
		if strings.Count(outside, "{") != strings.Count(outside, "}") {
			t.Errorf("%s: the brackets do not match:\n%s", name, text)
		}
		if sites, binds := strings.Count(text, "\nhttp"), strings.Count(text, "bind 127.0.0.1"); sites != binds {
			t.Errorf("%s: %d sites, %d of them on the loopback", name, sites, binds)
		}
	}
}

func TestServersShareTheirGlobalOptions(t *testing.T) {
	shared, _, _ := strings.Cut(globalOptions(testSite, ""), "\n}\n")
	for name, text := range testCaddyfiles() {
		if !strings.HasPrefix(text, shared) {
			t.Errorf("%s differs in its global options:\n%s", name, text)
		}
	}
}

func TestCaddyfilesHoldNoSecret(t *testing.T) {
	text := proxyCaddyfile(testSite) + gatewayCaddyfile(testSite, everyDuty)
	for _, name := range []string{gatewayKeyVar, auditKeyVar, spentKeyVar, upstreamKeyVar} {
		if !strings.Contains(text, "{env."+name+"}") {
			t.Errorf("%s is not read from the environment", name)
		}
	}
}

func TestGatewayNamesEveryModelOfTheCases(t *testing.T) {
	text := gatewayCaddyfile(testSite, everyDuty)
	_, models, _ := strings.Cut(text, "models bench")
	models, _, _ = strings.Cut("bench"+models, "\n")
	named := strings.Fields(models)
	for _, c := range allCases() {
		found := false
		for _, m := range named {
			found = found || m == c.model
		}
		if !found {
			t.Errorf("case %s asks for %q, the provider has %v", c.name, c.model, named)
		}
	}
}

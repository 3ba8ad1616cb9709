//go:build linux

package main

import (
	"strings"
	"testing"
)

func TestTheBrowserCaseIsChosenByItsName(t *testing.T) {
	for only, want := range map[string]bool{"": true, browserCase: true, "vnc-bulk," + browserCase: true, "vnc-bulk": false} {
		r := &runner{opts: options{Only: only}}
		if err := r.choose(); err != nil || r.browser != want {
			t.Errorf("%q: %v, %v", only, r.browser, err)
		}
	}
	r := &runner{opts: options{Only: browserCase, Self: true}}
	if err := r.choose(); err == nil {
		t.Error("it is checked against itself")
	}
}

// The console's site is the one whose certificate all servers have.
func TestTheConsoleIsServedOverTLS(t *testing.T) {
	text := consoleVNCCaddyfile(vncSite{site: site{cert: certificate{cert: "c", key: "k"}, guarded: 8443}})
	if !strings.Contains(text, "https://*.vnc.localhost:8443 {") || strings.Count(text, "\tgatehouse_console\n") != 1 {
		t.Error(text)
	}
}

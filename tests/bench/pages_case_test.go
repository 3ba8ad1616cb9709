//go:build linux

package main

import (
	"strings"
	"testing"
)

func TestThePagesCaseIsChosenByItsName(t *testing.T) {
	for only, want := range map[string]bool{"": true, pagesCase: true, "req-1k," + pagesCase: true, "req-1k": false} {
		r := &runner{opts: options{Only: only}}
		if err := r.choose(); err != nil || r.pages != want {
			t.Errorf("%q: %v, %v", only, r.pages, err)
		}
	}
	r := &runner{opts: options{Only: pagesCase, Self: true}}
	if err := r.choose(); err == nil {
		t.Error("it is checked against itself")
	}
}

func TestFiftyPagesAreOpen(t *testing.T) {
	n := 0
	for _, kind := range openKinds {
		n += kind.pages
	}
	if n != 50 || !strings.Contains(string(withPages), "50") {
		t.Errorf("%d pages", n)
	}
	text := consoleCaddyfile(site{}, "/data")
	if strings.Count(text, "\tgatehouse_console\n\tgatehouse\n}") != 1 || strings.Count(text, "providers:read\n\t\t\tall_tenants\n") != 1 || strings.Count(text, "\tdata_dir \"/data\"\n") != 1 {
		t.Error(text)
	}
}

package main

import (
	"strings"
	"testing"
)

func TestLicencesAreToldApart(t *testing.T) {
	for text, want := range map[string]string{
		"Permission is hereby granted,\n free of charge":                          "MIT",
		"Apache License\nVersion 2.0":                                             "Apache-2.0",
		"Redistributions in binary form must reproduce … Neither the name of":     "BSD-3-Clause",
		"Redistributions in binary form must reproduce the above":                 "BSD-2-Clause",
		"Mozilla Public License Version 2.0 … GNU General Public License":         "MPL-2.0",
		"GNU Affero General Public License":                                       "AGPL",
		"Apache License … Redistributions in binary form must … Neither the name": "Apache-2.0, BSD-3-Clause",
		"All rights reserved":                                                     "",
	} {
		if got := classify(text); got != want {
			t.Errorf("%q is %q, not %q", text, got, want)
		}
	}
	if got := escaped("github.com/BurntSushi/toml"); got != "github.com/!burnt!sushi/toml" {
		t.Error(got)
	}
}

func TestTheBrowserLibraryBringsItsTexts(t *testing.T) {
	m, err := vendored("../../../internal/console/novnc/vendor.json")
	if err != nil {
		t.Fatal(err)
	}
	if m.path != "@novnc/novnc" || m.license != "BSD-2-Clause, MIT, MPL-2.0" {
		t.Errorf("%s is under %s", m.path, m.license)
	}
	for _, part := range []string{"Mozilla Public License Version 2.0", "Vitaly Puzrin", "Jef Poskanzer"} {
		if !strings.Contains(m.text, part) {
			t.Errorf("no text has %q", part)
		}
	}
}

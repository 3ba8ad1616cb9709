package keys_test

import (
	"strings"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/keys"
	"github.com/gatehouse-proxy/gatehouse/internal/pattern"
)

func TestAToolIsAllowedByKeyAndTenantTogether(t *testing.T) {
	for _, c := range []struct {
		own, tenant  string
		server, tool string
		reaches, may bool
	}{
		{"", "", "github", "read_file", false, false}, // a key reaches only servers that it names
		{"", "github/*", "github", "read_file", false, false},
		{"github/*", "", "github", "read_file", true, true},
		{"github/*", "", "github", "", true, true},
		{"github/*", "", "github2", "read_file", false, false},
		{"github/*", "", "git", "hub/read_file", false, false},
		{"github/*", "", "GitHub", "read_file", false, false},
		{"github/read_*", "", "github", "write_file", true, false},
		{"github/read_*", "", "github", "xread_file", true, false},
		{"github/read_* demo/*", "", "demo", "write_file", true, true},
		{"github/read", "", "github", "read_file", true, false},
		{"github/*", "github/read_*", "github", "read_file", true, true},
		{"github/*", "github/read_*", "github", "write_file", true, false},
		{"github/* demo/*", "github/read_*", "demo", "echo", false, false},
		{"github/write_*", "github/read_*", "github", "read_file", true, false},
		{"github/write_*", "github/read_*", "github", "write_file", true, false},
		{"demo/*", "github/*", "github", "read_file", false, false},
	} {
		key, err := ring(t, spec(func(s *keys.Spec) { s.Tools, s.TenantTools = strings.Fields(c.own), strings.Fields(c.tenant) })).Authenticate(secret, noon)
		if err != nil {
			t.Fatal(err)
		}
		if got := key.AllowsServer(c.server); got != c.reaches {
			t.Errorf("key %q, tenant %q: reaches %s: %v", c.own, c.tenant, c.server, got)
		}
		if got := key.AllowsTool(c.server, c.tool); got != c.may {
			t.Errorf("key %q, tenant %q: may call %s/%s: %v", c.own, c.tenant, c.server, c.tool, got)
		}
	}
}

// Keys with equal rights share them, and must not share those of another tenant.
func TestKeysOfTwoTenantsWithOneListHaveTheRightsOfTheirTenants(t *testing.T) {
	other := "gh-a-secret-of-another-key"
	r := ring(t,
		spec(func(s *keys.Spec) { s.Tools, s.TenantTools = []string{"github/*"}, []string{"github/read_*"} }),
		spec(func(s *keys.Spec) { s.Name, s.Secrets, s.Tools = "other", []string{other}, []string{"github/*"} }),
	)
	for presented, may := range map[string]bool{secret: false, other: true} {
		if key, err := r.Authenticate(presented, noon); err != nil || key.AllowsTool("github", "write_file") != may {
			t.Errorf("%v: not %v", err, may)
		}
	}
}

func TestARuntimeKeyCallsOnlyWhatAllListsHave(t *testing.T) {
	for _, c := range []struct {
		own, within, tenant pattern.List
		may                 bool
	}{
		{nil, nil, nil, false},
		{nil, pattern.List{"github/*"}, nil, false},
		{pattern.List{"github/*"}, nil, nil, false}, // the block allows none
		{pattern.List{"github/*"}, pattern.List{"github/*"}, nil, true},
		{pattern.List{"github/*"}, pattern.List{"github/write_*"}, nil, false},
		{pattern.List{"github/*"}, pattern.List{"github/*"}, pattern.List{"github/write_*"}, false},
		{pattern.List{"github/*"}, pattern.List{"github/*"}, pattern.List{"github/read_*"}, true},
	} {
		key := keys.NewRuntimeKey(keys.Key{Name: "made"}, nil, nil).WithTools(c.own, c.within, c.tenant)
		if key.AllowsTool("github", "read_file") != c.may {
			t.Errorf("own %q, within %q, tenant %q: not %v", c.own, c.within, c.tenant, c.may)
		}
	}
}

func TestPatternsOfToolsBeginWithAServer(t *testing.T) {
	known := func(server string) bool { return server == "github" }
	for text, want := range map[string]string{
		"github/read_*": "", "github/*": "", "github/a/b": "",
		"github":         "want the name of a server",
		"github/":        "want the name of a server",
		"/read":          "want the name of a server",
		"*":              "want the name of a server",
		"*/read":         "want the name of a server",
		"git*/read":      "want the name of a server",
		"other/read":     `there is no server "other"`,
		"":               "pattern is empty",
		"github/read me": "contains the character",
	} {
		if err := keys.ValidTools([]string{text}, known); (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
	if _, err := keys.NewKeyring([]keys.Spec{spec(func(s *keys.Spec) { s.Tools = []string{"*/*"} })}); err == nil {
		t.Error("a key for all servers is made")
	}
}

// A scope lets a key do by routes what tools do. Its lists take from that what they do not have, if they name
// one of the servers at all.
func TestListsThatNameAServerTakeAwayItsOtherTools(t *testing.T) {
	servers := []string{"desktops", "spare"}
	for _, c := range []struct {
		own, tenant string
		server      string
		leaves      bool
	}{
		{"", "", "desktops", true},
		{"github/*", "github/*", "desktops", true},
		{"desktops/*", "", "desktops", true},
		{"desktops/look", "", "desktops", false},
		{"desktops/look spare/*", "", "desktops", false},
		{"desktops/look", "", "spare", false}, // it names the other one
		{"desktops/look spare/*", "", "spare", true},
		{"", "desktops/look", "desktops", false},
		{"desktops/*", "desktops/look", "desktops", false},
		{"desktops/*", "github/*", "desktops", true},
	} {
		spec := spec(func(s *keys.Spec) { s.Tools, s.TenantTools = strings.Fields(c.own), strings.Fields(c.tenant) })
		key, err := ring(t, spec).Authenticate(secret, noon)
		if err != nil {
			t.Fatal(err)
		}
		if got := keys.LeavesTool(key.Key, servers, c.server, "act"); got != c.leaves {
			t.Errorf("key %q, tenant %q leave %s/act: %v", c.own, c.tenant, c.server, got)
		}
		if c.own == "" && (key.AllowsServer(c.server) || key.AllowsTool(c.server, "look")) {
			t.Errorf("tenant %q: a key without a list calls tools", c.tenant)
		}
	}
	made := keys.NewRuntimeKey(keys.Key{Name: "made"}, nil, nil).WithTools(nil, pattern.List{"desktops/look"}, nil)
	if keys.LeavesTool(made, servers, "desktops", "act") || !keys.LeavesTool(made, servers, "desktops", "look") || made.AllowsTool("desktops", "look") {
		t.Error("what keys made at run time may call bounds one without a list, too")
	}
}

package desktop_test

import (
	"net/netip"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/desktop"
)

func TestDefaultsOfThePolicy(t *testing.T) {
	p := newService(t, nil).Policy()
	if p.Port != 5900 || p.ConnectWithin != 5*time.Minute || p.ReconnectWithin != 2*time.Minute || p.MaxDuration != 12*time.Hour ||
		p.Session.IdleTimeout != 0 || p.OnConflict != desktop.Refuse || p.MaxTokens != 16 || p.MaxSessions != 1000 || p.MaxRegistered != 1000 {
		t.Errorf("%+v", p)
	}
	short := newService(t, func(c *desktop.Config) { c.MaxDuration = time.Minute }).Policy()
	if short.ConnectWithin != time.Minute {
		t.Errorf("connect_within %s is longer than max_duration", short.ConnectWithin)
	}
}

func TestBadConfigurationsAreNamed(t *testing.T) {
	long := strings.Repeat("a", 63) + "."
	for want, change := range map[string]func(*desktop.Config){
		"domain: none is set":          func(c *desktop.Config) { c.Domain = "" },
		`domain "10.0.0.1"`:            func(c *desktop.Config) { c.Domain = "10.0.0.1" },
		`domain "a..b"`:                func(c *desktop.Config) { c.Domain = "a..b" },
		`domain "a.b."`:                func(c *desktop.Config) { c.Domain = "a.b." },
		`domain "*.b"`:                 func(c *desktop.Config) { c.Domain = "*.b" },
		`domain "-a.b"`:                func(c *desktop.Config) { c.Domain = "-a.b" },
		"at most 226":                  func(c *desktop.Config) { c.Domain = long + long + long + strings.Repeat("a", 35) },
		"connect_within: -1s":          func(c *desktop.Config) { c.ConnectWithin = -time.Second },
		"connect_within: 1ms":          func(c *desktop.Config) { c.ConnectWithin = time.Millisecond },
		"connect_within 1h0m0s is":     func(c *desktop.Config) { c.ConnectWithin, c.MaxDuration = time.Hour, time.Minute },
		"reconnect_within: -1s":        func(c *desktop.Config) { c.ReconnectWithin = -time.Second },
		"idle_timeout: -1s":            func(c *desktop.Config) { c.Session.IdleTimeout = -time.Second },
		"port 70000":                   func(c *desktop.Config) { c.Port = 70000 },
		"is negative":                  func(c *desktop.Config) { c.MaxTokens = -1 },
		"on_conflict: unknown rule 9":  func(c *desktop.Config) { c.OnConflict = 9 },
		"register_networks: not a":     func(c *desktop.Config) { c.Networks = []netip.Prefix{{}} },
		"write it as an IPv4 network":  func(c *desktop.Config) { c.Networks = []netip.Prefix{netip.MustParsePrefix("::ffff:10.0.0.0/104")} },
		`credential "a b"`:             func(c *desktop.Config) { c.Credentials = map[string]desktop.Credential{"a b": {}} },
		`workstation "desk1" of`:       func(c *desktop.Config) { c.Workstations = append(c.Workstations, c.Workstations[0]) },
		`workstation "a b": a name is`: func(c *desktop.Config) { c.Workstations[0].ID.Name = "a b" },
		`"" is not the name of a`:      func(c *desktop.Config) { c.Workstations[0].ID.Tenant = "" },
		`"desk1": no address`:          func(c *desktop.Config) { c.Workstations[0].Target = desktop.Target{} },
		`address "desk" is not host:`:  func(c *desktop.Config) { c.Workstations[0].Target.Address = "desk" },
		`"desk2": a test card has no`:  func(c *desktop.Config) { c.Workstations[1].Target.Password = "x" },
		"a service needs":              func(c *desktop.Config) { c.Random = nil },
	} {
		_, err := desktop.New(config(change))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
		if err != nil && strings.Contains(err.Error(), "hunter2") {
			t.Errorf("a password stands in the error: %v", err)
		}
	}
}

func TestAHyphenInTheDomainIsAWarning(t *testing.T) {
	for domain, want := range map[string]bool{"vnc.example.com": false, "vnc.my-company.com": true} {
		d := newService(t, func(c *desktop.Config) { c.Domain = domain })
		if got := d.Policy().Warning(); (got != "") != want {
			t.Errorf("%s: %q", domain, got)
		}
	}
}

// The bubble ends with a panic if a goroutine stays behind.
func TestNothingRunsByItself(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := open(t, nil)
		x := mustJoin(t, d, mustIssue(t, d, "desk1"), viewer)
		if err := d.Release(t.Context(), "default", "desk1", desktop.Releaser{}); err != nil {
			t.Fatal(err)
		}
		register(t, d, "default", "run", "10.0.0.1:5900")
		wantEnded(t, x, desktop.ReasonReleased) // and nobody leaves
	})
}

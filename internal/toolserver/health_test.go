package toolserver_test

import (
	"testing"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/toolserver"
)

func TestTheLastRequestDecidesTheHealth(t *testing.T) {
	now := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	s := server(t, &transport{}, func(c *toolserver.Config) { c.Now = func() time.Time { return now } })
	want := func(h toolserver.Health) {
		t.Helper()
		if got := s.Health(); got != h {
			t.Errorf("%+v, want %+v", got, h)
		}
	}
	want(toolserver.Health{State: toolserver.Unknown})
	end := s.Begin()
	s.Failed("upstream_timeout")
	began := now
	now = now.Add(time.Minute)
	s.Failed("upstream_error")
	want(toolserver.Health{State: toolserver.Failing, LastError: "upstream_error", Since: began, InFlight: 1})
	s.Succeeded()
	end()
	want(toolserver.Health{State: toolserver.OK, LastError: "upstream_error", Since: now})
}

func TestTheHealthOfAServerOutlivesItsConfiguration(t *testing.T) {
	servers := func(addresses map[string]string) *toolserver.Servers {
		var list []*toolserver.Server
		for name, address := range addresses {
			list = append(list, server(t, &transport{}, func(c *toolserver.Config) { c.Name, c.URL = name, address }))
		}
		all, err := toolserver.NewServers(list)
		if err != nil {
			t.Fatal(err)
		}
		return all
	}
	before := servers(map[string]string{"same": "https://a.example/mcp", "moved": "https://b.example/mcp", "gone": "https://c.example/mcp"})
	for s := range before.All() {
		s.Failed("upstream_error")
	}
	end := before.Named("same").Begin()
	now := servers(map[string]string{"same": "https://a.example/mcp", "moved": "https://d.example/mcp", "new": "https://c.example/mcp"})
	now.Inherit(before)
	now.Inherit(nil) // the configuration before has no servers
	if h := now.Named("same").Health(); h.State != toolserver.Failing || h.LastError != "upstream_error" || h.InFlight != 1 {
		t.Errorf("%+v", h)
	}
	for _, name := range []string{"moved", "new"} {
		if h := now.Named(name).Health(); h.State != toolserver.Unknown {
			t.Errorf("%s: %+v", name, h)
		}
	}
	if end(); now.Named("same").Health().InFlight != 0 {
		t.Error("a request of the configuration before never ends")
	}
}

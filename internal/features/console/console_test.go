package console

import (
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/gateway"
	"github.com/gatehouse-proxy/gatehouse/internal/websession"
)

// Each gateway of a cluster knows the consoles of its own configuration only.
func TestAGatewayWithoutAConsoleSaysNothingOfTheUsersOfOthers(t *testing.T) {
	for name, c := range map[string]struct {
		core gateway.Core
		want bool
	}{"of several": {gateway.Core{Several: true}, true}, "the only one": {gateway.Core{}, false}} {
		s := &Console{core: c.core}
		if got := s.mayUse("alice", "dev"); got != c.want {
			t.Errorf("%s: without a console alice may use the key: %v", name, got)
		}
		s.Serves(func(user string) string { return map[string]string{"bob": "dev"}[user] })
		if s.mayUse("alice", "dev") || !s.mayUse("bob", "dev") || !s.mayUse("", "dev") {
			t.Errorf("%s: with a console, bob and the key itself may use it, alice may not", name)
		}
	}
}

// Another gateway may have seen a person whom Caddy names, and this one not: a reload here does not
// ask who it is, but each page does.
func TestAReloadSignsOutNobodyWhomCaddyNamesElsewhere(t *testing.T) {
	s := &Console{core: gateway.Core{Several: true}}
	if !s.keeps()(websession.Session{Tenant: "lab", Key: "sso-1", KeyHash: "hash", User: "ann@example.com"}) {
		t.Error("the session has ended")
	}
}

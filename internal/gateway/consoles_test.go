package gateway

import "testing"

// Each gateway of a cluster knows the consoles of its own configuration only.
func TestAGatewayWithoutAConsoleSaysNothingOfTheUsersOfOthers(t *testing.T) {
	for name, c := range map[string]struct {
		consoles consoles
		want     bool
	}{"of several": {consoles{several: true}, true}, "the only one": {consoles{}, false}} {
		g := &Gateway{consoles: c.consoles}
		if got := g.consoles.serve("alice", "dev"); got != c.want {
			t.Errorf("%s: without a console alice may use the key: %v", name, got)
		}
		ForConsole(g).Serves(func(user string) string { return map[string]string{"bob": "dev"}[user] })
		if g.consoles.serve("alice", "dev") || !g.consoles.serve("bob", "dev") || !g.consoles.serve("", "dev") {
			t.Errorf("%s: with a console, bob and the key itself may use it, alice may not", name)
		}
	}
}

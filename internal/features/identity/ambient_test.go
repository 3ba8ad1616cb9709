package identity

import (
	"net/http"
	"slices"
	"testing"
	"time"

	"go.uber.org/zap"

	"github.com/gatehouse-proxy/gatehouse/internal/gateway"
	"github.com/gatehouse-proxy/gatehouse/internal/identity"
	"github.com/gatehouse-proxy/gatehouse/internal/keys"
	"github.com/gatehouse-proxy/gatehouse/internal/modelcall"
	"github.com/gatehouse-proxy/gatehouse/internal/policy"
)

// Desktops of somebody whom the server in front names end with the request that shows that the
// right to them is lost, and once.
func TestWhoLosesTheRoleLosesTheDesktops(t *testing.T) {
	rule := func(role string) identity.Rule {
		return identity.Rule{Role: role, Conditions: []identity.Condition{{Claim: "groups", Values: []string{role}}}}
	}
	role := func(name, tenant string, scopes keys.Scope) Role {
		return Role{Name: name, Key: keys.Key{Tenant: tenant, Scopes: scopes}}
	}
	config, err := NewConfig([]Issuer{{
		Name: "sso", Ambient: &Ambient{User: "user", Groups: "groups"},
		Rules: []Rule{rule("desktops"), rule("more"), rule("elsewhere"), rule("chat")},
	}}, []Role{
		role("desktops", "lab", keys.WorkstationsConnect), role("more", "lab", keys.WorkstationsConnect|keys.ChatWrite),
		role("elsewhere", "shop", keys.WorkstationsConnect), role("chat", "lab", keys.ChatWrite),
	}, http.DefaultClient, time.Now)
	if err != nil {
		t.Fatal(err)
	}
	for after, want := range map[string][]string{
		"desktops": nil, "more": nil, "elsewhere": {"lab"}, "chat": {"lab"}, "none": {"lab"},
	} {
		deps := new(modelcall.Deps)
		deps.Limits, deps.Now, deps.Logger, deps.Sampled = &policy.Limits{}, time.Now, zap.NewNop(), zap.NewNop
		if err := deps.Limits.Prepare(); err != nil {
			t.Fatal(err)
		}
		p := Feature(gateway.Core{Requests: deps, Slots: new(gateway.Slots)}, config).Offers.(*People)
		var revoked []string
		var id string
		p.revoke = func(tenant, of string) { revoked, id = append(revoked, tenant), of }
		var ann identity.Person
		for _, group := range []string{"none", "desktops", after, after} {
			ann, _, _, _ = OfRequest(p, func(name string) []string {
				return map[string][]string{"user": {"ann"}, "groups": {group}}[name]
			})
		}
		if !slices.Equal(revoked, want) || len(want) > 0 && id != ann.ID {
			t.Errorf("then %s: revoked in %v of %q, want %v", after, revoked, id, want)
		}
	}
}

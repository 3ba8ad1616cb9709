package identity

import (
	"github.com/gatehouse-proxy/gatehouse/internal/identity"
	"github.com/gatehouse-proxy/gatehouse/internal/keys"
	"github.com/gatehouse-proxy/gatehouse/internal/limits"
	"github.com/gatehouse-proxy/gatehouse/internal/pattern"
	"github.com/gatehouse-proxy/gatehouse/internal/policy"
)

// Issuer, Rule and Condition are what a configuration says of an identity provider; Ambient is what
// it says of a server that names somebody instead.
type (
	Issuer    = identity.Issuer
	Ambient   = identity.Ambient
	Rule      = identity.Rule
	Condition = identity.Condition
)

// Person is somebody whom an identity provider has named.
type Person = identity.Person

// HashOf returns the hash of a person by the ID.
func HashOf(id string) string { return identity.HashOf(id) }

// Role is what people and programs may do: a key without a secret.
type Role struct {
	Name                    string
	Key                     keys.Key // its tenant and rights
	Models                  pattern.List
	Tools, ToolsOfItsTenant pattern.List
	// Limits are those of each person, whose name they get.
	Limits   limits.Subject
	Caps     policy.Caps
	Unpriced bool // see policy.KeyLimits
}

// RightsOf are the rights of a role of the configuration, none of one that it has not.
func RightsOf(p *People, role string) keys.Scope {
	if r := p.roles[role]; r != nil {
		return r.Key.Scopes
	}
	return 0
}

// grant is what somebody may do as long as a token is good.
type grant struct {
	keys.Credential
	limits *policy.KeyLimits
	of     identity.Person
}

// grant returns what a person of the role may do.
func (r *Role) grant(p identity.Person, shared *policy.Limits) (*grant, error) {
	key := r.Key
	key.Name, key.Expires = p.ID, p.Ends
	own := r.Limits
	own.Name = policy.KeySubject(p.ID)
	bound, err := shared.RuntimeKey(key.Tenant, own, r.Caps, r.Unpriced)
	if err != nil {
		return nil, err
	}
	bound.Holder = &policy.Holder{Role: r.Name, Name: p.Name}
	held := keys.NewRuntimeKey(key, r.Models, nil).WithTools(r.Tools, r.Tools, r.ToolsOfItsTenant)
	return &grant{keys.Credential{Hash: p.Hash, Key: held}, bound, p}, nil
}

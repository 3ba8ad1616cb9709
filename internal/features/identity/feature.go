// Package identity is the feature of a gateway by which people and programs of an organisation call
// with the tokens of its identity providers, by roles.
package identity

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"time"

	"go.uber.org/zap"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/gateway"
	"github.com/gatehouse-proxy/gatehouse/internal/identity"
	"github.com/gatehouse-proxy/gatehouse/internal/keys"
	"github.com/gatehouse-proxy/gatehouse/internal/policy"
)

// People are those who call with tokens. It implements [gateway.KeySource].
type People struct {
	issuers *identity.Issuers
	roles   map[string]*Role
	shared  *policy.Limits
	now     func() time.Time
	logger  *zap.Logger
	sampled func() *zap.Logger // for what anybody can cause

	kept   *kept
	revoke func(tenant, id string) // ends desktops

	// KeptOut reports whether an operator keeps somebody out, by the ID. It fails while that is not
	// known. It is set before anybody calls; nil: nobody is.
	KeptOut func(id string) (bool, error)
	// Over reports whether an operator has ended what somebody began at a time, as KeptOut.
	Over func(id string, began time.Time) bool

	mu     sync.Mutex
	grants map[string]*grant // by the hash of the credential
	away   map[string]error  // issuers whose keys cannot be read, and why
}

// Config is what a configuration says of identities, checked.
type Config struct {
	issuers *identity.Issuers
	roles   []Role
}

// NewConfig checks issuers. Client asks them for their keys.
func NewConfig(issuers []Issuer, roles []Role, client *http.Client, now func() time.Time) (*Config, error) {
	checked, err := identity.New(issuers, identity.Deps{Client: client, Now: now})
	if err != nil {
		return nil, err
	}
	return &Config{checked, roles}, nil
}

// Issuers are those of the configuration.
func (c *Config) Issuers() *identity.Issuers { return c.issuers }

// Check refuses limits of roles that contradict each other.
func (c *Config) Check(shared *policy.Limits) error {
	if c == nil {
		return nil
	}
	for i := range c.roles {
		if _, err := c.roles[i].grant(identity.Person{}, shared); err != nil {
			return fmt.Errorf("role %q: %w", c.roles[i].Name, err)
		}
	}
	return nil
}

// MaxBody returns the largest body that a role takes, in bytes; 0 if none says one.
func (c *Config) MaxBody() (most int64) {
	if c == nil {
		return 0
	}
	for i := range c.roles {
		most = max(most, c.roles[i].Caps.Body)
	}
	return most
}

// Feature lets people and programs call, who have a role.
func Feature(c gateway.Core, config *Config) gateway.Feature {
	p := &People{
		issuers: config.issuers, roles: map[string]*Role{}, shared: c.Requests.Limits,
		now: c.Requests.Now, logger: c.Requests.Logger, sampled: c.Requests.Sampled,
		kept:   gateway.Kept(c.Slots, func() *kept { return &kept{known: map[string]identity.Person{}} }),
		revoke: c.Desktops.Revoke, grants: map[string]*grant{}, away: map[string]error{},
	}
	for i := range config.roles {
		p.roles[config.roles[i].Name] = &config.roles[i]
	}
	p.issuers.Tell(p.told)
	p.shared.People = p.limited
	return gateway.Feature{Offers: p, Keys: p, Status: p.status, Apply: p.apply, Start: func(context.Context) { p.inherit() }}
}

// inherit takes over what the configuration before knows of issuers.
func (p *People) inherit() {
	p.kept.mu.Lock()
	defer p.kept.mu.Unlock()
	if p.kept.issuers != nil {
		p.issuers.Inherit(p.kept.issuers)
	}
}

func (p *People) apply() {
	p.kept.mu.Lock()
	defer p.kept.mu.Unlock()
	p.kept.issuers = p.issuers
}

// Authenticate returns what the holder of a token may do. The error is [keys.ErrInvalid], or a
// refusal.
func (p *People) Authenticate(token string, _ time.Time) (keys.Credential, *policy.KeyLimits, error) {
	if strings.Count(token, ".") != 2 { // not in the form of a token, and no hash is needed to see it
		return keys.Credential{}, nil, keys.ErrInvalid
	}
	return p.grant(p.issuers.Person(token))
}

// Held is Authenticate for a token that was good before.
func (p *People) Held(sum [sha256.Size]byte, _ time.Time) (keys.Credential, *policy.KeyLimits, error) {
	person, ok := p.issuers.Recall(sum)
	if !ok {
		person, ok = p.known(hex.EncodeToString(sum[:])) // who has signed in has no token
	}
	if !ok {
		return keys.Credential{}, nil, keys.ErrInvalid
	}
	return p.grant(person, nil)
}

// OfRequest returns what somebody may do whom the server in front of the gateway names by the
// values of placeholders. [People.Held] knows the person by the hash from then on. Without a role
// the person is still returned. The desktops end of somebody who has lost the right to them with
// the role. The error is [keys.ErrInvalid] if nobody is named, or a refusal.
func OfRequest(p *People, values func(placeholder string) []string) (identity.Person, keys.Credential, *policy.KeyLimits, error) {
	person, err := p.issuers.Named(values)
	before, known := p.known(person.Hash)
	if person.Role == "" && person.ID != "" {
		p.Ended(person.Hash) // it is said now, not by a token of an hour ago
	}
	credential, limits, err := p.grant(person, err)
	if known && before.Role != person.Role && (err == nil || person.Role == "") {
		p.revokeLost(before, credential)
	}
	return person, credential, limits, err
}

// revokeLost ends the desktops of somebody who had another role, unless the one of now opens them.
func (p *People) revokeLost(before identity.Person, now keys.Credential) {
	was := p.roles[before.Role]
	if was != nil && (now.Key == nil || now.Tenant != was.Key.Tenant || !now.Has(keys.WorkstationsConnect)) {
		p.revoke(was.Key.Tenant, before.ID)
	}
}

// SignedIn returns what somebody may do who has signed in at an issuer, by the rules of then, until
// the end of the person. [People.Held] knows the person by the hash from then on.
func (p *People) SignedIn(person identity.Person) (keys.Credential, *policy.KeyLimits, error) {
	if !p.issuers.Still(person) || !p.now().Before(person.Ends) {
		return keys.Credential{}, nil, keys.ErrInvalid
	}
	return p.grant(person, nil)
}

func (p *People) grant(person identity.Person, err error) (keys.Credential, *policy.KeyLimits, error) {
	var none *identity.NoRoleError
	switch {
	case errors.As(err, &none):
		p.sampled().Info("somebody who is known has no role", zap.String("identity", none.Issuer), zap.String("claims", none.Seen))
		return keys.Credential{}, nil, apierror.New(apierror.NoRole,
			"the gateway knows who you are, and none of its roles is for you: ask its operator")
	case errors.Is(err, identity.ErrUnavailable):
		return keys.Credential{}, nil, apierror.New(apierror.IdentityUnavailable,
			"the keys of the token's issuer cannot be read now; try again").WithCause(err)
	case err != nil:
		p.logger.Debug("a token was refused", zap.Error(err))
		return keys.Credential{}, nil, keys.ErrInvalid
	}
	switch out, err := p.keptOut(person.ID); {
	case err != nil:
		return keys.Credential{}, nil, apierror.New(apierror.StorageUnavailable,
			"the gateway has just started and does not know yet who is kept out; try again").WithCause(err)
	case out:
		return keys.Credential{}, nil, keys.ErrInvalid
	}
	p.kept.note(person, p.now())
	g, err := p.granted(person)
	if err != nil {
		return keys.Credential{}, nil, keys.ErrInvalid // the limits of roles were checked
	}
	return g.Credential, g.limits, nil
}

func (p *People) keptOut(id string) (bool, error) {
	if p.KeptOut == nil {
		return false, nil
	}
	return p.KeptOut(id)
}

// Granted returns what somebody may do by the role in this configuration. The error is
// [keys.ErrInvalid] if it has none of this name.
func (p *People) Granted(person identity.Person) (keys.Credential, *policy.KeyLimits, error) {
	g, err := p.granted(person)
	if err != nil {
		return keys.Credential{}, nil, keys.ErrInvalid // the limits of roles were checked
	}
	return g.Credential, g.limits, nil
}

// granted returns what somebody may do in this configuration.
func (p *People) granted(person identity.Person) (*grant, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if g := p.grants[person.Hash]; g != nil && g.of == person {
		return g, nil
	}
	role := p.roles[person.Role]
	if role == nil { // of an earlier configuration
		return nil, keys.ErrInvalid
	}
	g, err := role.grant(person, p.shared)
	if err == nil {
		if len(p.grants) >= maxKnown {
			clear(p.grants) // they are made again
		}
		p.grants[person.Hash] = g
	}
	return g, err
}

// known returns who is known by a hash.
func (p *People) known(hash string) (person identity.Person, ok bool) {
	p.kept.mu.Lock()
	person, ok = p.kept.known[hash]
	p.kept.mu.Unlock()
	out, _ := p.keptOut(person.ID) // nobody is known before this is
	return person, ok && p.issuers.Still(person) && !out
}

// find returns what somebody may do who is known by a hash, nil for nobody.
func (p *People) find(hash, tenant string) *grant {
	person, ok := p.known(hash)
	if !ok {
		return nil
	}
	g, err := p.granted(person)
	if err != nil || g.Tenant != tenant {
		return nil
	}
	return g
}

// IsSecret reports whether a text is a token of an issuer of the configuration, valid or not.
func (p *People) IsSecret(text string) bool { return p.issuers.Knows(text) }

// MayStill reports whether somebody, with this hash, has a token that has not ended.
func (p *People) MayStill(hash, tenant string, scope keys.Scope) bool {
	g := p.find(hash, tenant)
	return g != nil && g.Has(scope) && g.Valid(p.now())
}

// LimitsOf returns the limits of somebody, nil if nobody is known by this name.
func (p *People) LimitsOf(tenant, key string) *policy.KeyLimits {
	if g := p.find(identity.HashOf(key), tenant); g != nil {
		return g.limits
	}
	return nil
}

// IsSubject reports whether a subject of the ledger can be that of somebody.
func (p *People) IsSubject(name string) bool {
	id, isKey := strings.CutPrefix(name, policy.KeySubject(""))
	return isKey && p.issuers.IsID(id)
}

// limited are the limits of all who have called.
func (p *People) limited(of keys.Tenants) (all []policy.Limited) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, g := range p.grants {
		if subjects := g.limits.Subjects; len(subjects) > 0 && subjects[0].Name == policy.KeySubject(g.Name) && of.Has(g.Tenant) {
			all = append(all, policy.Limited{Subject: &subjects[0], Tenant: g.Tenant})
		}
	}
	return all
}

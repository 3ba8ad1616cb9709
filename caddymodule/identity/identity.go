package identity

import (
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"

	"github.com/gatehouse-proxy/gatehouse/caddymodule/core"
	"github.com/gatehouse-proxy/gatehouse/internal/caddykit"
	people "github.com/gatehouse-proxy/gatehouse/internal/features/identity"
	"github.com/gatehouse-proxy/gatehouse/internal/keys"
)

// Identity is an identity provider whose tokens (JWTs) callers can send instead of a key: OpenID
// Connect, Kubernetes, GitHub Actions and others that sign with a published key. Or, with a
// placeholder as user, it is whom Caddy has authenticated: by a client certificate, forward_auth,
// Tailscale and others; they need no key.
type Identity struct {
	// Name begins the names of its people in records. Required, unique.
	Name string `json:"name"`

	// Issuer is the URL in the claim iss, compared exactly. Required, but where user is a
	// placeholder.
	Issuer string `json:"issuer,omitempty"`

	// Audiences are for whom tokens must be: one of them is in the claim aud. Required without a
	// client. Default: none, no token of it is good.
	Audiences []string `json:"audiences,omitempty"`

	// Client is the gateway as a client of the provider, so that people can sign in. Default:
	// nobody can.
	Client *IdentityClient `json:"client,omitempty"`

	// Keys is where the keys are with which it signs, as a JSON Web Key Set. Default: as its OpenID
	// configuration says.
	Keys string `json:"keys,omitempty"`

	// MaxLife bounds the life of a token, which nobody can call back. Default: 24h. Of somebody
	// whom Caddy names: how long a desktop stays open after its address was asked for, however busy
	// it is. Default: 12h.
	MaxLife caddy.Duration `json:"max_life,omitempty"`

	// User is the claim that is shown as a name. Default: the first of email, preferred_username,
	// name and sub that there is. Or it is the placeholder, such as {http.auth.user.id}, by which
	// Caddy names who has sent a request; clients must not be able to set it.
	User string `json:"user,omitempty" placeholders:"yes"`

	// Groups is the placeholder that has the groups of whom Caddy names. Default: none.
	Groups string `json:"groups,omitempty" placeholders:"yes"`

	// GroupsSeparator stands between groups. Default: a comma.
	GroupsSeparator string `json:"groups_separator,omitempty"`

	// FromTrustedProxies allows placeholders of request headers. They count in requests of the
	// trusted_proxies of the server, which must replace what clients send. Default: refused.
	FromTrustedProxies bool `json:"from_trusted_proxies,omitempty"`

	// Roles choose the role: the first that fits. At least one.
	Roles []RoleRule `json:"roles"`
}

// RoleRule gives a role to holders of tokens in which all conditions hold.
type RoleRule struct {
	// Role is the name of a role. Required.
	Role string `json:"role"`

	// Claims are the conditions. Default: none, everybody with a token has the role.
	Claims []ClaimRule `json:"claims,omitempty"`
}

// ClaimRule holds if a claim has one of the values, or in a list an element that does.
type ClaimRule struct {
	// Claim is the name of a claim, or a JSON pointer such as /kubernetes.io/namespace. Required.
	Claim string `json:"claim"`

	// Values are texts; a "*" at one end, beside a separator such as "/", stands for any text. At
	// least one.
	Values []string `json:"values"`
}

// read reads one identity provider:
//
//	identity NAME {
//		issuer URL
//		audience TEXT…
//		client ID SECRET
//		scopes SCOPE…
//		keys URL
//		max_life DURATION
//		user CLAIM
//		role NAME {        # any number; the first that fits
//			CLAIM VALUE…
//		}
//	}
//
// or whom Caddy has authenticated:
//
//	identity NAME {
//		user PLACEHOLDER
//		groups PLACEHOLDER [SEPARATOR]
//		from_trusted_proxies
//		max_life DURATION
//		role NAME {
//			user|groups VALUE…
//		}
//	}
func (i *Identity) read(d *caddyfile.Dispenser) error {
	if !d.AllArgs(&i.Name) {
		return d.ArgErr()
	}
	return caddykit.Options{
		"issuer":   caddykit.Word(&i.Issuer),
		"audience": caddykit.Words(&i.Audiences),
		"client":   {Read: i.readClient},
		"scopes":   {Read: i.readScopes},
		"keys":     caddykit.Word(&i.Keys),
		"max_life": caddykit.Value(&i.MaxLife, caddykit.ParseDuration),
		"user":     caddykit.Word(&i.User),
		"groups":   {Read: i.readGroups},
		"role":     caddykit.Listed(&i.Roles, (*RoleRule).read),

		"from_trusted_proxies": caddykit.Flag(&i.FromTrustedProxies),
	}.Block(d)
}

func (r *RoleRule) read(d *caddyfile.Dispenser) error {
	if !d.Args(&r.Role) || d.NextArg() {
		return d.ArgErr()
	}
	for nesting := d.Nesting(); d.NextBlock(nesting); {
		claim := ClaimRule{Claim: d.Val(), Values: d.RemainingArgs()}
		if len(claim.Values) == 0 {
			return d.ArgErr()
		}
		r.Claims = append(r.Claims, claim)
	}
	return nil
}

// issuersTimeout bounds a connection to an issuer and its answer's header; the whole is bounded
// anyway.
const issuersTimeout = 5 * time.Second

// maxIdentityName bounds a name, in bytes: with what tells people apart it has the length of a
// key's.
const maxIdentityName = 43

// build checks roles and identities. Nil: there are none.
func (f *Feature) build(b *core.Build) (*people.Config, error) {
	roles, err := f.roles(b)
	if err != nil {
		return nil, err
	}
	if len(f.Identities) == 0 {
		if len(roles) > 0 {
			return nil, fmt.Errorf("role %q: no identity gives it", roles[0].Name)
		}
		return nil, nil
	}
	issuers, err := f.issuers(roles)
	if err != nil {
		return nil, err
	}
	config, err := people.NewConfig(issuers, roles, issuersClient(), time.Now)
	if err == nil {
		err = config.Check(b.Config.Limits)
	}
	return config, err
}

// issuersClient asks identity providers. They are asked seldom.
func issuersClient() *http.Client {
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.ResponseHeaderTimeout, transport.DisableKeepAlives = issuersTimeout, true
	return &http.Client{Transport: transport}
}

func (f *Feature) issuers(roles []people.Role) ([]people.Issuer, error) {
	var issuers []people.Issuer
	named := map[string]bool{}
	for _, i := range f.Identities {
		if named[i.Name] {
			return nil, fmt.Errorf("identity %q is configured twice", i.Name)
		}
		named[i.Name] = true
		if !keys.ValidTenant(i.Name) || len(i.Name) > maxIdentityName {
			return nil, fmt.Errorf("identity %q: want up to %d letters, digits and . _ @ - as its name, a letter or digit first", i.Name, maxIdentityName)
		}
		issuer := people.Issuer{
			Name: i.Name, URL: i.Issuer, Audiences: i.Audiences, KeySet: i.Keys, MaxLife: time.Duration(i.MaxLife), User: i.User,
		}
		var err error
		switch issuer.Ambient, err = i.ambient(); {
		case err != nil:
			return nil, fmt.Errorf("identity %q: %w", i.Name, err)
		case issuer.Ambient != nil:
			issuer.User = "" // no claim
		}
		if i.Client != nil {
			issuer.Client = i.Client.ID
		}
		for _, rule := range i.Roles {
			if !slices.ContainsFunc(roles, func(r people.Role) bool { return r.Name == rule.Role }) {
				return nil, fmt.Errorf("identity %q: there is no role %q", i.Name, rule.Role)
			}
			out := people.Rule{Role: rule.Role}
			for _, c := range rule.Claims {
				out.Conditions = append(out.Conditions, people.Condition(c))
			}
			issuer.Rules = append(issuer.Rules, out)
		}
		issuers = append(issuers, issuer)
	}
	return issuers, nil
}

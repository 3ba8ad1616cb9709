package identity

import (
	"context"
	"crypto/subtle"
	"fmt"
	"slices"
	"time"
)

// Discovered is what an issuer says of itself (OpenID Connect Discovery 1.0, section 3; RFC 8414).
type Discovered struct {
	Issuer        string   `json:"issuer"`
	Keys          string   `json:"jwks_uri"`
	Authorization string   `json:"authorization_endpoint"`
	Token         string   `json:"token_endpoint"`
	UserInfo      string   `json:"userinfo_endpoint"`
	AuthMethods   []string `json:"token_endpoint_auth_methods_supported"`
	// NamesItself says that each answer of the authorization endpoint has iss (RFC 9207).
	NamesItself bool `json:"authorization_response_iss_parameter_supported"`
}

// maxIDToken bounds the life of an ID token. It is looked at once, when it has just come: what it
// lets somebody do has an end of its own.
const maxIDToken = 31 * 24 * time.Hour

// Claims are what an issuer states of somebody who signs in.
type Claims struct {
	said claims
	by   *keySet
}

// named returns the issuer of a block, nil for none.
func (s *Issuers) named(name string) *keySet {
	for _, set := range s.all {
		if set.issuer.Name == name {
			return set
		}
	}
	return nil
}

// URL returns that of the issuer of a block.
func (s *Issuers) URL(name string) string { return s.named(name).issuer.URL }

// MaxLife returns that of a block, 0 for none of its own.
func MaxLife(s *Issuers, name string) time.Duration {
	if set := s.named(name); set != nil {
		return set.issuer.MaxLife
	}
	return 0
}

// Discover reads what the issuer of a block says of itself. The error wraps ErrUnavailable.
func (s *Issuers) Discover(ctx context.Context, name string) (Discovered, error) {
	ctx, cancel := context.WithTimeout(ctx, readTimeout)
	defer cancel()
	found, err := s.named(name).discover(ctx)
	if err != nil {
		err = fmt.Errorf("%w: %w", ErrUnavailable, err)
	}
	return found, err
}

// IDToken returns the claims of an ID token that the issuer of a block has made for the gateway as
// its client (OpenID Connect Core 1.0, section 3.1.3.7), with the nonce of the sign-in; "" is any.
// The errors are those of [Issuers.Person].
func (s *Issuers) IDToken(name, token, nonce string) (*Claims, error) {
	if len(token) > maxToken {
		return nil, invalid("it has more than %d bytes", maxToken)
	}
	said, set, err := s.verified(token)
	if err != nil {
		return nil, err
	}
	if set.issuer.Name != name {
		return nil, invalid("it is of another issuer than the one that was asked")
	}
	forClient := *set.issuer
	forClient.Audiences, forClient.MaxLife = []string{set.issuer.Client}, maxIDToken
	if _, err := said.check(&forClient, s.now()); err != nil {
		return nil, err
	}
	party, named := said["azp"]
	switch {
	case named && party != set.issuer.Client, !named && len(texts(said["aud"])) > 1:
		return nil, invalid("its azp is another client")
	case nonce != "" && subtle.ConstantTimeCompare([]byte(said.text("nonce")), []byte(nonce)) != 1:
		return nil, invalid("its nonce is not that of the sign-in")
	}
	return &Claims{said, set}, nil
}

// UserInfo returns the claims of an answer of the userinfo endpoint of a block's issuer.
func (s *Issuers) UserInfo(name string, answer []byte) (*Claims, error) {
	said, err := parseClaims(answer)
	if err != nil || said.text("sub") == "" {
		return nil, invalid("the userinfo is no JSON object with sub")
	}
	set := s.named(name)
	said["iss"] = set.issuer.URL
	return &Claims{said, set}, nil
}

// Lack reports whether a rule, or the name, asks for a claim that is not there.
func (c *Claims) Lack() bool {
	for _, rule := range c.by.issuer.Rules {
		if slices.ContainsFunc(rule.Conditions, func(condition Condition) bool { return c.said.find(condition.Claim) == nil }) {
			return true
		}
	}
	user := c.by.issuer.User
	return user != "" && c.said.find(user) == nil
}

// Add adds those of the userinfo that are not there yet: what is signed stays. The userinfo must be
// of the same subject (OpenID Connect Core 1.0, section 5.3.2).
func (c *Claims) Add(more *Claims) error {
	if c.said.text("sub") != more.said.text("sub") {
		return invalid("the userinfo is of another subject")
	}
	if c.said[emailClaim] == nil {
		delete(c.said, "email_verified") // it is of no address
	}
	address, signed := c.said[emailClaim].(string) // something else is no address
	same := c.said[emailClaim] == nil || signed && address == more.said.text(emailClaim)
	for name, value := range more.said {
		switch _, there := c.said[name]; {
		case there:
		case name == "email_verified" && !same: // of another address
		default:
			c.said[name] = value
		}
	}
	return nil
}

// Person returns whom the claims are of, until life is over, or max_life if that is shorter. The
// error wraps ErrInvalid, or is a *NoRoleError; the person is known with the latter, without a
// role.
func (c *Claims) Person(now time.Time, life time.Duration) (Person, error) {
	if most := c.by.issuer.MaxLife; most > 0 {
		life = min(life, most)
	}
	return c.said.holder(c.by, now.Add(life))
}

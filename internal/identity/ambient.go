package identity

import (
	"cmp"
	"errors"
	"fmt"
	"strings"
	"time"
)

// Ambient says how the server in front of the gateway names who has sent a request, whom it has
// authenticated itself: by the values of placeholders.
type Ambient struct {
	// User names somebody by exactly one value; without one nobody is named.
	User string
	// Groups has the groups of the person. Default: none.
	Groups string `json:",omitempty"`
	// Separator stands between the groups of a value. One after a backslash belongs to the group:
	// in the subject of a certificate (RFC 4514) it is a part of a name. Default: a comma.
	Separator string `json:",omitempty"`
	// OfCertificate says that the groups are the parts of a name in a certificate, of which several
	// may stand together with a plus (RFC 4514, section 2.2).
	OfCertificate bool `json:",omitempty"`
}

const (
	userClaim, groupsClaim = "user", "groups"
	// defaultSeparator is that of certificates' subjects, Authelia and oauth2-proxy.
	defaultSeparator = ","
	// ambientLife is how long what somebody has opened outlives the request for it: a working day.
	ambientLife = 12 * time.Hour
	// ambientStep is by how much the end of a person moves: not with each request, as what the
	// person may do is kept by it.
	ambientStep = time.Minute
	// maxGroups bounds the groups that are looked at.
	maxGroups = 1000
)

// checkAmbient returns what is wrong with an identity without an issuer.
func (i *Issuer) checkAmbient() error {
	switch {
	case i.URL != "" || len(i.Audiences) > 0 || i.Client != "" || i.KeySet != "":
		return errors.New("user is a placeholder: then there is no issuer, audience, client or keys")
	case len(i.Rules) == 0:
		return errNoRule
	case i.Ambient.Groups == "" && i.Ambient.Separator != "":
		return errors.New("a separator of groups without groups")
	}
	for _, rule := range i.Rules {
		for _, c := range rule.Conditions {
			if c.Claim != userClaim && (c.Claim != groupsClaim || i.Ambient.Groups == "") {
				return fmt.Errorf("role %q: %s is not known of somebody whom Caddy names: want user, or groups if the identity has them", rule.Role, c.Claim)
			}
		}
	}
	return checkRules(i)
}

// Named returns whom a request is of: by the first identity, in the order of the configuration, of
// which the placeholders name somebody. Values returns those of a placeholder. The error wraps
// ErrInvalid if nobody is named, or is a *NoRoleError; the person is known with the latter, without
// a role.
func (s *Issuers) Named(values func(placeholder string) []string) (Person, error) {
	for _, set := range s.all {
		a := set.issuer.Ambient
		if a == nil {
			continue
		}
		found := values(a.User)
		if len(found) != 1 || strings.TrimSpace(found[0]) == "" {
			continue
		}
		user := strings.TrimSpace(found[0])
		said := claims{userClaim: user, "sub": user}
		if a.Groups != "" {
			said[groupsClaim] = a.groups(values(a.Groups))
		}
		ends := s.now().Truncate(ambientStep).Add(ambientStep + cmp.Or(set.issuer.MaxLife, ambientLife))
		return said.holder(set, ends)
	}
	return Person{}, invalid("no identity names somebody for this request")
}

// groups returns the groups in the values of a placeholder.
func (a *Ambient) groups(values []string) (all []any) {
	for _, value := range values {
		for _, group := range split(value, cmp.Or(a.Separator, defaultSeparator)) {
			parts := []string{group}
			if a.OfCertificate {
				parts = split(group, "+")
			}
			for _, part := range parts {
				if part = strings.TrimSpace(part); part != "" && len(all) < maxGroups {
					all = append(all, part)
				}
			}
		}
	}
	return all
}

// split splits a value at the separators that are not behind a backslash.
func split(value, separator string) (all []string) {
	text := ""
	for part := range strings.SplitSeq(value, separator) {
		if text += part; strings.HasSuffix(part, `\`) {
			text += separator
			continue
		}
		all, text = append(all, text), ""
	}
	return all
}

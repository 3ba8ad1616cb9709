package workstation

import (
	"crypto/subtle"
	"fmt"
	"net/netip"
	"strings"
)

// Pass is a live token that Find has seen. It is good for one Join.
type Pass struct {
	Workstation ID
	Target      *Target
	Issuer
	TokenID  string
	ViewOnly bool
	Shared   bool // may share the workstation, by the token or by the policy

	token *token
}

// Format prints the workstation and the token's name.
func (p Pass) Format(f fmt.State, _ rune) { fmt.Fprintf(f, "%s %s", p.Workstation, p.TokenID) }

// Label takes the one label before the domain out of a server name, in lower
// case. ok is false for other domains, further labels, a trailing dot, and
// what is not a label.
func (d *Service) Label(serverName string) (label string, ok bool) {
	domain := d.policy.Domain
	cut := len(serverName) - len(domain) - 1
	if cut < 1 || cut > maxLabel || serverName[cut] != '.' || lowerASCII(serverName[cut+1:]) != domain {
		return "", false
	}
	label = lowerASCII(serverName[:cut])
	for i := range len(label) {
		if c := label[i]; (c < 'a' || c > 'z') && (c < '0' || c > '9') && c != '-' {
			return "", false
		}
	}
	return label, true
}

// HasToken reports whether a server name has the form of a VNC address: a label
// of a token's length right before the domain, live or not.
func (d *Service) HasToken(serverName string) bool {
	label, ok := d.Label(serverName)
	return ok && len(label) == tokenLength
}

// Live reports whether the label is a token that opens one of this service's
// workstations now. It changes nothing, so that a matcher may ask repeatedly.
func (d *Service) Live(label string) bool {
	h, ok := hashOf(label)
	if !ok || !d.ready.Load() {
		return false
	}
	s := d.state
	s.mu.Lock()
	defer s.mu.Unlock()
	t := s.tokens[h]
	return t != nil && t.live(s.now()) && d.has(t.place.id) && !t.place.released()
}

// Find tells what a token opens. The label may come from a server name or from
// a person, who may type capitals. It changes nothing; the token is first used
// by Join. Every error is a [*Refusal].
func (d *Service) Find(label string, viewer netip.Addr) (*Pass, error) {
	if !d.ready.Load() {
		return nil, refuse(RefusedUnavailable)
	}
	h, ok := hashOf(label)
	if !ok {
		return nil, refuse(RefusedUnknown)
	}
	s := d.state
	s.mu.Lock()
	defer s.mu.Unlock()
	t := s.tokens[h]
	if t == nil {
		return nil, s.tombstones.state(h, s.now()).refusal()
	}
	return d.pass(t, viewer)
}

// FindByPrefix is Find for viewers that show no more than whether they know the
// first 8 characters: match is asked for those of one live token after the
// other, without a lock. Without VNCAuth in the policy nothing is found.
func (d *Service) FindByPrefix(match func(prefix string) bool, viewer netip.Addr) (*Pass, error) {
	if !d.ready.Load() {
		return nil, refuse(RefusedUnavailable)
	}
	if !d.policy.VNCAuth {
		return nil, refuse(RefusedUnknown)
	}
	for _, prefix := range d.livePrefixes() {
		if match(prefix) {
			d.state.mu.Lock()
			defer d.state.mu.Unlock()
			if t := d.state.prefixes[prefix]; t != nil {
				return d.pass(t, viewer)
			}
			break // died meanwhile
		}
	}
	return nil, refuse(RefusedUnknown)
}

func (d *Service) livePrefixes() []string {
	s := d.state
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.now()
	prefixes := make([]string, 0, len(s.prefixes))
	for prefix, t := range s.prefixes {
		if t.live(now) {
			prefixes = append(prefixes, prefix)
		}
	}
	return prefixes
}

// pass is called with State.mu held.
func (d *Service) pass(t *token, viewer netip.Addr) (*Pass, error) {
	if err := d.state.admit(d, t, viewer, d.state.now()); err != nil {
		return nil, err
	}
	target := d.target(t.place.id)
	if target == nil {
		return nil, refuse(RefusedUnavailable)
	}
	return &Pass{
		Workstation: t.place.id,
		Target:      target,
		Issuer:      t.issuer,
		TokenID:     t.hash.id(),
		ViewOnly:    t.viewOnly,
		Shared:      t.shared || d.policy.OnConflict == Share,
		token:       t,
	}, nil
}

// TypedLabel reads a token as a person may have typed or pasted it into a
// password field: the token, or the whole VNC address.
func (d *Service) TypedLabel(text string) string {
	host, _, _ := strings.Cut(strings.TrimSpace(text), ":")
	if label, ok := d.Label(host); ok {
		return label
	}
	return host
}

// TypedPrefix reports whether the text, which a person has typed, can be the first
// characters of a token: with VNCAuth in the policy they will do in any password
// field, because that of Vinagre takes no more. The match is for FindByPrefix.
func (d *Service) TypedPrefix(text string) (match func(prefix string) bool, ok bool) {
	if !d.policy.VNCAuth || len(text) != prefixLength {
		return nil, false
	}
	typed := []byte(lowerASCII(text))
	return func(prefix string) bool { return subtle.ConstantTimeCompare(typed, []byte(prefix)) == 1 }, true
}

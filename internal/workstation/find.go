package workstation

import (
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

// HasTokenForm reports whether a server name has the form of a VNC address: a label
// of a token's length right before the domain, live or not.
func (d *Service) HasTokenForm(serverName string) bool {
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

// FindByPrefix is Find for viewers whose user typed the first 8 characters, see TypedPrefix.
func (d *Service) FindByPrefix(prefix string, viewer netip.Addr) (*Pass, error) {
	if err := d.takesPrefixes(); err != nil {
		return nil, err
	}
	d.state.mu.Lock()
	defer d.state.mu.Unlock()
	return d.passOfPrefix(prefix, viewer)
}

// FindByMatch is Find for viewers that show no more than whether they know the
// first 8 characters: match is asked, without a lock, for those of one token after
// the other, first the live ones, then 256 at most that died in the last hour.
func (d *Service) FindByMatch(match func(prefix string) bool, viewer netip.Addr) (*Pass, error) {
	if err := d.takesPrefixes(); err != nil {
		return nil, err
	}
	for _, prefix := range d.prefixesToTry() {
		if match(prefix) {
			d.state.mu.Lock()
			defer d.state.mu.Unlock()
			return d.passOfPrefix(prefix, viewer)
		}
	}
	return nil, refuse(RefusedUnknown)
}

// takesPrefixes is the refusal of all that show the first characters only: without
// VNCAuth in the policy nothing is found by them.
func (d *Service) takesPrefixes() error {
	if !d.ready.Load() {
		return refuse(RefusedUnavailable)
	}
	if !d.policy.VNCAuth {
		return refuse(RefusedUnknown)
	}
	return nil
}

// prefixesToTry are those of tokens that live or have just died.
func (d *Service) prefixesToTry() []string {
	s := d.state
	s.mu.Lock()
	defer s.mu.Unlock()
	dead := s.tombstones.recent(s.now())
	prefixes := make([]string, 0, len(s.prefixes)+len(dead))
	for prefix := range s.prefixes { // some may have expired: they are told so
		prefixes = append(prefixes, prefix)
	}
	return append(prefixes, dead...)
}

// passOfPrefix is called with State.mu held. A dead token counts until it is
// forgotten: its viewer, which tries again by itself, makes no guess.
func (d *Service) passOfPrefix(prefix string, viewer netip.Addr) (*Pass, error) {
	if t := d.state.prefixes[prefix]; t != nil {
		return d.pass(t, viewer)
	}
	return nil, d.state.tombstones.statePrefix(prefix, d.state.now()).refusal()
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
// characters of a token, and returns them for FindByPrefix: with VNCAuth in the
// policy they will do in any password field, because that of Vinagre takes no more.
func (d *Service) TypedPrefix(text string) (prefix string, ok bool) {
	if !d.policy.VNCAuth || len(text) != prefixLength {
		return "", false
	}
	return lowerASCII(text), true
}

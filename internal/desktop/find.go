package desktop

import (
	"encoding/hex"
	"fmt"
	"net/netip"
)

// Pass is a live token that Find has seen. It can be joined once.
type Pass struct {
	Workstation ID
	Target      *Target
	Issuer
	TokenID  string
	ViewOnly bool
	Shared   bool // may share the workstation, by the token or by the policy
	// Withdrawn reports whether the viewer may not join any more. It is called with a lock held. nil: it
	// may.
	Withdrawn func() bool

	token   *token
	look    RefusalCode // of Look, where gateways share tokens
	service *Service    // that found it
}

func (p *Pass) withdrawn() bool { return p.Withdrawn != nil && p.Withdrawn() }

// Format prints the workstation and the token's name.
func (p Pass) Format(f fmt.State, _ rune) { fmt.Fprintf(f, "%s %s", p.Workstation, p.TokenID) }

// Live reports whether the label is a token that opens one of this service's
// workstations now. It changes nothing, so that a matcher may ask repeatedly.
func (w *Service) Live(label string) bool {
	h, ok := hashOf(label)
	if !ok || !w.ready.Load() {
		return false
	}
	s := w.state
	if s.shared != nil {
		return s.shared.live(w, h)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	t := s.tokens.live[h]
	return t != nil && t.live(s.now()) && w.has(t.entry.id) && !t.entry.released()
}

// Find returns what a token opens. The label may come from a server name or from a person, who may
// type capitals. It changes nothing; the token is first used by Join. Every error is a [*Refusal].
func (w *Service) Find(label string, viewer netip.Addr) (*Pass, error) {
	if !w.ready.Load() {
		return nil, refuse(RefusedUnavailable)
	}
	h, ok := hashOf(label)
	if !ok {
		return nil, refuse(RefusedUnknown)
	}
	s := w.state
	if s.shared != nil {
		return s.shared.findNow(w, Shown{Hash: hex.EncodeToString(h[:])}, viewer)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	t := s.tokens.live[h]
	if t == nil {
		return nil, s.tokens.dead.state(h, s.now()).refusal()
	}
	return w.pass(t, viewer)
}

// FindByPrefix is Find for viewers whose user typed the first 8 characters, see TypedPrefix.
func (w *Service) FindByPrefix(prefix string, viewer netip.Addr) (*Pass, error) {
	if err := w.takesPrefixes(); err != nil {
		return nil, err
	}
	return w.passOfPrefix(prefix, viewer)
}

// FindByMatch is Find for viewers that show no more than whether they know the
// first 8 characters: match is asked, without a lock, for those of one token after
// the other, first the live ones, then 256 at most that died in the last hour.
func (w *Service) FindByMatch(match func(prefix string) bool, viewer netip.Addr) (*Pass, error) {
	if err := w.takesPrefixes(); err != nil {
		return nil, err
	}
	prefixes, err := w.prefixesToTry()
	if err != nil {
		return nil, err
	}
	for _, prefix := range prefixes {
		if match(prefix) {
			return w.passOfPrefix(prefix, viewer)
		}
	}
	return nil, refuse(RefusedUnknown)
}

// takesPrefixes is the refusal of all that show the first characters only: without
// VNCAuth in the policy nothing is found by them.
func (w *Service) takesPrefixes() error {
	if !w.ready.Load() {
		return refuse(RefusedUnavailable)
	}
	if !w.policy.VNCAuth {
		return refuse(RefusedUnknown)
	}
	return nil
}

// prefixesToTry are those of tokens that live or have just died.
func (w *Service) prefixesToTry() ([]string, error) {
	s := w.state
	if s.shared != nil {
		return s.shared.prefixes()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	dead := s.tokens.dead.recent(s.now())
	prefixes := make([]string, 0, len(s.tokens.byPrefix)+len(dead))
	for prefix := range s.tokens.byPrefix { // expired ones get their own refusal
		prefixes = append(prefixes, prefix)
	}
	return append(prefixes, dead...), nil
}

// passOfPrefix finds a token by its first characters. A dead one counts until it is forgotten: its
// viewer, which tries again by itself, makes no guess.
func (w *Service) passOfPrefix(prefix string, viewer netip.Addr) (*Pass, error) {
	if w.state.shared != nil {
		return w.state.shared.findNow(w, Shown{Prefix: prefix}, viewer)
	}
	w.state.mu.Lock()
	defer w.state.mu.Unlock()
	if t := w.state.tokens.byPrefix[prefix]; t != nil {
		return w.pass(t, viewer)
	}
	return nil, w.state.tokens.dead.statePrefix(prefix, w.state.now()).refusal()
}

// pass is called with State.mu held.
func (w *Service) pass(t *token, viewer netip.Addr) (*Pass, error) {
	if err := w.state.admit(w, t, viewer, w.state.now()); err != nil {
		return nil, err
	}
	return w.passOf(t)
}

// passOf is called with State.mu held, for a token that is good.
func (w *Service) passOf(t *token) (*Pass, error) {
	target := w.target(t.entry.id)
	if target == nil {
		return nil, refuse(RefusedUnavailable)
	}
	return &Pass{
		Workstation: t.entry.id,
		Target:      target,
		Issuer:      t.issuer,
		TokenID:     t.hash.id(),
		ViewOnly:    t.viewOnly,
		Shared:      t.shared || w.policy.OnConflict == Share,
		token:       t,
		service:     w,
	}, nil
}

package desktop

import (
	"context"
	"encoding/hex"
	"errors"
	"net/netip"
	"slices"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/tracing"
)

// issue gives a token to the engine, unless another looks like it.
func (h *Sharing) issue(w *Service, t *token, id ID, life time.Duration) (taken bool, err error) {
	ctx, cancel := message()
	defer cancel()
	made := SharedToken{
		Hash: hex.EncodeToString(t.hash[:]), Prefix: t.prefix, Workstation: id, Issuer: t.issuer,
		ViewOnly: t.viewOnly, Shared: t.shared, Once: t.once, Claim: t.claim,
	}
	for looked := false; ; looked = true {
		if made.Generation, err = h.mayIssue(w, t, id); err != nil {
			if looked || h.records.CatchUp(ctx) != nil { // it may be news of another gateway
				return false, err
			}
			continue
		}
		outcome, err := h.engine.Issue(ctx, &made, life, w.policy.MaxDuration, w.policy.MaxTokens)
		switch {
		case err != nil:
			return false, errNoEngine(err)
		case outcome == IssueTaken:
			return true, nil
		case outcome == IssueExceeded:
			return false, tokensExceeded(id, w.policy.MaxTokens)
		case outcome == IssueReleased:
			return false, errReleased(id)
		case outcome == IssueStale && !looked:
			if err := h.records.CatchUp(ctx); err != nil {
				return false, unavailable(err)
			}
			continue
		case outcome != IssueOK:
			return false, errReleased(id)
		}
		t.until, t.deadline = made.Until, made.Deadline
		h.remember(&made)
		_, err = h.mayIssue(w, t, id) // the configuration may have changed meanwhile
		return false, err
	}
}

// mayIssue returns the generation of a workstation for which w may issue a token.
func (h *Sharing) mayIssue(w *Service, t *token, id ID) (generation int64, err error) {
	s := h.state
	s.mu.Lock()
	defer s.mu.Unlock()
	p := s.entries[id]
	switch {
	case !w.has(id) || s.overtaken(w, id, t.issuer):
		return 0, notFound(id.Name)
	case p.released():
		return 0, errReleased(id)
	case p == nil:
		return 0, nil
	}
	return p.generation, nil
}

// remember keeps a token for Replay.
func (h *Sharing) remember(t *SharedToken) {
	h.mu.Lock()
	defer h.mu.Unlock()
	now, old := h.state.now(), 0
	for old < len(h.issued) && (now.Sub(h.issued[old].at) >= keepIssued || len(h.issued)-old >= maxIssued) {
		old++
	}
	h.issued = append(h.issued[old:len(h.issued):len(h.issued)], issuedToken{now, *t})
}

// forget has tokens that were revoked end in time also if they are replayed.
func (h *Sharing) forget(r Revocation) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.issued = slices.Clone(h.issued) // Replay may read it
	for i := range h.issued {
		if t := &h.issued[i].token; r.reaches(t.Issuer, t.Issued) && r.End.Before(t.Until) {
			t.Until = r.End
		}
	}
}

// find asks the engine for a token, and judges it by this gateway's configuration and records.
func (h *Sharing) find(ctx context.Context, w *Service, shown Shown, viewer netip.Addr) (*Pass, error) {
	f, err := h.engine.Find(ctx, shown, h.terms(w, viewer, 0))
	if err != nil {
		return nil, refuse(RefusedUnavailable)
	}
	if f.Code != "" {
		return nil, refuse(f.Code)
	}
	pass, err := h.pass(w, &f, viewer)
	var refusal *Refusal
	if errors.As(err, &refusal) && (refusal.Code == RefusedUnknown || refusal.Code == RefusedReleased) {
		if h.records.CatchUp(ctx) == nil { // the engine says that it lives: this gateway may have news to read
			return h.pass(w, &f, viewer)
		}
	}
	return pass, err
}

// pass returns what a token opens by this gateway's configuration and records.
func (h *Sharing) pass(w *Service, f *Found, viewer netip.Addr) (*Pass, error) {
	t, s := f.Token.token(), h.state
	s.mu.Lock()
	defer s.mu.Unlock()
	t.entry = s.look(f.Token.Workstation)
	if err := h.judge(w, t, viewer); err != nil {
		return nil, err
	}
	pass, err := w.passOf(t)
	if err == nil {
		pass.look, pass.Issuer.Trace = f.Look, h.trace(f.Token.Hash)
	}
	return pass, err
}

// trace is that of the request for a token which this gateway has issued a short while ago; nil for
// others.
func (h *Sharing) trace(hash string) *tracing.Origin {
	h.mu.Lock()
	defer h.mu.Unlock()
	for i := len(h.issued) - 1; i >= 0; i-- {
		if h.issued[i].token.Hash == hash {
			return h.issued[i].token.Issuer.Trace
		}
	}
	return nil
}

// findNow is find within the time for one message.
func (h *Sharing) findNow(w *Service, shown Shown, viewer netip.Addr) (*Pass, error) {
	ctx, cancel := message()
	defer cancel()
	return h.find(ctx, w, shown, viewer)
}

// live reports whether a label opens a workstation now; without an answer it does not.
func (h *Sharing) live(w *Service, token hash) bool {
	ctx, cancel := context.WithTimeout(context.Background(), liveTimeout)
	defer cancel()
	f, err := h.engine.Find(ctx, Shown{Hash: hex.EncodeToString(token[:])}, h.terms(w, netip.Addr{}, 0))
	if err != nil || f.Code != "" {
		return false
	}
	t := f.Token.token()
	h.state.mu.Lock()
	defer h.state.mu.Unlock()
	t.entry = h.state.look(f.Token.Workstation)
	return h.judge(w, t, t.client) == nil
}

func (h *Sharing) prefixes() ([]string, error) {
	ctx, cancel := message()
	defer cancel()
	prefixes, err := h.engine.Prefixes(ctx)
	if err != nil {
		return nil, refuse(RefusedUnavailable)
	}
	return prefixes, nil
}

// terms are the rules of a configuration for a viewer.
func (h *Sharing) terms(w *Service, viewer netip.Addr, generation int64) Terms {
	return Terms{
		Client: plain(viewer), Rule: w.policy.OnConflict, MaxSessions: w.policy.MaxSessions,
		Pin: w.policy.PinClient, Generation: generation,
	}
}

// judge returns the refusal of a live token that this gateway's configuration or records do not let
// in; mu of the state is held. Each gateway judges by its own: a token of a key that a reload has
// dropped opens nothing where that was.
func (h *Sharing) judge(w *Service, t *token, viewer netip.Addr) error {
	s, id := h.state, t.entry.id
	switch {
	case !w.has(id):
		return refuse(RefusedUnknown)
	case t.entry.released() || t.generation < t.entry.generation:
		return refuse(RefusedReleased)
	case s.overtaken(w, id, t.issuer), w == s.committed && s.allowed != nil && !s.allowed(t.issuer):
		return refuse(RefusedRevoked)
	case w.policy.PinClient && t.pinned(viewer):
		return refuse(RefusedPinned)
	}
	return nil
}

// token is a copy that belongs to one session.
func (t *SharedToken) token() *token {
	own := &token{
		prefix: t.Prefix, issuer: t.Issuer, viewOnly: t.ViewOnly, shared: t.Shared, once: t.Once, claim: t.Claim, until: t.Until,
		deadline: t.Deadline, client: t.Client, issued: t.Issued, generation: t.Generation,
	}
	_, _ = hex.Decode(own.hash[:], []byte(t.Hash)) // the engine has what this program gave it
	return own
}

// share is the inverse of token; mu of the state is held.
func (t *token) share() *SharedToken {
	return &SharedToken{
		Hash: hex.EncodeToString(t.hash[:]), Prefix: t.prefix, Workstation: t.entry.id, Issuer: t.issuer, ViewOnly: t.viewOnly,
		Shared: t.shared, Once: t.once, Claim: t.claim, Issued: t.issued, Until: t.until, Deadline: t.deadline, Client: t.client, Generation: t.generation,
	}
}

func errNoEngine(err error) error {
	return apierror.New(apierror.StorageUnavailable, "what the gateways share about workstations cannot be read or changed now").WithCause(err)
}

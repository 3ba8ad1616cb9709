package desktop

import (
	"errors"
	"net"
	"strconv"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
)

// Options are what the caller of Issue may choose.
type Options struct {
	ViewOnly  *bool         // nil: the policy's
	Shared    bool          // sessions of this token may be joined by others that are shared
	Once      bool          // the token dies with its first session's beginning
	Claim     Claim         // what its sessions do where the workstation is in use
	ExpiresIn time.Duration // until the first use, 1 s to max_duration; 0 = connect_within
}

// Issued is a new token. It is given out only here.
type Issued struct {
	Workstation string
	URL         string    // <token>.<domain>:<port>
	TokenID     string    // names the token in lists and logs; not secret
	ExpiresAt   time.Time // the end of the time for the first use
	ViewOnly    bool
	Shared      bool
	Once        bool
	FPS         int // of the policy
}

// maxMints bounds the search for a token whose first characters are free: with
// 40 bits of them a second try is rare already.
const maxMints = 16

// Issue makes a token for the issuer's workstation. Faults: not_found (unknown, released, another
// tenant's), invalid_value for expires_in, workstation_tokens_exceeded, workstation_occupied for a claim
// that cannot be met now, storage_unavailable before Start. Where randomness fails the error is none of
// them.
func (w *Service) Issue(by Issuer, name string, o Options) (Issued, error) {
	if !w.ready.Load() {
		return Issued{}, errNotStarted()
	}
	life := w.policy.ConnectWithin
	if o.ExpiresIn != 0 {
		if o.ExpiresIn < minLife || o.ExpiresIn > w.policy.MaxDuration {
			return Issued{}, apierror.New(apierror.InvalidValue, "expires_in is at least %s and at most %s",
				minLife, w.policy.MaxDuration).WithParam("expires_in")
		}
		life = o.ExpiresIn
	}
	if err := w.mayClaim(by, name, o); err != nil {
		return Issued{}, err
	}
	for range maxMints {
		secret, err := mint(w.random)
		if err != nil {
			return Issued{}, err
		}
		t := &token{issuer: by, viewOnly: w.policy.ViewOnly, shared: o.Shared, once: o.Once, claim: o.Claim}
		if o.ViewOnly != nil {
			t.viewOnly = *o.ViewOnly
		}
		t.hash, _ = hashOf(secret)
		if w.policy.VNCAuth {
			t.prefix = secret[:prefixLength]
		}
		switch taken, err := w.admitToken(t, ID{by.Tenant, name}, life); {
		case err != nil:
			return Issued{}, err
		case !taken:
			return Issued{
				Workstation: name,
				URL:         net.JoinHostPort(secret+"."+w.policy.Domain, strconv.Itoa(w.policy.Port)),
				TokenID:     t.hash.id(),
				ExpiresAt:   t.deadline,
				ViewOnly:    t.viewOnly,
				Shared:      t.shared,
				Once:        t.once,
				FPS:         w.policy.FPS,
			}, nil
		}
	}
	return Issued{}, errors.New("randomness gives the same tokens again")
}

// mayClaim refuses a token whose claim cannot be met now: workstation_occupied. Join decides again.
func (w *Service) mayClaim(by Issuer, name string, o Options) error {
	if o.Claim == ByRule || o.Claim == TakeAny {
		return nil
	}
	open, err := w.Sessions(by.Tenant, name)
	if err != nil {
		return err
	}
	rule := w.policy.OnConflict
	for i := range open {
		other := &open[i]
		conflict, wins := o.Claim.over(rule, (o.Shared || rule == Share) && other.Shared, other.Key == by.Key)
		if conflict && !wins {
			return errOccupied(by, name, open)
		}
	}
	return nil
}

// admitToken puts t among the live tokens unless another looks like it.
func (w *Service) admitToken(t *token, id ID, life time.Duration) (taken bool, err error) {
	s := w.state
	if s.shared != nil {
		return s.shared.issue(w, t, id, life)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.now()
	if !w.has(id) || s.overtaken(w, id, t.issuer) {
		return false, notFound(id.Name)
	}
	if s.entries[id].released() {
		return false, errReleased(id)
	}
	s.sweep(id, now)
	if s.tokens.taken(t) {
		return true, nil
	}
	p := s.entry(id) // not before: sweeping forgets an entry with its last token
	if len(p.tokens) >= w.policy.MaxTokens {
		return false, tokensExceeded(id, len(p.tokens))
	}
	t.entry = p
	t.until = now.Add(w.policy.MaxDuration)
	if end := t.issuer.Until; !end.IsZero() && end.Before(t.until) {
		t.until = end
	}
	t.deadline = now.Add(life)
	if t.until.Before(t.deadline) {
		t.deadline = t.until
	}
	p.tokens = append(p.tokens, t)
	s.tokens.add(t)
	return false, nil
}

func notFound(name string) error {
	return apierror.New(apierror.NotFound, "there is no workstation %q", clip(name))
}

func errReleased(id ID) error {
	return apierror.New(apierror.NotFound, "workstation %q was released", id.Name)
}

func tokensExceeded(id ID, live int) error {
	return apierror.New(apierror.WorkstationTokensExceeded,
		"workstation %q has %d live tokens; one must end or expire first", id.Name, live)
}

func errNotStarted() error {
	return apierror.New(apierror.StorageUnavailable, "the records of the workstations have not been read yet")
}

// clip bounds how much of a caller's text a message repeats.
func clip(s string) string {
	const most = 128
	if len(s) > most {
		return s[:most] + "…"
	}
	return s
}

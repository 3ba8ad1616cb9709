package desktop

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"strconv"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
)

// Options are what the caller of Issue may choose.
type Options struct {
	ViewOnly  *bool         // nil: the policy's
	Rules     SessionRules  // for its sessions, besides those of all other levels
	Shared    bool          // sessions of this token may be joined by others that are shared
	Once      bool          // the token dies with its first session's beginning
	Claim     Claim         // what its sessions do where the workstation is in use
	Guest     Guest         // it is for a guest of a session
	ExpiresIn time.Duration // until the first use, 1 s to max_duration; 0 = connect_within
	Client    netip.Addr    // of the caller, for the source of the workstation
}

// Issued is a new token. It is given out only here.
type Issued struct {
	Workstation string
	URL         string    // <token>.<domain>:<port>
	TokenID     string    // names the token in lists and logs; not secret
	ExpiresAt   time.Time // the end of the time for the first use
	Once        bool
	Guest       Guest
	Rules       SessionRules // of all levels; ViewOnly also where only the policy says so
	Shared      bool
}

// maxMints bounds the search for a token whose first characters are free: with
// 40 bits of them a second try is rare already.
const maxMints = 16

// Issue makes a token for the issuer's workstation. Its errors are: not_found (unknown, released,
// another tenant's, or the host of a guest has ended), workstation_denied, workstation_starting and
// source_unavailable by its source, invalid_value for expires_in, workstation_tokens_exceeded,
// workstation_guests_exceeded, workstation_occupied for a claim that cannot be met now,
// storage_unavailable before Start. Where randomness fails the error is none of them.
func (w *Service) Issue(by Issuer, name string, o Options) (Issued, error) {
	if !w.ready.Load() {
		return Issued{}, errNotStarted()
	}
	life := w.config.policy.ConnectWithin
	if o.ExpiresIn != 0 {
		if o.ExpiresIn < minLife || o.ExpiresIn > w.config.policy.MaxDuration {
			return Issued{}, apierror.New(apierror.InvalidValue, "expires_in is at least %s and at most %s",
				minLife, w.config.policy.MaxDuration).WithParam("expires_in")
		}
		life = o.ExpiresIn
	}
	id := ID{by.Tenant, name}
	at, err := w.Sources.ask(by, id, o, time.Time{})
	if err != nil {
		return Issued{}, err
	}
	known := w.config.rules(by, id, w.target(id), o.Rules)
	rules := known.Within(at.session())
	if err := w.config.policy.mayRecord(rules); err != nil {
		return Issued{}, err
	}
	o.Shared = o.Shared && !rules.NotShared || o.Guest.Host != "" // a guest shares with its host
	if err := w.mayClaim(by, name, o, rules); err != nil {
		return Issued{}, err
	}
	for range maxMints {
		secret, err := mint(w.random)
		if err != nil {
			return Issued{}, err
		}
		t := w.config.token(by, secret, o)
		t.Machine, t.Asked = at.machine, at.asked
		switch err := w.admitToken(t, id, life, rules.MaxDuration); {
		case errors.Is(err, errTaken):
		case errors.Is(err, errMoved):
			if at, err = w.Sources.ask(by, id, o, w.state.now()); err != nil {
				return Issued{}, err
			}
			rules = known.Within(at.session())
		case err != nil:
			return Issued{}, err
		default:
			rules = rules.Within(t.Rules) // a guest's has those of its host by now
			rules.ViewOnly = rules.ViewOnly || t.ViewOnly
			return Issued{
				Workstation: name,
				URL:         net.JoinHostPort(secret+"."+w.config.policy.Domain, strconv.Itoa(w.config.policy.Port)),
				TokenID:     t.Hash.id(),
				ExpiresAt:   t.Deadline,
				Once:        t.Once,
				Guest:       t.Guest,
				Rules:       rules,
				Shared:      t.Shared,
			}, nil
		}
	}
	return Issued{}, errors.New("randomness gives the same tokens again")
}

// token makes a token of a secret.
func (c *configuration) token(by Issuer, secret string, o Options) *Token {
	t := &Token{Issuer: by, ViewOnly: c.viewOnly(&o), Shared: o.Shared, Once: o.Once, Claim: o.Claim, Rules: o.Rules, Guest: o.Guest}
	t.Rules.Automation = 0 // it is not about sessions of persons, and gateways of older builds do not know it
	t.Hash, _ = hashOf(secret)
	if c.policy.VNCAuth {
		t.Prefix = secret[:prefixLength]
	}
	return t
}

func (c *configuration) viewOnly(o *Options) bool {
	if o.ViewOnly != nil {
		return *o.ViewOnly
	}
	return c.policy.ViewOnly
}

// mayClaim refuses a token whose claim cannot be met now: workstation_occupied. Join decides again.
func (w *Service) mayClaim(by Issuer, name string, o Options, rules SessionRules) error {
	if o.Claim == ByRule || o.Claim == TakeAny || o.Guest.Host != "" {
		return nil
	}
	open, err := w.Sessions(by.Tenant, name)
	if err != nil {
		return err
	}
	rule := w.config.policy.OnConflict
	shares := (o.Shared || rule == Share) && !rules.NotShared
	for i := range open {
		other := &open[i]
		if other.Guest.Host != "" { // it ends with its host
			continue
		}
		alone := rules.NotShared || other.Rules.NotShared
		beside, first := by.beside(Issuer{Key: other.Key, Agent: other.Role == RoleAgent}, alone)
		conflict, wins := o.Claim.over(rule, shares && other.Shared, alone, other.Key == by.Key)
		if !beside && !first && conflict && !wins {
			return errOccupied(by, name, open)
		}
	}
	return nil
}

// admitToken makes t live, unless another looks like it: errTaken.
func (w *Service) admitToken(t *Token, id ID, life, most time.Duration) error {
	ctx, cancel := message()
	defer cancel()
	err := w.issue(ctx, t, id, life, most)
	var refused *apierror.Error
	if errors.Is(err, errStale) || errors.As(err, &refused) && refused.Code == apierror.NotFound {
		switch away := w.state.catchUp(ctx); { // there may be news of another gateway
		case away == nil:
			err = w.issue(ctx, t, id, life, most)
		case refused == nil:
			return unavailable(away)
		}
	}
	switch {
	case err == nil:
		_, err = w.state.mayIssue(w.config, t.Issuer, id) // the configuration may have changed meanwhile
		return err
	case errors.Is(err, errTaken), errors.Is(err, errMoved), errors.As(err, &refused):
		return err
	case errors.Is(err, errStale):
		return errReleased(id)
	}
	return errNoStore(err)
}

// issue gives a token to the store. It and its sessions live for most (0: as the policy has it).
func (w *Service) issue(ctx context.Context, t *Token, id ID, life, most time.Duration) error {
	generation, err := w.state.mayIssue(w.config, t.Issuer, id)
	if err != nil {
		return err
	}
	s := w.state.sessions
	tried := false
	return s.update(ctx, id, func(c *Change) error {
		if tried && c.After.Token(t.Hash) != nil { // the answer of the first try was lost
			return nil
		}
		now := s.now()
		tried, t.Generation, t.Issued, t.Until = true, generation, now, now.Add(least(w.config.policy.MaxDuration, most))
		t.Deadline = now.Add(life)
		t.endAt(t.Issuer.Until)
		return c.After.issue(t, w.config.policy.MaxTokens, now)
	})
}

func notFound(name string) error {
	return apierror.New(apierror.NotFound, "there is no workstation %q", clip(name))
}

func errReleased(id ID) error {
	return apierror.New(apierror.NotFound, "workstation %q was released: PUT /v1/workstations/%s puts it in service again", id.Name, id.Name)
}

func tokensExceeded(id ID, live int) error {
	return apierror.New(apierror.WorkstationTokensExceeded,
		"workstation %q has %d live tokens; one must end or expire first", id.Name, live)
}

func errNoStore(err error) error {
	return apierror.New(apierror.StorageUnavailable, "what the gateways share about workstations cannot be read or changed now").WithCause(err)
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

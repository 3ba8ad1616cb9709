package authserver

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"go.uber.org/zap"
)

const (
	// claimLife is how long a gateway alone may claim a sign-in, ask the identity provider about
	// it, and keep what it says: one that has died in between does not end the sign-in. Clocks of
	// gateways differ by at most clockSkew.
	claimLife = storeTimeout + againTimeout + storeTimeout + clockSkew
	clockSkew = 2 * time.Second
	// claimWait bounds how long another one waits for that. It looks after claimPoll, and then
	// after pauses that double up to maxClaimPoll.
	claimWait    = againTimeout + time.Second
	claimPoll    = 50 * time.Millisecond
	maxClaimPoll = 400 * time.Millisecond
	// turnTimeout bounds how long a call waits for others with tokens of the same sign-in.
	turnTimeout = 5 * time.Second
)

var (
	// errClaimed says that another gateway asks.
	errClaimed = fmt.Errorf("%w: another gateway asks about the sign-in", ErrAway)
	// errNothing says that there is nothing to ask and to change.
	errNothing = errors.New("nothing is due")
)

// asker asks the identity provider again about sign-ins.
type asker struct {
	state    *State
	provider Provider
	keys     *secretKeys
	logger   *zap.Logger
}

// askAgain asks the identity provider whether the person of a sign-in may still come, if that is
// due, and then changes the sign-in. The functions due and then get it as it is; then returns what
// it becomes, and nil as then changes nothing. The error is one of then, or it wraps ErrGone,
// ErrRefused if the sign-in has ended now, or ErrUnavailable: ErrAway if the identity provider does
// not answer. The context bounds how long it waits for others of this gateway.
//
// Most identity providers take a refresh token once. Therefore one gateway asks at a time, and says
// so in the store before: the refusal that another one would get says nothing of the person.
//
//	gateway 1            store             gateway 2         identity provider
//	  | claim ------------>|                   |                     |
//	  |                    |<----------- claim |  claimed: waits     |
//	  | refresh token 1 -->|-------------------|-------------------->|
//	  |<-------------------|-------------------|-- refresh token 2 --|
//	  | token 2, no claim->|                   |                     |
//	  |                    |<----------- claim |  not due any more   |
func (s *asker) askAgain(ctx context.Context, id ID, due func(*SignIn) bool, then func(SignIn) (SignIn, error)) (err error) {
	end, err := s.state.refresh.take(ctx, id)
	if err != nil {
		return err
	}
	defer func() { end(err) }()
	ctx = context.WithoutCancel(ctx) // the identity provider may have given out its next token
	in, err := s.claim(ctx, id, due, then)
	if err != nil || in.Asked.IsZero() {
		return err
	}
	person, upstream, err := s.asked(ctx, &in)
	if errors.Is(err, ErrRefused) {
		return s.refused(ctx, &in, err)
	}
	kept := s.changeSignIn(ctx, id, func(current SignIn) (SignIn, error) {
		if current.Asked.Equal(in.Asked) {
			current.Asked = time.Time{}
			if upstream != nil {
				current.Upstream = upstream
			}
		}
		if err == nil { // the newest word, also if the claim was over
			current.Asked, current.Upstream, current.Person = time.Time{}, upstream, person
			if then != nil {
				return then(current)
			}
		}
		return current, nil
	})
	return errors.Join(err, kept)
}

// claim notes in the store that this gateway asks, if that is due: Asked is set in the result. If
// nothing is due, it makes the change of then, if there is one. It waits while another gateway
// asks.
func (s *asker) claim(ctx context.Context, id ID, due func(*SignIn) bool, then func(SignIn) (SignIn, error)) (in SignIn, err error) {
	ctx, cancel := context.WithTimeout(ctx, claimWait)
	defer cancel()
	for {
		err = s.changeSignIn(ctx, id, func(current SignIn) (SignIn, error) {
			claimed, busy := current.Asked, s.claimed(&current)
			current.Asked = time.Time{}
			switch in = current; {
			case !due(&current) && then == nil:
				return current, errNothing
			case !due(&current):
				current.Asked = claimed
				return then(current)
			case busy:
				return current, errClaimed
			}
			current.Asked = s.state.now()
			in = current
			return current, nil
		})
		if errors.Is(err, errNothing) {
			return in, nil
		}
		if !errors.Is(err, errClaimed) || !s.released(ctx, id) {
			return in, err
		}
	}
}

// claimed reports whether a gateway asks about a sign-in.
func (s *asker) claimed(in *SignIn) bool {
	return !in.Asked.IsZero() && s.state.now().Before(in.Asked.Add(claimLife))
}

// released waits until no gateway asks about a sign-in any more. It only reads: a store that a
// change locks has the answer of the other one to keep. It reports whether that was in time.
func (s *asker) released(ctx context.Context, id ID) bool {
	for pause := claimPoll; ; pause = min(2*pause, maxClaimPoll) {
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return false
		}
		row, err := s.state.get(ctx, id)
		if err != nil {
			return ctx.Err() == nil // the change says what is wrong
		}
		if in, err := signInOf(row); err != nil || !s.claimed(&in) {
			return true
		}
	}
}

// changeSignIn changes a sign-in that is good.
func (s *asker) changeSignIn(ctx context.Context, id ID, edit func(SignIn) (SignIn, error)) error {
	return s.state.change(ctx, id, func(row *Record) (Record, error) {
		in, err := signInOf(row)
		now := s.state.now()
		if err == nil && !in.Good(now) {
			err = ErrGone
		}
		if err == nil {
			in, err = edit(in)
		}
		if err != nil {
			return Record{}, err
		}
		return in.record(now)
	})
}

// asked asks the identity provider whether somebody may still come.
func (s *asker) asked(ctx context.Context, in *SignIn) (Person, []byte, error) {
	upstream, err := s.keys.unseal(in.ID, in.Upstream)
	if err != nil {
		return Person{}, nil, errors.Join(ErrRefused, err)
	}
	ctx, cancel := context.WithTimeout(ctx, againTimeout)
	defer cancel()
	person, next, err := s.provider.Again(ctx, in.Person, upstream)
	switch {
	case errors.Is(err, ErrUnavailable):
		return person, s.keys.seal(in.ID, next), fmt.Errorf("%w: %w", ErrAway, err)
	case err != nil:
		return person, nil, err
	case person.ID != in.Person.ID:
		return person, nil, errors.Join(ErrRefused, errors.New("it names somebody else"))
	}
	return person, s.keys.seal(in.ID, next), nil
}

// refused ends a sign-in that the identity provider refuses, and returns the reason. If the gateway
// was so slow that another one has asked meanwhile, the refused token was used already and says
// nothing: the error is ErrUnavailable then.
func (s *asker) refused(ctx context.Context, in *SignIn, reason error) error {
	_, err := s.state.endIf(ctx, in.ID, func(current *SignIn) error {
		if current.Good(s.state.now()) && !current.Asked.Equal(in.Asked) {
			return errClaimed
		}
		return nil
	})
	if errors.Is(err, errClaimed) {
		return err
	}
	s.logger.Info("a sign-in has ended: the identity provider does not let the person in any more, or no role is for them",
		zap.String("key", in.Person.ID), zap.NamedError("reason", reason), zap.Error(err))
	return reason
}

// current returns a sign-in, for which the identity provider is asked again if the configuration
// has changed by which the person has a role. The errors are those of askAgain.
func (s *asker) current(ctx context.Context, in *SignIn) error {
	old := func(in *SignIn) bool {
		return !s.provider.Still(in.Person) && slices.Contains(s.provider.Choices(), in.Person.Identity)
	}
	if !old(in) {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, turnTimeout)
	defer cancel()
	return s.askAgain(ctx, in.ID, old, nil)
}

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
	// claimLife is how long a gateway alone may ask the identity provider about a sign-in, and keep
	// what it says: one that has died in between does not end the sign-in.
	claimLife = againTimeout + storeTimeout
	// claimWait bounds how long another one waits for that, and claimPoll is how often it looks.
	claimWait = againTimeout + time.Second
	claimPoll = 50 * time.Millisecond
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

// askAgain changes a sign-in, for which the identity provider is asked before, if that is due,
// whether the person may still come. Due and then get the sign-in as it is; then returns what it
// becomes, nil: nothing else changes. The error is one of then, or wraps ErrGone; ErrRefused: the
// sign-in has ended; or ErrUnavailable, and ErrAway if that is the identity provider. The context
// bounds how long it waits for others of this gateway.
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
			if upstream != nil || err == nil {
				current.Upstream = upstream
			}
		}
		if err == nil {
			current.Person = person
			if then != nil {
				return then(current)
			}
		}
		return current, nil
	})
	return errors.Join(err, kept)
}

// claim notes that this gateway asks, if that is due; else it does what is to be done then, and
// Asked is zero in the result. It waits while another one asks.
func (s *asker) claim(ctx context.Context, id ID, due func(*SignIn) bool, then func(SignIn) (SignIn, error)) (in SignIn, err error) {
	ctx, cancel := context.WithTimeout(ctx, claimWait)
	defer cancel()
	for {
		err = s.changeSignIn(ctx, id, func(current SignIn) (SignIn, error) {
			now, claimed := s.state.now(), current.Asked
			current.Asked = time.Time{}
			switch in = current; {
			case !due(&current) && then == nil:
				return current, errNothing
			case !due(&current):
				current.Asked = claimed
				return then(current)
			case now.Before(claimed.Add(claimLife)):
				return current, errClaimed
			}
			current.Asked = now
			in = current
			return current, nil
		})
		if errors.Is(err, errNothing) {
			return in, nil
		}
		if !errors.Is(err, errClaimed) {
			return in, err
		}
		select {
		case <-time.After(claimPoll):
		case <-ctx.Done():
			return in, err
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

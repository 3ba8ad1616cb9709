package authserver

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"go.uber.org/zap"
)

// attempt is a client that waits for a person to sign in: at a page where the person has typed the
// code of the client (RFC 8628), or at the page to which the client has sent the browser (RFC 6749,
// section 4.1).
//
//	waits ---> approved ---> used    the client has its tokens
//	  +------> denied
type attempt struct {
	Code     Sum       `json:"code"`      // the SHA-256 of the device code, or of the code once it is approved
	User     string    `json:"user_code"` // XXXX-XXXX; of a browser: random
	Client   string    `json:"client"`
	Address  string    `json:"address"`
	Created  time.Time `json:"created"`
	Ends     time.Time `json:"-"`
	Step     step      `json:"step"`
	Person   Person    `json:"person"`             // once it is approved
	Upstream []byte    `json:"upstream,omitempty"` // the refresh token of the identity provider, encrypted
	Grant    Grant     `json:"grant,omitzero"`
	Back     *back     `json:"back,omitempty"` // nil: the client asks for itself whether it is approved
}

// step is how far an attempt is.
type step string

const (
	waits    step = "waits"
	approved step = "approved"
	denied   step = "denied"
	used     step = "used"
)

func attemptOf(r *Record, now time.Time) (a attempt, err error) {
	if r == nil || r.Kind != kindAttempt || !now.Before(r.Ends) {
		return a, ErrGone
	}
	err = json.Unmarshal(r.Body, &a)
	a.Ends = r.Ends
	return a, err
}

func (a attempt) record(id ID) (Record, error) {
	body, err := json.Marshal(a)
	return Record{ID: id, Kind: kindAttempt, Ends: a.Ends, Body: body}, err
}

// step changes an attempt that has not ended.
func (s *State) step(ctx context.Context, id ID, edit func(*attempt) error) error {
	return s.change(ctx, id, func(r *Record) (Record, error) {
		a, err := attemptOf(r, s.now())
		if err == nil {
			err = edit(&a)
		}
		if err != nil {
			return Record{}, err
		}
		return a.record(id)
	})
}

// errUsed says that a code was used before.
var errUsed = errors.New("the code was used before")

// redeem uses an attempt that is approved, and returns it with the refresh token of the identity
// provider. The error is ErrGone, errUsed with the attempt, that of may, or says that the store is
// away.
func redeem(ctx context.Context, s *Server, id ID, sum Sum, may func(*attempt) error) (a attempt, upstream string, err error) {
	err = s.state.step(ctx, id, func(now *attempt) error {
		a = *now
		switch {
		case now.Code != sum:
			return ErrGone
		case now.Step == used:
			return errUsed
		case now.Step != approved:
			return ErrGone
		}
		if err := may(now); err != nil {
			return err
		}
		if now.Upstream != nil {
			var err error
			if upstream, err = s.keys.unseal(id, now.Upstream); err != nil { // its key is gone
				return ErrGone
			}
		}
		now.Step, now.Upstream, now.Ends = used, nil, s.state.now().Add(codeLife)
		return nil
	})
	return a, upstream, err
}

// begin makes a sign-in with its ID and its first tokens, unless it has ended before. Created is
// when the client has asked for it.
func begin(ctx context.Context, s *Server, in SignIn, upstream string) (*issued, error) {
	denied := accessDenied
	if in.Grant.Client != (Sum{}) { // RFC 6749, 5.2, knows no access_denied; RFC 8628, 3.5, does
		denied = invalidGrant
	}
	if s.state.Blocked(in.Person.ID) {
		return nil, badRequest(denied, "the gateway's operator keeps this person out")
	}
	if s.state.Over(in.Person.ID, in.Created) {
		return nil, badRequest(denied, "the gateway's operator has ended this sign-in; sign in again")
	}
	makeRoom(ctx, s.state, in.Person.Hash, in.Grant.Resource != "")
	now := s.state.now()
	in.Created, in.Refreshed = now, now
	in.Upstream = s.keys.seal(in.ID, upstream)
	in.Ends = now.Add(s.config.RefreshLife)
	if upstream == "" { // nobody could be asked whether the person may still come
		in.Ends = now.Add(s.config.TokenLife)
	}
	out := s.issue(&in, now)
	if upstream != "" {
		var sum Sum
		out.Refresh, sum = s.keys.newToken(refreshPrefix, in.ID)
		in.Refresh = []Sum{sum}
	}
	in.Access = []accessToken{out.access}
	err := s.state.change(ctx, in.ID, func(before *Record) (Record, error) {
		if before != nil {
			return Record{}, ErrGone
		}
		return in.record(now)
	})
	if err != nil {
		return nil, err
	}
	s.logger.Info("somebody has signed in", zap.String("key", in.Person.ID), zap.String("role", in.Person.Role), zap.String("client", in.Client))
	return out, nil
}

package authserver

import (
	"bytes"
	"context"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"time"

	"go.uber.org/zap"
)

// grants are those of the token endpoint.
var grants = map[string]func(*Server, *http.Request, url.Values) (*issued, error){
	codeGrant:    exchangeCode,
	deviceGrant:  exchangeDevice,
	refreshGrant: (*Server).renew,
}

const (
	codeGrant    = "authorization_code"
	deviceGrant  = "urn:ietf:params:oauth:grant-type:device_code"
	refreshGrant = "refresh_token"
)

// issued is the answer of the token endpoint.
type issued struct {
	Access  string `json:"access_token"`
	Type    string `json:"token_type"`
	Expires int    `json:"expires_in"`
	Refresh string `json:"refresh_token,omitempty"`
	// Scope has the rights of a client that has named itself.
	Scope string `json:"scope,omitempty"`
	// Email is whom Claude Code shows as who has signed in, and asks to confirm. Clients that have
	// named themselves may be strangers.
	Email string `json:"email,omitempty"`

	access accessToken
}

// ServeToken is the token endpoint.
func (s *Server) ServeToken(w http.ResponseWriter, r *http.Request) {
	form, err := s.clientForm(r)
	var out *issued
	if err == nil {
		if grant := grants[form.Get("grant_type")]; grant != nil {
			out, err = grant(s, r, form)
		} else {
			err = badRequest(unsupportedGrant, "want grant_type "+codeGrant+", "+deviceGrant+" or "+refreshGrant)
		}
	}
	if err != nil {
		s.write(w, err)
		return
	}
	writeJSON(w, http.StatusOK, out)
}

// issue makes an access token of a sign-in.
func (s *Server) issue(in *SignIn, now time.Time) *issued {
	until := now.Add(s.config.TokenLife)
	if in.Ends.Before(until) {
		until = in.Ends
	}
	out := &issued{Type: "Bearer", Expires: int(until.Sub(now) / time.Second), Scope: strings.Join(in.Grant.Scopes, " ")}
	if in.Grant.Client == (Sum{}) {
		out.Email = in.Person.Name
	}
	out.access.Until = until
	out.Access, out.access.Sum = s.keys.newToken(accessPrefix, in.ID)
	return out
}

// signInAgain is the refusal of a refresh token. Claude Code asks its person to sign in at this
// status; other clients know 400 (RFC 6749, section 5.2).
func signInAgain(form url.Values, text string) *refusal {
	r := badRequest(invalidGrant, text)
	if form.Get("client_id") == "" {
		r.status = http.StatusUnauthorized
	}
	return r
}

// renew gives out new tokens for a refresh token, if the identity provider still lets the person
// in.
func (s *Server) renew(r *http.Request, form url.Values) (*issued, error) {
	id, sum, ok := s.keys.parse(refreshPrefix, form.Get("refresh_token"))
	if !ok {
		return nil, signInAgain(form, "the refresh_token is not one of this gateway; sign in again")
	}
	defer s.state.refresh.take(id)()
	ctx := context.WithoutCancel(r.Context()) // the identity provider may have given out its next token
	in, used, err := s.renewable(ctx, id, sum)
	if errors.Is(err, ErrGone) {
		return nil, signInAgain(form, "the sign-in has ended; sign in again")
	}
	if err == nil {
		err = in.Grant.same(s.config.Origin, form)
	}
	if err != nil {
		return nil, err
	}
	person, upstream := in.Person, in.Upstream
	if used == good { // else it was asked a moment ago
		person, upstream, err = s.asked(ctx, &in)
	}
	if errors.Is(err, ErrRefused) {
		person, err = s.refused(ctx, &in, sum, err)
		used = again
	}
	switch {
	case errors.Is(err, ErrRefused):
		return nil, signInAgain(form, "the identity provider does not let you in any more, or no role is for you; sign in again, or ask the operator")
	case err != nil:
		return nil, errors.Join(err, s.keepUpstream(ctx, id, upstream))
	}
	now := s.state.now()
	in.Person = person
	out := s.issue(&in, now)
	refresh, refreshSum := s.keys.newToken(refreshPrefix, id)
	err = s.state.change(ctx, id, func(row *Record) (Record, error) {
		current, err := signInOf(row)
		if err != nil {
			return Record{}, err
		}
		use := current.use(sum, now)
		if !current.Good(now) || use == unknown {
			return Record{}, ErrGone
		}
		if use == again && len(current.Refresh) >= maxTokens { // none that was given out may be forgotten: it would seem used twice
			const text = "many processes refresh with the same refresh_token; try again in a second"
			return Record{}, &refusal{http.StatusTooManyRequests, slowDown, text, time.Second}
		}
		current.Person = person
		if used == good {
			current.Upstream = upstream
		}
		return current.renewed(out.access, refreshSum, use, now).record(now)
	})
	if errors.Is(err, ErrGone) {
		return nil, signInAgain(form, "the sign-in has ended; sign in again")
	}
	out.Refresh = refresh
	return out, err
}

// renewable returns the sign-in of a refresh token, and what that is to it. One that was used
// before ends the sign-in: somebody else may have it. The error is ErrGone if it has ended.
func (s *Server) renewable(ctx context.Context, id ID, sum Sum) (in SignIn, used use, err error) {
	row, err := s.state.get(ctx, id)
	if err != nil {
		return in, unknown, err
	}
	if in, err = signInOf(row); err != nil {
		return in, unknown, err
	}
	now := s.state.now()
	if used = in.use(sum, now); !in.Good(now) {
		return in, used, ErrGone
	}
	if blocked := s.state.Over(in.Person.ID, in.Created); used == unknown || blocked {
		_, err := s.state.endOne(ctx, id)
		s.logger.Warn("a sign-in was ended: an operator has ended it, or a refresh token was used twice, so that somebody else may have it",
			zap.String("key", in.Person.ID), zap.Bool("blocked", blocked), zap.Error(err))
		return in, used, errors.Join(ErrGone, err)
	}
	return in, used, nil
}

// asked asks the identity provider whether somebody may still come.
func (s *Server) asked(ctx context.Context, in *SignIn) (Person, []byte, error) {
	upstream, err := s.keys.unseal(in.ID, in.Upstream)
	if err != nil {
		return Person{}, nil, errors.Join(ErrRefused, err)
	}
	ctx, cancel := context.WithTimeout(ctx, againTimeout)
	defer cancel()
	person, next, err := s.provider.Again(ctx, in.Person, upstream)
	switch {
	case err != nil:
		return person, s.keys.seal(in.ID, next), err
	case person.ID != in.Person.ID:
		return person, nil, errors.Join(ErrRefused, errors.New("it names somebody else"))
	}
	return person, s.keys.seal(in.ID, next), nil
}

// refused ends a sign-in that the identity provider refuses, and returns the reason. If another
// gateway has asked meanwhile, the refused token was used already and says nothing: then refused
// returns the person as the other gateway has found it, or ErrUnavailable if it has not found it.
func (s *Server) refused(ctx context.Context, in *SignIn, sum Sum, reason error) (found Person, err error) {
	_, err = s.state.endIf(ctx, in.ID, func(current *SignIn) error {
		now := s.state.now()
		switch {
		case !current.Good(now) || bytes.Equal(current.Upstream, in.Upstream):
			return nil
		case current.use(sum, now) == good:
			return ErrUnavailable
		}
		found = current.Person
		return errMoved
	})
	switch {
	case errors.Is(err, errMoved):
		return found, nil
	case errors.Is(err, ErrUnavailable):
		return found, err
	}
	s.logger.Info("a sign-in has ended: the identity provider does not let the person in any more, or no role is for them",
		zap.String("key", in.Person.ID), zap.NamedError("reason", reason), zap.Error(err))
	return found, reason
}

var errMoved = errors.New("another gateway has refreshed the sign-in")

// keepUpstream keeps the next token of an identity provider that has given one out and then failed.
func (s *Server) keepUpstream(ctx context.Context, id ID, upstream []byte) error {
	if upstream == nil {
		return nil
	}
	return s.state.change(ctx, id, func(r *Record) (Record, error) {
		in, err := signInOf(r)
		if err == nil && !in.Good(s.state.now()) {
			err = ErrGone
		}
		in.Upstream = upstream
		if err != nil {
			return Record{}, err
		}
		return in.record(s.state.now())
	})
}

// ServeRevoke ends the sign-in of a token (RFC 7009). The answer is the same for a token that is
// not good.
func (s *Server) ServeRevoke(w http.ResponseWriter, r *http.Request) {
	form, err := readForm(r)
	if err != nil {
		s.write(w, err)
		return
	}
	for _, prefix := range []string{accessPrefix, refreshPrefix} {
		id, sum, ok := s.keys.parse(prefix, form.Get("token"))
		if !ok {
			continue
		}
		if err := s.revoke(r.Context(), id, sum); err != nil {
			s.write(w, err)
			return
		}
	}
	writeJSON(w, http.StatusOK, struct{}{})
}

func (s *Server) revoke(ctx context.Context, id ID, sum Sum) error {
	row, err := s.state.get(ctx, id)
	if err == nil {
		var in SignIn
		if in, err = signInOf(row); err == nil {
			_, access := in.has(sum)
			if access || in.use(sum, s.state.now()) != unknown {
				_, err = s.state.endOne(ctx, id)
			}
		}
	}
	if errors.Is(err, ErrGone) {
		return nil
	}
	return err
}

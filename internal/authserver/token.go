package authserver

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"slices"
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
	// Scope has the rights that a client which has named itself gets (RFC 6749, section 5.1).
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
	life := s.config.TokenLife
	if most := s.provider.MaxLife(in.Person.Identity); most > 0 {
		life = min(life, most)
	}
	until := now.Add(life)
	if in.Ends.Before(until) {
		until = in.Ends
	}
	out := &issued{Type: "Bearer", Expires: int(until.Sub(now) / time.Second), Scope: strings.Join(s.given(in.Grant, in.Person.Role), " ")}
	if in.Grant.Client == (Sum{}) {
		out.Email = in.Person.Name
	}
	out.access.Until = until
	out.Access, out.access.Sum = s.keys.newToken(accessPrefix, in.ID)
	return out
}

// given returns the rights of a grant that a role has.
func (s *Server) given(g Grant, role string) []string {
	has := s.provider.Rights(role)
	return slices.DeleteFunc(slices.Clone(g.Scopes), func(scope string) bool { return !slices.Contains(has, scope) })
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
func (s *Server) renew(r *http.Request, form url.Values) (out *issued, err error) {
	id, sum, ok := s.keys.parse(refreshPrefix, form.Get("refresh_token"))
	if !ok {
		return nil, signInAgain(form, "the refresh_token is not one of this gateway; sign in again")
	}
	err = s.renewable(r.Context(), id, sum, form)
	if err == nil {
		due := func(in *SignIn) bool { return in.use(sum, s.state.now()) == good } // else it was asked a moment ago
		err = s.again.askAgain(r.Context(), id, due, func(in SignIn) (SignIn, error) {
			out, in, err = s.renewed(in, sum)
			return in, err
		})
	}
	switch {
	case errors.Is(err, ErrGone):
		return nil, signInAgain(form, "the sign-in has ended; sign in again")
	case errors.Is(err, ErrRefused):
		return nil, signInAgain(form, "the identity provider does not let you in any more, or no role is for you; sign in again, or ask the operator")
	}
	return out, err
}

// renewed returns new tokens of a sign-in for a refresh token, and the sign-in with them.
func (s *Server) renewed(in SignIn, sum Sum) (*issued, SignIn, error) {
	now := s.state.now()
	use := in.use(sum, now)
	switch {
	case use == unknown:
		return nil, in, ErrGone
	case use == again && len(in.Refresh) >= maxTokens: // none that was given out may be forgotten: it would seem used twice
		const text = "many processes refresh with the same refresh_token; try again in a second"
		return nil, in, &refusal{http.StatusTooManyRequests, slowDown, text, time.Second}
	}
	out := s.issue(&in, now)
	var next Sum
	out.Refresh, next = s.keys.newToken(refreshPrefix, in.ID)
	return out, in.renewed(out.access, next, use, now), nil
}

// renewable ends the sign-in of a refresh token that was used before: somebody else may have it.
// The error is ErrGone if it has ended, or says that the request is for another client or resource.
func (s *Server) renewable(ctx context.Context, id ID, sum Sum, form url.Values) error {
	row, err := s.state.get(ctx, id)
	if err != nil {
		return err
	}
	in, err := signInOf(row)
	if err != nil {
		return err
	}
	now := s.state.now()
	if !in.Good(now) {
		return ErrGone
	}
	if blocked := s.state.Over(in.Person.ID, in.Created); in.use(sum, now) == unknown || blocked {
		_, err := s.state.endOne(ctx, id)
		s.logger.Warn("a sign-in was ended: an operator has ended it, or a refresh token was used twice, so that somebody else may have it",
			zap.String("key", in.Person.ID), zap.Bool("blocked", blocked), zap.Error(err))
		return errors.Join(ErrGone, err)
	}
	return in.Grant.same(s.config.Origin, form)
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

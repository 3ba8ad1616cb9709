package authserver

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"go.uber.org/zap"
)

const (
	// answerLife is how long a code is good: the browser brings it to the client at once.
	answerLife = time.Minute
	// maxState bounds what a client gives a browser to bring back, in bytes.
	maxState = 2 << 10
	// verifierLeast and verifierMost bound the verifier of a client (RFC 7636, section 4.1).
	verifierLeast, verifierMost = 43, 128
)

// back is how a browser returns to a client.
type back struct {
	Redirect  string `json:"redirect"`
	State     string `json:"state,omitempty"`
	Challenge string `json:"challenge"` // the SHA-256 of the verifier, in base64url (RFC 7636)
}

// with returns the address of the client with an answer, and who gives it (RFC 9207).
func (b *back) with(issuer string, answer ...string) string {
	u, err := url.Parse(b.Redirect)
	if err != nil {
		return issuer // it was parsed when the client was found
	}
	q := u.Query()
	q.Set("iss", issuer)
	if b.State != "" {
		q.Set("state", b.State)
	}
	for i := 0; i+1 < len(answer); i += 2 {
		q.Set(answer[i], answer[i+1])
	}
	u.RawQuery = q.Encode()
	return u.String()
}

// wish is what a client asks for that has sent a browser.
type wish struct {
	client client
	back   back
	grant  Grant
}

// wishOf reads the query of an authorization request. Without an error, or with one after which
// back.Redirect is set, the client is known and its address is one of its own.
func wishOf(ctx context.Context, s *Server, q url.Values, a addresses) (w wish, err error) {
	if w.client, err = s.clients.find(ctx, q.Get("client_id"), a); err != nil {
		return w, err
	}
	redirect, err := w.client.redirect(q.Get("redirect_uri"))
	if err != nil {
		return w, err
	}
	w.back = back{Redirect: redirect, State: q.Get("state"), Challenge: q.Get("code_challenge")}
	challenge, err := base64.RawURLEncoding.Strict().DecodeString(w.back.Challenge)
	var ok bool
	w.grant = Grant{Client: sha256.Sum256([]byte(w.client.id))}
	w.grant.Resource, ok = resourceAt(s.config.Origin, q.Get("resource"))
	w.grant.Scopes = scopesOf(s.config.Scopes, w.grant.Resource, strings.Fields(q.Get("scope")))
	switch {
	case len(w.back.State) > maxState:
		w.back.State = ""
		return w, badRequest(invalidRequest, "the state is longer than 2 KiB")
	case q.Get("response_type") != "code":
		return w, badRequest("unsupported_response_type", "want response_type=code")
	case q.Get("code_challenge_method") != "S256" || err != nil || len(challenge) != sha256.Size:
		return w, badRequest(invalidRequest, "want a code_challenge with code_challenge_method=S256 (RFC 7636)")
	case !ok:
		return w, badRequest(invalidTarget, "want "+s.config.Origin+MCPPath+"NAME as the resource, or "+s.config.Origin)
	case len(w.grant.Scopes) == 0:
		return w, badRequest("invalid_scope", "want some of the scopes "+strings.Join(s.config.Scopes, " "))
	}
	return w, nil
}

// scopesOf returns the rights that a client gets of those it asks for. What is not known is left
// out (RFC 6749, section 3.3).
func scopesOf(all []string, resource string, asked []string) []string {
	switch {
	case resource != "":
		return []string{ResourceScope}
	case len(asked) == 0:
		return all
	}
	return slices.DeleteFunc(slices.Clone(all), func(scope string) bool { return !slices.Contains(asked, scope) })
}

// exchangeCode gives out the tokens for a code. One that is used twice ends the sign-in: somebody
// else may have it (RFC 6749, section 4.1.2).
func exchangeCode(s *Server, r *http.Request, form url.Values) (*issued, error) {
	id, sum, ok := s.keys.parse(codePrefix, form.Get("code"))
	if !ok {
		return nil, badRequest(invalidGrant, "the code is not one of this gateway")
	}
	signIn := idOf(kindSignIn, string(id[:]))
	a, upstream, err := redeem(r.Context(), s, id, sum, func(a *attempt) error { return a.mayRedeem(s.config.Origin, form) })
	switch {
	case errors.Is(err, errUsed):
		err = endOrPrevent(r.Context(), s.state, SignIn{ID: signIn, Person: a.Person})
		s.logger.Warn("a sign-in was ended: its code was used twice, so that somebody else may have it", zap.String("key", a.Person.ID), zap.Error(err))
		return nil, badRequest(invalidGrant, "the code was used before, and what it was for has ended; sign in again")
	case errors.Is(err, ErrGone):
		return nil, badRequest(invalidGrant, "the code has ended; sign in again")
	case err != nil:
		return nil, err
	}
	in := SignIn{ID: signIn, Person: a.Person, Client: a.Client, Grant: a.Grant, Address: a.Address, Created: a.Created}
	out, err := begin(r.Context(), s, in, upstream)
	if errors.Is(err, ErrGone) {
		return nil, badRequest(invalidGrant, "the code was used twice; sign in again")
	}
	return out, err
}

// mayRedeem checks that who brings a code is the client that it was given to.
func (a *attempt) mayRedeem(origin string, form url.Values) error {
	verifier := form.Get("code_verifier")
	sum := sha256.Sum256([]byte(verifier))
	challenge := base64.RawURLEncoding.EncodeToString(sum[:])
	switch {
	case a.Back == nil:
		return ErrGone
	case form.Get("redirect_uri") != a.Back.Redirect && form.Has("redirect_uri"):
		return badRequest(invalidGrant, "the redirect_uri is another one than that of the code")
	case len(verifier) < verifierLeast || len(verifier) > verifierMost || subtle.ConstantTimeCompare([]byte(challenge), []byte(a.Back.Challenge)) != 1:
		return badRequest(invalidGrant, "the code_verifier is not that of the code_challenge")
	}
	return a.Grant.same(origin, form)
}

// same refuses a request for tokens by another client, or for another resource.
func (g Grant) same(origin string, form url.Values) error {
	resource, ok := resourceAt(origin, form.Get("resource"))
	switch {
	case g.Client != (Sum{}) && sha256.Sum256([]byte(form.Get("client_id"))) != g.Client:
		return badRequest(invalidGrant, "it belongs to another client_id")
	case form.Get("resource") != "" && (!ok || resource != g.Resource):
		return badRequest(invalidTarget, "it is good for "+origin+g.Resource+" alone")
	}
	return nil
}

// endOrPrevent ends a sign-in, which may only be about to begin.
func endOrPrevent(ctx context.Context, s *State, in SignIn) error {
	return s.change(ctx, in.ID, func(r *Record) (Record, error) {
		now := s.now()
		if found, err := signInOf(r); err == nil {
			in = found
		} else {
			in.Ends = now.Add(toldFor)
		}
		return in.over().record(now)
	})
}

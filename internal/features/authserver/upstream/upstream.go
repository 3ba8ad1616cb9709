// Package upstream has people who sign in to programs sign in at the identity providers of the
// configuration.
package upstream

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"go.uber.org/zap"

	"github.com/gatehouse-proxy/gatehouse/internal/authserver"
	browsers "github.com/gatehouse-proxy/gatehouse/internal/features/signin"
	"github.com/gatehouse-proxy/gatehouse/internal/gateway"
	"github.com/gatehouse-proxy/gatehouse/internal/identity"
	"github.com/gatehouse-proxy/gatehouse/internal/signin"
)

// CallbackPath is where browsers come back to.
const CallbackPath = signin.CallbackPath

// Purpose is that of sign-ins which are for a program that waits; their data is its code.
const Purpose = "device"

// Provider is the identity providers. It implements [authserver.Provider].
type Provider struct {
	at      *browsers.SignIns
	rights  func(role string) []string
	sampled func() *zap.Logger
}

// New returns those of the feature by which people sign in there, with the rights of roles.
func New(c gateway.Core, signIns gateway.Feature, rights func(role string) []string) Provider {
	return Provider{signIns.Offers.(*browsers.SignIns), rights, c.Requests.Sampled}
}

// Choices implements [authserver.Provider].
func (p Provider) Choices() []string { return p.at.Names() }

// Begin implements [authserver.Provider].
func (p Provider) Begin(w http.ResponseWriter, r *http.Request, identity, code string) (string, error) {
	err := p.at.Begin(headerOnly{w}, r, identity, signin.Next{Purpose: Purpose, Data: code})
	if errors.Is(err, signin.ErrUnavailable) {
		err = fmt.Errorf("%w: %w", authserver.ErrUnavailable, err)
	}
	location := w.Header().Get("Location")
	w.Header().Del("Location")
	w.Header().Del("Content-Type")
	return location, err
}

// headerOnly takes a redirect for what a page does later: a browser that has sent a form is not let
// go to another site by the answer (form-action of Content Security Policy).
type headerOnly struct{ http.ResponseWriter }

func (headerOnly) WriteHeader(int)                {}
func (headerOnly) Write(text []byte) (int, error) { return len(text), nil }

// Rights implements [authserver.Provider].
func (p Provider) Rights(role string) []string { return p.rights(role) }

// Again implements [authserver.Provider].
func (p Provider) Again(ctx context.Context, of authserver.Person, refresh string) (authserver.Person, string, error) {
	result, err := p.at.Again(ctx, of.Identity, of.ID, refresh)
	switch {
	case err == nil:
		return personIn(result), result.Refresh, nil
	case away(err):
		return authserver.Person{}, result.Refresh, fmt.Errorf("%w: %w", authserver.ErrUnavailable, err)
	}
	return authserver.Person{}, "", fmt.Errorf("%w: %w", authserver.ErrRefused, err)
}

// Still implements [authserver.Provider]. Of people of an earlier version nothing is known before
// the next refresh.
func (p Provider) Still(of authserver.Person) bool {
	return of.By == "" || signin.Issuers(p.at.SignIns).Still(identity.Person{By: of.By})
}

// MaxLife implements [authserver.Provider].
func (p Provider) MaxLife(of string) time.Duration {
	return identity.MaxLife(signin.Issuers(p.at.SignIns), of)
}

func away(err error) bool {
	return errors.Is(err, signin.ErrUnavailable) || errors.Is(err, identity.ErrUnavailable)
}

func personIn(r signin.Result) authserver.Person {
	p := r.Person
	return authserver.Person{ID: p.ID, Hash: p.Hash, Name: p.Name, Identity: r.Identity, Role: p.Role, By: p.By}
}

// Finish ends the sign-in of a browser that comes back, at the pages.
func (p Provider) Finish(w http.ResponseWriter, r *http.Request, pages *authserver.Pages) {
	next, ok := p.at.Of(r)
	if !ok || next.Purpose != Purpose {
		pages.Refuse(w, r, "", authserver.ErrGone, "This browser has begun no such sign-in, or over ten minutes ago, or has finished it. Begin again there.")
		return
	}
	result, err := p.at.Finish(w, r)
	if err == nil {
		pages.Finish(w, r, next.Data, personIn(result), result.Refresh)
		return
	}
	var refused *signin.RefusedError
	var none *identity.NoRoleError
	cause, text := authserver.ErrRefused, "What the identity provider says of you is not valid. Try again, or ask the operator, whose log has the cause."
	switch {
	case errors.As(err, &none):
		p.sampled().Info("somebody who has signed in has no role", zap.String("identity", none.Issuer), zap.String("claims", none.Seen))
		text = "You have signed in, and no role of this gateway is for you. Ask its operator."
	case errors.As(err, &refused):
		text = "The identity provider has refused the sign-in (" + refused.Code + "). Try again, or ask the operator of the gateway."
	case away(err):
		cause, text = authserver.ErrUnavailable, "The identity provider does not answer now. Begin again in the program in a minute."
	}
	if none == nil {
		p.sampled().Warn("a sign-in at an identity provider failed", zap.String("identity", result.Identity), zap.Error(err))
	}
	pages.Refuse(w, r, next.Data, cause, text)
}

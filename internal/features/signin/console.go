package signin

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"time"

	"go.uber.org/zap"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/gateway"
	ids "github.com/gatehouse-proxy/gatehouse/internal/identity"
	"github.com/gatehouse-proxy/gatehouse/internal/request"
	"github.com/gatehouse-proxy/gatehouse/internal/signin"
)

const (
	// atConsole is the purpose of sign-ins at a console.
	atConsole = "console"
	// sealedGrant is what refresh tokens of sessions are encrypted for.
	sealedGrant = "session of the console"

	// early is the share of a sign-in, a sixth, that is left when the identity provider is asked
	// again: it may be away that long, ten minutes of an hour.
	early = 6
	// askAgain is how soon it is asked once more that did not answer.
	askAgain = 30 * time.Second
)

// grant is what a session of a console keeps of a sign-in.
type grant struct {
	Identity string     `json:"i"`
	Person   ids.Person `json:"p"`
	Refresh  string     `json:"r,omitempty"` // of the identity provider, encrypted
	Ask      time.Time  `json:"a"`           // when it is asked again
	Began    time.Time  `json:"b"`           // when somebody has signed in
}

// Console signs people in at the consoles of a configuration.
type Console struct{ signIns *SignIns }

// ConsoleFeature lets people sign in at consoles.
func ConsoleFeature(signIns gateway.Feature) gateway.Feature {
	return gateway.Feature{Offers: &Console{signIns.Offers.(*SignIns)}}
}

// Names are those of the identities where people can sign in.
func (c *Console) Names() []string { return c.signIns.Names() }

func (c *Console) grantOf(result *signin.Result) grant {
	ends := result.Person.Ends
	g := grant{Identity: result.Identity, Person: result.Person, Ask: ends.Add(-ends.Sub(c.now()) / early)}
	c.keep(&g, result.Refresh)
	return g
}

func (c *Console) keep(g *grant, refresh string) {
	if g.Refresh = ""; refresh != "" {
		g.Refresh = c.signIns.Sealer().Seal(sealedGrant, refresh)
	}
}

func (g *grant) text() string {
	text, _ := json.Marshal(g) // of texts and times
	return string(text)
}

// at returns the sign-ins at an origin, "" for that of the configuration.
func (c *Console) at(origin string) *signin.SignIns {
	if origin == "" {
		return c.signIns.SignIns
	}
	return c.signIns.At(origin)
}

// BeginSignIn sends the browser to an identity provider.
func (c *Console) BeginSignIn(w http.ResponseWriter, r *http.Request, origin, name, page string) error {
	return c.refusal(name, c.at(origin).Begin(w, r, name, signin.Next{Purpose: atConsole, Data: page}))
}

// SignInEnds reports whether a request ends a sign-in at a console, or none that is known.
func (c *Console) SignInEnds(r *http.Request, origin string) bool {
	if r.URL.Path != signin.CallbackPath || r.Method != http.MethodGet {
		return false
	}
	next, known := c.at(origin).Of(r)
	return !known || next.Purpose == atConsole
}

// FinishSignIn returns who has signed in at a console, what is to be kept of it, and the page where
// the browser goes on. With a refusal the caller has the name of the person, if that is known.
func (c *Console) FinishSignIn(w http.ResponseWriter, r *http.Request, origin string) (caller request.Caller, kept, page string, err error) {
	result, err := c.at(origin).Finish(w, r)
	page, caller.User = result.Next.Data, result.Person.Name
	if err != nil {
		return caller, "", page, c.refusal(result.Identity, err)
	}
	if caller, err = c.signIns.Caller(result.Person); err != nil {
		return caller, "", page, err
	}
	g := c.grantOf(&result)
	g.Began = c.now()
	return caller, g.text(), page, nil
}

// SignedIn returns who has signed in by what was kept. It asks the identity provider again before
// the sign-in ends. If renewed is not "", it is to be kept instead, also with an error.
func (c *Console) SignedIn(ctx context.Context, kept string) (caller request.Caller, renewed string, err error) {
	var g grant
	if err := json.Unmarshal([]byte(kept), &g); err != nil {
		return caller, "", over()
	}
	if ended := c.signIns.people.Over; ended != nil && ended(g.Person.ID, g.Began) {
		return caller, "", over()
	}
	if c.asks(&g) {
		if renewed, err = c.ask(ctx, &g); err != nil {
			return caller, renewed, err
		}
	}
	if g.Refresh != "" && !c.now().Before(g.Person.Ends) { // it was asked in vain, and soon is again
		return caller, renewed, c.refusal(g.Identity, signin.ErrUnavailable)
	}
	caller, err = c.signIns.Caller(g.Person)
	return caller, renewed, err
}

// asks reports whether it is time to ask the identity provider again, and whether that is possible.
func (c *Console) asks(g *grant) bool {
	return g.Refresh != "" && !c.now().Before(g.Ask)
}

// ask asks the identity provider again. While it does not answer, the sign-in goes on to its end.
func (c *Console) ask(ctx context.Context, g *grant) (renewed string, err error) {
	refresh, ok := c.signIns.Sealer().Open(sealedGrant, g.Refresh)
	if !ok { // of a secret that is gone
		g.Refresh = ""
		return g.text(), nil
	}
	result, err := c.signIns.Again(ctx, g.Identity, g.Person.ID, refresh)
	switch {
	case err == nil:
		began := g.Began
		*g = c.grantOf(&result)
		g.Began = began
		return g.text(), nil
	case errors.Is(err, signin.ErrUnavailable):
		if result.Refresh != "" {
			c.keep(g, result.Refresh)
		}
		now := c.now()
		if g.Ask = now.Add(askAgain); now.Before(g.Person.Ends) {
			err = nil
		}
		return g.text(), c.refusal(g.Identity, err)
	}
	c.signIns.Ended(g.Person)
	return "", c.refusal(g.Identity, err)
}

func over() *apierror.Error {
	return apierror.New(apierror.InvalidAPIKey, "the sign-in is over: sign in again")
}

// refusal says to the person why there is no sign-in, and to the operator. Nil stays nil.
func (c *Console) refusal(name string, err error) error {
	var refused *signin.RefusedError
	var none *ids.NoRoleError
	log := c.signIns.core.Requests.Sampled().With(zap.String("identity", name))
	switch {
	case err == nil:
		return nil
	case errors.As(err, &none):
		log.Info("somebody who has signed in has no role", zap.String("claims", none.Seen))
		return apierror.New(apierror.NoRole, "you have signed in at %s, and no role of this gateway is for you: ask its operator", name)
	case errors.Is(err, signin.ErrUnavailable):
		log.Warn("an identity provider does not answer", zap.Error(err))
		return apierror.New(apierror.IdentityUnavailable, "%s does not answer, where you sign in; try again in a minute", name)
	case errors.As(err, &refused):
		log.Info("an identity provider has refused a sign-in", zap.Error(err))
		return apierror.New(apierror.InvalidAPIKey, "%s has refused the sign-in: %s", name, refused.Code)
	case errors.Is(err, signin.ErrNotBegun):
		return apierror.New(apierror.InvalidAPIKey, "this browser has begun no such sign-in, or finished it, or did not within ten minutes: begin again, at %s",
			c.signIns.Origin())
	case errors.Is(err, signin.ErrGone):
		log.Info("an identity provider has ended a sign-in", zap.Error(err))
		return over()
	}
	log.Warn("a sign-in is not valid", zap.Error(err))
	return apierror.New(apierror.InvalidAPIKey, "what %s says of the sign-in is not valid: begin again, and ask the operator if that does not help", name)
}

func (c *Console) now() time.Time { return c.signIns.core.Requests.Now() }

package console

import (
	"context"
	"net/http"
	"net/url"
	"time"

	"go.uber.org/zap"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/request"
	"github.com/gatehouse-proxy/gatehouse/internal/websession"
)

// People sign in at identity providers. Origin is where browsers see the console, "" for that of
// the gateway. Errors are refusals: their text is for the person.
type People interface {
	// Names are those of the identity providers.
	Names() []string
	// BeginSignIn sends the browser to one of them; page is where it goes on then.
	BeginSignIn(w http.ResponseWriter, r *http.Request, origin, name, page string) error
	// SignInEnds reports whether a request ends a sign-in at a console, or none that is known.
	SignInEnds(r *http.Request, origin string) bool
	// FinishSignIn returns who has signed in, what is to be kept of it, and the page.
	FinishSignIn(w http.ResponseWriter, r *http.Request, origin string) (caller request.Caller, grant, page string, err error)
	// SignedIn returns who has signed in by what was kept. It asks the identity provider again when
	// it is time; renewed, unless it is "", is to be kept instead then, also with an error.
	SignedIn(ctx context.Context, grant string) (caller request.Caller, renewed string, err error)
}

// Returns reports whether a request brings a browser back from an identity provider.
func (c *Console) Returns(r *http.Request) bool {
	return c.config.People != nil && !c.config.OnlyNamed && c.config.People.SignInEnds(r, c.config.Origin)
}

// elsewhere leads people to identity providers, and back.
type elsewhere struct{ guard *guard }

// begin sends the browser to an identity provider.
func (e elsewhere) begin(w http.ResponseWriter, r *http.Request) {
	g := e.guard
	if !g.begin(w, r) {
		return
	}
	back := r.URL.Query().Get("return")
	if g.config.People == nil || g.isNamed(r) || insideOtherSite(r) {
		http.Redirect(w, r, signInURL(nil), http.StatusSeeOther)
		return
	}
	if len(back) > maxReturn {
		back = ""
	}
	if err := g.config.People.BeginSignIn(w, r, g.config.Origin, r.PathValue("identity"), ownPath(back)); err != nil {
		e.stop(w, r, err, back)
	}
}

// maxReturn bounds the page that somebody comes back to, in bytes: it is in a cookie meanwhile.
const maxReturn = 900

// finish makes a session for whom an identity provider has signed in.
func (e elsewhere) finish(w http.ResponseWriter, r *http.Request) {
	g := e.guard
	if !g.begin(w, r) {
		return
	}
	caller, grant, page, err := g.config.People.FinishSignIn(w, r, g.config.Origin)
	if err != nil {
		g.config.Gateway.UserRefused(g.client(r), caller.User)
		e.stop(w, r, err, page)
		return
	}
	g.deleteSession(r) // a new sign-in has a new ID
	if _, err := g.signIn(w, r, sessionBy(&caller, grant)); err != nil {
		g.config.Gateway.Unavailable(true, err)
		g.stopSessionsAway(w, r)
		return
	}
	http.Redirect(w, r, ownPath(page), http.StatusSeeOther)
}

// stop says why somebody is not signed in, and leads back to the sign-in.
func (e elsewhere) stop(w http.ResponseWriter, r *http.Request, err error, page string) {
	query := url.Values{}
	if page != "" {
		query.Set("return", ownPath(page))
	}
	refusal := apierror.From(err)
	e.guard.stop(w, r, stopped{Status: refusal.HTTPStatus(), Title: "Not signed in", Text: refusal.Message, Back: signInURL(query)})
}

func sessionBy(caller *request.Caller, grant string) websession.Session {
	return websession.Session{Tenant: caller.Tenant, Key: caller.Name, KeyHash: caller.SecretHash(), Grant: grant}
}

// callerOf returns the caller of a session, as the key is now, or as the identity provider has last
// said. The error is that of [Gateway.CallerOf].
func callerOf(ctx context.Context, config *Config, id string, s *websession.Session) (request.Caller, error) {
	if s.Grant == "" {
		return config.Gateway.CallerOf(s.Tenant, s.Key, s.KeyHash)
	}
	if config.People == nil {
		return request.Caller{}, apierror.New(apierror.InvalidAPIKey, "nobody can sign in at an identity provider here")
	}
	caller, renewed, err := config.People.SignedIn(ctx, s.Grant)
	if isInvalidKey(err) { // another gateway may have asked with the same token, which is good once
		if now, ok, again := config.Gateway.Sessions().Peek(ctx, id, config.Life); again == nil && ok && now.Grant != s.Grant {
			*s = now
			caller, renewed, err = config.People.SignedIn(ctx, s.Grant)
		}
	}
	if renewed != "" {
		kept := *s
		if kept.Grant = renewed; err == nil {
			kept = sessionBy(&caller, renewed)
		}
		// Also when the browser has left: the token before is used up.
		if lost := config.Gateway.Sessions().Update(context.WithoutCancel(ctx), id, kept); lost != nil {
			config.Gateway.Unavailable(false, lost)
		}
	}
	return caller, err
}

// keepEvery is how often it is looked whether the identity provider must be asked again for
// somebody at a desktop, whose page asks for nothing else.
const keepEvery = time.Minute

// keepSignedIn asks the identity provider again, when it is time, for somebody who is signed in,
// until the function that it returns is called.
func keepSignedIn(ctx context.Context, config *Config, id string) (stop func()) {
	ctx, stop = context.WithCancel(context.WithoutCancel(ctx))
	go func() {
		tick := time.NewTicker(keepEvery)
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
			case <-ctx.Done():
				return
			}
			s, ok, err := config.Gateway.Sessions().Peek(ctx, id, config.Life)
			if err != nil {
				continue
			}
			if !ok || s.Grant == "" {
				return
			}
			if _, err := callerOf(ctx, config, id, &s); isInvalidKey(err) {
				config.Logger.Debug("a sign-in at an identity provider is over", zap.Error(err))
				_ = config.Gateway.Sessions().Delete(ctx, id) // a page finds out too
			}
		}
	}()
	return stop
}

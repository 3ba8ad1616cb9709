package console

import (
	"net/http"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/request"
	"github.com/gatehouse-proxy/gatehouse/internal/websession"
)

// NamedCallers are those whom another system has signed in.
type NamedCallers interface {
	// NamedCaller returns who has sent a request; named is false if nobody is named. With an error,
	// a refusal, the caller has the name alone.
	NamedCaller(r *http.Request) (caller request.Caller, named bool, err error)
}

// Users say with which key somebody is served whom another system has signed in.
type Users struct {
	// Of returns the user of a request, "" for nobody.
	Of func(*http.Request) string
	// Keys has the name of the key of each user.
	Keys map[string]string
	// Others is the name of the key of all others; "": they are refused.
	Others string
	// Holder returns the holder of a key of the configuration.
	Holder func(key string) (request.Caller, error)
}

// Key returns the name of a user's key, "" for none.
func (u *Users) Key(user string) string {
	if key, ok := u.Keys[user]; ok {
		return key
	}
	return u.Others
}

// NamedCaller implements [NamedCallers].
func (u *Users) NamedCaller(r *http.Request) (caller request.Caller, named bool, err error) {
	user := u.Of(r)
	if user == "" {
		return caller, false, nil
	}
	key := u.Key(user)
	caller, err = u.Holder(key)
	if key == "" || isInvalidKey(err) {
		err = apierror.New(apierror.InvalidAPIKey, "the configuration gives that user no valid key")
	}
	caller.User = user
	return caller, true, err
}

// isNamed reports whether another system signs in whoever has sent a request.
func (g *guard) isNamed(r *http.Request) bool {
	if g.config.Named == nil || g.config.OnlyNamed {
		return g.config.OnlyNamed
	}
	_, named, _ := g.config.Named.NamedCaller(r)
	return named
}

// signedInByName finds the session of whom the other system names, or makes one. A session of
// another user, or with another key, ends, and so does one where nobody is named.
func (g *guard) signedInByName(w http.ResponseWriter, r *http.Request, caller *request.Caller, named bool, refused error) (signedIn, bool) {
	user := caller.User
	if !named {
		g.endSession(w, r)
		g.stop(w, r, stopped{Status: http.StatusForbidden, Title: "Nobody is signed in", Text: "Another system signs people in to this console, and it names nobody for this request"})
		return signedIn{}, false
	}
	if isInvalidKey(refused) {
		g.config.Gateway.UserRefused(g.client(r), user)
		g.endSession(w, r)
		g.stop(w, r, stopped{Status: http.StatusForbidden, Title: "Not allowed", Text: user + " may not use this console: " + apierror.From(refused).Message})
		return signedIn{}, false
	}
	if refused != nil {
		g.stopAway(w, r, refused)
		return signedIn{}, false
	}
	id := g.cookies.id(r)
	session, ok, err := g.find(r, id)
	if err == nil && ok && (session.User != user || session.Tenant != caller.Tenant || session.Key != caller.Name) {
		err, ok = g.config.Gateway.Sessions().Delete(r.Context(), id), false
	}
	if err == nil && !ok && unattended(r) {
		g.askToSignIn(w, r, sessionEnded)
		return signedIn{}, false
	}
	if err == nil && !ok && insideOtherSite(r) {
		g.stop(w, r, stopped{Status: http.StatusForbidden, Title: "Not allowed", Text: "The page of another site has asked for this. Open the console in a tab of its own"})
		return signedIn{}, false
	}
	if err == nil && !ok {
		made := websession.Session{Tenant: caller.Tenant, Key: caller.Name, User: user}
		if caller.Limits != nil { // a person, who has no key of the configuration
			made.KeyHash = caller.SecretHash()
		}
		id, err = g.signIn(w, r, made)
	}
	if err != nil {
		g.config.Gateway.Unavailable(true, err)
		g.stopSessionsAway(w, r)
		return signedIn{}, false
	}
	return signedIn{*caller, id, session}, true
}

// insideOtherSite reports whether the page of another site loads this as a part of itself. The browser
// sends no cookie then, but may send what the other system knows the user by: each picture of such a
// page would sign the user in once more, and end the oldest session with its desktops.
func insideOtherSite(r *http.Request) bool {
	return r.Header.Get("Sec-Fetch-Site") == "cross-site" && r.Header.Get("Sec-Fetch-Dest") != "document"
}

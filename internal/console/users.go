package console

import (
	"net/http"

	"github.com/gatehouse-proxy/gatehouse/internal/websession"
)

// Users say with which key somebody is served whom another system has signed in.
type Users struct {
	// Of returns the user of a request, "" for nobody.
	Of func(*http.Request) string
	// Keys has the name of the key of each user.
	Keys map[string]string
	// Others is the name of the key of all others; "": they are refused.
	Others string
}

// Key returns the name of a user's key, "" for none.
func (u *Users) Key(user string) string {
	if key, ok := u.Keys[user]; ok {
		return key
	}
	return u.Others
}

// signedInByUser finds the session of the user whom the other system names, or makes one. A session of
// another user, or with another key, ends, and so does one where nobody is named.
func (g *guard) signedInByUser(w http.ResponseWriter, r *http.Request) (signedIn, bool) {
	user := g.config.Users.Of(r)
	if user == "" {
		g.endSession(w, r)
		g.stop(w, r, stopped{Status: http.StatusForbidden, Title: "Nobody is signed in", Text: "Another system signs people in to this console, and it names nobody for this request"})
		return signedIn{}, false
	}
	key := g.config.Users.Key(user)
	caller, err := g.config.Gateway.CallerNamed(key)
	if key == "" || isInvalidKey(err) {
		g.config.Gateway.UserRefused(g.client(r), user)
		g.endSession(w, r)
		g.stop(w, r, stopped{Status: http.StatusForbidden, Title: "Not allowed", Text: user + " may not use this console: the configuration gives that user no valid key"})
		return signedIn{}, false
	}
	if err != nil {
		g.stopAway(w, r, err)
		return signedIn{}, false
	}
	caller.User = user
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
		id, err = g.signIn(w, r, websession.Session{Tenant: caller.Tenant, Key: caller.Name, User: user})
	}
	if err != nil {
		g.config.Gateway.Unavailable(true, err)
		g.stopSessionsAway(w, r)
		return signedIn{}, false
	}
	return signedIn{caller, id, session}, true
}

// insideOtherSite reports whether the page of another site loads this as a part of itself. The browser
// sends no cookie then, but may send what the other system knows the user by: each picture of such a
// page would sign the user in once more, and end the oldest session with its desktops.
func insideOtherSite(r *http.Request) bool {
	return r.Header.Get("Sec-Fetch-Site") == "cross-site" && r.Header.Get("Sec-Fetch-Dest") != "document"
}

package console

import (
	"net/http"
	"net/url"
	"strings"
	"time"

	"go.uber.org/zap"

	"github.com/gatehouse-proxy/gatehouse/internal/websession"
)

const (
	signInPath  = Prefix + "/sign-in"
	signOutPath = Prefix + "/sign-out"

	// maxSignIn bounds the form: a key has at most 512 bytes, and a path comes with it.
	maxSignIn = 16 << 10
)

// sessionEnded is the notice of a session that has ended by itself.
const sessionEnded = "session-ended"

// signInOver is that of somebody who has signed in at an identity provider, which must be asked.
const signInOver = "sign-in-over"

func init() {
	notices["signed-out"] = "You are signed out."
	notices[sessionEnded] = "Your session has ended."
	notices[signInOver] = "Your sign-in is over: the identity provider or the gateway allows it no longer, or it is to be repeated. Sign in again."
}

func signInURL(query url.Values) string {
	if len(query) == 0 {
		return signInPath
	}
	return signInPath + "?" + query.Encode()
}

// signInForm is what the sign-in page shows.
type signInForm struct {
	Return     string // the page that was asked for first
	Error      string
	Identities []string // where people can sign in
}

// showSignIn shows the form, unless somebody is signed in.
func (g *guard) showSignIn(w http.ResponseWriter, r *http.Request) {
	back := r.URL.Query().Get("return")
	if !g.begin(w, r) {
		return
	}
	if g.isNamed(r) {
		g.showReturn(w, r, back)
		return
	}
	session, ok, err := g.find(r, g.cookies.id(r))
	if err != nil {
		g.config.Gateway.Unavailable(false, err)
		g.stopSessionsAway(w, r)
		return
	}
	if ok && session.User == "" {
		if _, err := callerOf(r.Context(), g.config, g.cookies.id(r), &session); err == nil {
			http.Redirect(w, r, ownPath(back), http.StatusSeeOther)
			return
		}
	}
	g.signInForm(w, r, http.StatusOK, back, "")
}

// signInForm shows the form, with what was wrong with the last one.
func (g *guard) signInForm(w http.ResponseWriter, r *http.Request, status int, back, wrong string) {
	form := signInForm{Return: back, Error: wrong}
	if g.config.People != nil {
		form.Identities = g.config.People.Names()
	}
	g.bare(w, r, status, "sign_in", "Sign in", form)
}

// showReturn leads a user to a page: another system signs in, or has done so. A page whose session has
// ended by itself must not begin another by itself, so there it waits for the person.
func (g *guard) showReturn(w http.ResponseWriter, r *http.Request, back string) {
	if !unattended(r) && r.URL.Query().Get("done") != sessionEnded {
		http.Redirect(w, r, ownPath(back), http.StatusSeeOther)
		return
	}
	g.stop(w, r, stopped{Status: http.StatusOK, Title: "Signed out", Back: ownPath(back), Text: "The session was not used for too long, was too old, or was ended in another tab or by a change of the configuration. " +
		"Another system signs you in to this console, and does so again when you go on"})
}

// doSignIn makes a session for the key of the form.
func (g *guard) doSignIn(w http.ResponseWriter, r *http.Request) {
	if !g.begin(w, r) {
		return
	}
	if g.isNamed(r) {
		http.Redirect(w, r, Prefix+"/", http.StatusSeeOther)
		return
	}
	r.Body = http.MaxBytesReader(w, r.Body, maxSignIn)
	if err := r.ParseForm(); err != nil {
		g.signInForm(w, r, http.StatusBadRequest, "", "The form could not be read. Try again.")
		return
	}
	back := r.PostForm.Get("return")
	caller, err := g.config.Gateway.Authenticate(strings.TrimSpace(r.PostForm.Get("key")))
	switch {
	case isInvalidKey(err):
		g.refuse(w, r, back)
		return
	case err != nil:
		g.stopAway(w, r, err)
		return
	}
	g.deleteSession(r) // a new sign-in has a new ID
	_, err = g.signIn(w, r, websession.Session{Tenant: caller.Tenant, Key: caller.Name, KeyHash: caller.SecretHash()})
	if err != nil {
		g.config.Gateway.Unavailable(true, err)
		g.stopSessionsAway(w, r)
		return
	}
	http.Redirect(w, r, ownPath(back), http.StatusSeeOther)
}

// signIn makes a session with a new ID and gives the browser its cookie.
func (g *guard) signIn(w http.ResponseWriter, r *http.Request, s websession.Session) (id string, err error) {
	if id, err = g.config.Gateway.Sessions().Create(r.Context(), s, g.config.Life); err != nil {
		return "", err
	}
	g.cookies.set(w, r, id)
	g.config.Gateway.SignedIn()
	g.config.Logger.Info("console sign-in", zap.String("key", s.Key), zap.String("tenant", s.Tenant), zap.String("user", s.User),
		zap.String("remote", g.client(r).String()))
	return id, nil
}

// refuse answers a sign-in with a bad key. Every kind of bad key has the same answer. It waits for its
// turn where many come from one network.
func (g *guard) refuse(w http.ResponseWriter, r *http.Request, back string) {
	wait, ok := g.config.Gateway.SignInRefused(g.client(r))
	if !ok {
		w.Header().Set("Retry-After", "10")
		g.signInForm(w, r, http.StatusTooManyRequests, back, "This key is not valid. Many sign-ins from your network have failed; wait ten seconds before you try again.")
		return
	}
	turn := time.NewTimer(wait)
	defer turn.Stop()
	select {
	case <-turn.C:
	case <-r.Context().Done():
		return
	}
	g.signInForm(w, r, http.StatusForbidden, back, "This key is not valid.")
}

// signOut ends the session here and at all other gateways, and its desktops.
func (g *guard) signOut(w http.ResponseWriter, r *http.Request) {
	if !g.begin(w, r) {
		return
	}
	id := g.cookies.id(r)
	if id != "" {
		g.cookies.set(w, r, "")
		if err := g.config.Gateway.Sessions().Delete(r.Context(), id); err != nil {
			g.config.Gateway.Unavailable(false, err)
			g.stop(w, r, stopped{Status: http.StatusServiceUnavailable, Title: "Signed out in this browser only", Text: "Valkey, where the gateways keep the sessions, does not answer. " +
				"This browser has forgotten the session; it ends at the gateways when it was not used for a while"})
			return
		}
	}
	if g.isNamed(r) {
		g.stop(w, r, stopped{Status: http.StatusOK, Title: "Signed out", Text: "Another system signs you in to this console, and will do so again when you come back. To end that, sign out there"})
		return
	}
	http.Redirect(w, r, signInURL(url.Values{"done": {"signed-out"}}), http.StatusSeeOther)
}

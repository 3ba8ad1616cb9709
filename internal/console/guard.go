package console

import (
	"errors"
	"net/http"
	"net/netip"
	"net/url"
	"strings"

	"github.com/gatehouse-proxy/gatehouse/internal/request"

	"go.uber.org/zap"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/websession"
)

// guard stands before all pages: it finds out who visits, and signs people in and out.
type guard struct {
	config  *Config
	cookies cookies
	origin  *http.CrossOriginProtection
}

func newGuard(c *Config) *guard {
	g := &guard{config: c, cookies: cookies{c.Origin}, origin: http.NewCrossOriginProtection()}
	if c.Origin != "" {
		_ = g.origin.AddTrustedOrigin(c.Origin) // it was checked
	}
	return g
}

// signedIn is the key that asks for a page, and its session.
type signedIn struct {
	caller  request.Caller // the key as it is now
	id      string         // of the session
	session websession.Session
}

// signedIn returns who asks for a page. Without ok it has answered already.
func (g *guard) signedIn(w http.ResponseWriter, r *http.Request) (signedIn, bool) {
	if !g.begin(w, r) {
		return signedIn{}, false
	}
	if g.config.Named != nil {
		if caller, named, err := g.config.Named.NamedCaller(r); named || g.config.OnlyNamed {
			return g.signedInByName(w, r, &caller, named, err)
		}
	}
	return g.signedInByKey(w, r)
}

// begin waits until the gateway has started. It answers where nobody can be signed in.
func (g *guard) begin(w http.ResponseWriter, r *http.Request) bool {
	if !started(g.config, w, r) {
		return false
	}
	if _, ok := g.cookies.name(r); !ok {
		g.stop(w, r, stopped{Status: http.StatusForbidden, Title: "No sign-in without TLS", Text: "This page came over plain HTTP, so others on the way could read your key. " +
			"Open the console with https://, or on the gateway's own machine. Behind a proxy that ends TLS, set the option origin of gatehouse_console"})
		return false
	}
	return true
}

// signedInByKey finds who has signed in with a key. Without a session, or a key that is still valid, it
// sends the browser to the sign-in.
func (g *guard) signedInByKey(w http.ResponseWriter, r *http.Request) (signedIn, bool) {
	id, done := g.cookies.id(r), sessionEnded
	session, ok, err := g.find(r, id)
	if err != nil {
		g.config.Gateway.Unavailable(false, err)
		g.stopSessionsAway(w, r)
		return signedIn{}, false
	}
	if ok && session.User == "" {
		caller, err := callerOf(r.Context(), g.config, id, &session)
		if err == nil {
			return signedIn{caller, id, session}, true
		}
		if !isInvalidKey(err) {
			g.stopAway(w, r, err)
			return signedIn{}, false
		}
		if session.Grant != "" {
			done = signInOver
		}
	}
	g.endSession(w, r)
	g.askToSignIn(w, r, done)
	return signedIn{}, false
}

// isPoll reports whether assets/js/console.js reads the live parts of a page again.
func isPoll(r *http.Request) bool {
	return r.Method == http.MethodGet && r.Header.Get("Gatehouse-Live") != ""
}

// unattended reports whether a page asks by itself: it reads its live parts again and the pictures in them, or
// connects to a desktop, for which a page or a form was asked before. It is no use of the session, and nobody
// is signed in by it.
func unattended(r *http.Request) bool {
	return r.Header.Get("Gatehouse-Live") != "" || r.URL.Path == Prefix+socketPath || strings.HasSuffix(r.URL.Path, thumbnailPath)
}

// find returns the session with an ID, "" for none.
func (g *guard) find(r *http.Request, id string) (websession.Session, bool, error) {
	if id == "" {
		return websession.Session{}, false, nil
	}
	if unattended(r) {
		return g.config.Gateway.Sessions().Peek(r.Context(), id, g.config.Life)
	}
	return g.config.Gateway.Sessions().Find(r.Context(), id, g.config.Life)
}

// endSession ends the session of a request, if it has one, and deletes the cookie: not for what a page asks
// by itself, as the browser may have a newer one by the time of the answer.
func (g *guard) endSession(w http.ResponseWriter, r *http.Request) {
	if g.deleteSession(r) && !unattended(r) {
		g.cookies.set(w, r, "")
	}
}

// deleteSession ends the session of a request. It reports whether the browser has sent one. A store that is
// away keeps it until its time is over.
func (g *guard) deleteSession(r *http.Request) bool {
	id := g.cookies.id(r)
	if id == "" {
		return false
	}
	if err := g.config.Gateway.Sessions().Delete(r.Context(), id); err != nil {
		g.config.Gateway.Unavailable(false, err)
	}
	return true
}

// askToSignIn sends the browser to the sign-in, and from there back to this page. Whoever was signed in
// reads there why the session has ended: done is a row of the table notices.
func (g *guard) askToSignIn(w http.ResponseWriter, r *http.Request, done string) {
	query := url.Values{}
	if g.cookies.id(r) != "" || unattended(r) {
		query.Set("done", done)
	}
	if r.Method == http.MethodGet && r.URL.Path != Prefix+"/" {
		query.Set("return", r.URL.RequestURI())
	}
	http.Redirect(w, r, signInURL(query), http.StatusSeeOther)
}

// ownOrigin answers 403 and returns false for a change that the page of another site has asked for.
// A browser says where an unsafe request comes from; what does not say so is no browser, and must not
// have the cookie of one.
func (g *guard) ownOrigin(w http.ResponseWriter, r *http.Request) bool {
	err := g.origin.Check(r)
	if err == nil && !safe(r.Method) && r.Header.Get("Origin") == "" && r.Header.Get("Sec-Fetch-Site") == "" && (g.cookies.id(r) != "" || g.config.Named != nil) {
		err = errors.New("neither Origin nor Sec-Fetch-Site")
	}
	if err == nil {
		return true
	}
	g.config.Logger.Debug("console request of another origin", zap.String("path", r.URL.Path), zap.Error(err))
	g.stop(w, r, stopped{Status: http.StatusForbidden, Title: "Not allowed", Text: "Another site, or a program, has sent this request. Use the buttons of the console"})
	return false
}

// safe reports whether a method changes nothing.
func safe(method string) bool {
	return method == http.MethodGet || method == http.MethodHead || method == http.MethodOptions
}

// client is the address of the person, invalid if it is not known.
func (g *guard) client(r *http.Request) netip.Addr {
	text := r.RemoteAddr
	if g.config.Client != nil {
		text = g.config.Client(r)
	}
	if peer, err := netip.ParseAddrPort(text); err == nil {
		return peer.Addr()
	}
	addr, _ := netip.ParseAddr(text)
	return addr
}

func isInvalidKey(err error) bool {
	var refusal *apierror.Error
	return errors.As(err, &refusal) && (refusal.Code == apierror.InvalidAPIKey || refusal.Code == apierror.NoRole)
}

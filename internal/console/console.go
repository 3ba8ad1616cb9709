// Package console is the pages that people see below /console: what is used, by whom and for how
// much, what is refused and why, and the desktops.
//
//	guard     who asks: a session, its key looked up again; headers; no request of another origin
//	pages     the table of pages: method, path, scope, function
//	visit     one request of a signed-in key to a page
//	polls     pages that are read again, shared by those who look at the same
//	call      a public route, called in process as that key
//	render    the layout and the templates
//
// Pages are made on the server and work without JavaScript, but for the desktop. They read and
// write only through the public routes of the API, as the key that has signed in: a page can do
// nothing that the key could not do with curl.
package console

import (
	"context"
	"net/http"
	"net/netip"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/request"

	"go.uber.org/zap"

	"github.com/gatehouse-proxy/gatehouse/internal/websession"
)

// Prefix is the path of the overview; all other pages are below it.
const Prefix = "/console"

// Gateway is what the console asks of the gateway of its configuration.
type Gateway interface {
	// Ready waits until the gateway has started.
	Ready(context.Context) error
	// Authenticate returns the caller with this secret.
	Authenticate(secret string) (request.Caller, error)
	// CallerOf returns the caller whose key of this tenant and name has a secret with this hash. The
	// error is the error of Authenticate: the key is gone, expired, disabled, or has other secrets.
	CallerOf(tenant, name, hash string) (request.Caller, error)
	SignIns
}

// SignIns keeps, counts and logs who signs in.
type SignIns interface {
	// Sessions are those who are signed in.
	Sessions() websession.Store
	// SignedIn counts a sign-in.
	SignedIn()
	// SignInRefused is told of a sign-in with a key that is not valid. It returns how long the answer
	// must wait; without ok it is given at once.
	SignInRefused(from netip.Addr) (wait time.Duration, ok bool)
	// UserRefused is told of a user of the single sign-on without a valid key here.
	UserRefused(from netip.Addr, user string)
	// Unavailable is told that Sessions has failed.
	Unavailable(signIn bool, err error)
}

// Config is what one configuration says of the console.
type Config struct {
	Gateway Gateway
	// API serves the public routes to a caller who has been authenticated.
	API func(request.Caller) http.Handler
	// Life is how long sessions live.
	Life websession.Life
	// Named are those whom another system signs in; nil: people sign in with a key, or are People.
	Named NamedCallers
	// OnlyNamed means that there is no other way to sign in.
	OnlyNamed bool
	// People are those who sign in at an identity provider; nil: nobody can.
	People People
	// Origin is the origin of the console behind a proxy that ends TLS ("https://console.example.com"). "" is
	// no proxy.
	Origin string
	// Client returns the address of the client; nil: it is the address of the connection.
	Client func(*http.Request) string
	// Desktop serves a socket that shows a desktop to a caller. It calls onSignOut with when it was used
	// by the person, and with what it does when the session of the console ends.
	Desktop func(w http.ResponseWriter, r *http.Request, by request.Caller, onSignOut func(used func() time.Time, f func()) (stop func()))
	// OwnPage reports whether a request comes from a page of the console: browsers send a request for a
	// WebSocket from the pages of any site.
	OwnPage func(*http.Request) bool
	// Tools asks an MCP server for its tools, and which version of MCP it speaks. The error is shown: it
	// may have words of the server.
	Tools func(ctx context.Context, send Sender) (version string, tools []Tool, err error)
	// TraceURL is the address of a trace, with "{trace_id}" in it. "" is none.
	TraceURL string
	Logger   *zap.Logger
	Now      func() time.Time
}

// Console serves the pages.
type Console struct {
	config Config
	guard  *guard
	mux    *http.ServeMux
	polls  polls
}

// New returns the console of a configuration.
func New(c Config) *Console {
	console := &Console{config: c, guard: newGuard(&c), mux: http.NewServeMux()}
	console.mux.Handle("GET "+assetPrefix, assets())
	console.mux.HandleFunc("GET "+signInPath, console.guard.showSignIn)
	console.mux.HandleFunc("POST "+signInPath, console.guard.doSignIn)
	console.mux.HandleFunc("GET "+signInPath+"/{identity}", elsewhere{console.guard}.begin)
	console.mux.HandleFunc("POST "+signOutPath, console.guard.signOut)
	for _, p := range pages {
		console.mux.Handle(p.method+" "+Prefix+p.path, console.page(p))
	}
	console.mux.Handle(Prefix+"/", console.page(page{title: "Not found", serve: notFound}))
	console.mux.Handle("GET "+Prefix, http.RedirectHandler(Prefix+"/", http.StatusPermanentRedirect))
	return console
}

func (c *Console) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	setHeaders(w.Header())
	if c.Returns(r) {
		elsewhere{c.guard}.finish(w, r)
		return
	}
	if !c.guard.ownOrigin(w, r) {
		return
	}
	if !safe(r.Method) {
		c.polls.changed()
		defer c.polls.changed()
	}
	c.mux.ServeHTTP(w, r)
}

// page serves a page to those who are signed in.
func (c *Console) page(p page) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if who, ok := c.guard.signedIn(w, r); ok {
			v := &visit{
				w: w, r: r, console: c, page: &p, caller: who.caller, session: who.id, since: who.session.Started,
				now: c.config.Now(), query: r.URL.Query(),
			}
			if isPoll(v.r) && p.live {
				c.polls.serve(v)
				return
			}
			v.serve()
		}
	})
}

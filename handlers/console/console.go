// Package console is the HTTP module of the console, http.handlers.gatehouse_console: pages for
// people below /console, and the desktop in a browser.
package console

import (
	"net/http"
	"strings"
	"time"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/gatehouse-proxy/gatehouse/handlers"
	"github.com/gatehouse-proxy/gatehouse/internal/caddykit"
	"github.com/gatehouse-proxy/gatehouse/internal/console"
	"github.com/gatehouse-proxy/gatehouse/internal/request"
	"github.com/gatehouse-proxy/gatehouse/internal/vncrelay"
	"github.com/gatehouse-proxy/gatehouse/internal/vncsocket"
)

func init() {
	caddy.RegisterModule(Console{})
}

// Console serves the pages below /console. All other paths go to the next handler.
type Console struct {
	// SignIn says who signs people in. Default: they sign in with a gateway key or at an identity
	// provider, or an identity of the gateway names them by a placeholder.
	SignIn *SignIn `json:"sign_in,omitempty"`
	// SessionIdle is how long a session lives that no person uses. Keys and the pointer at a desktop are
	// use, what live pages read is none. Default: 1h.
	SessionIdle caddy.Duration `json:"session_idle,omitempty"`
	// SessionMax is how long a session lives at all. Default: 12h.
	SessionMax caddy.Duration `json:"session_max,omitempty"`
	// Origin is where browsers see the console, if a proxy in front of this server ends TLS:
	// "https://console.example.com". Default: none, and there is no sign-in over plain HTTP except on
	// this machine.
	Origin string `json:"origin,omitempty"`
	// TraceURL is the address at which a trace can be seen, with {trace_id} in it. Default: none.
	TraceURL string `json:"trace_url,omitempty"`

	console *console.Console
}

// app is what the console needs of the gatehouse app.
type app interface {
	console.Gateway
	// Knows reports whether the configuration has a key of this name, and CallerNamed returns its
	// holder.
	Knows(key string) bool
	CallerNamed(key string) (request.Caller, error)
	// Serves notes this console. KeyOf returns the key of a user, "" for none; nil: another system
	// signs nobody in here.
	Serves(keyOf func(user string) (key string))
}

// SignIn says which key a user has whom another system signs in.
type SignIn struct {
	// User is the placeholder that has the name of the user, {http.auth.user.id} for instance. A client
	// must not be able to set it.
	User string `json:"user" placeholders:"yes"`
	// Keys has the name of the key of each user. The keys must be in the configuration.
	Keys map[string]string `json:"keys,omitempty"`
	// Others is the name of the key of all other users. Default: they are refused.
	Others string `json:"others,omitempty"`
}

// CaddyModule returns the module's information.
func (Console) CaddyModule() caddy.ModuleInfo {
	return caddy.ModuleInfo{ID: "http.handlers.gatehouse_console", New: func() caddy.Module { return new(Console) }}
}

// Provision checks the options and finds what it needs of the gatehouse app.
func (h *Console) Provision(ctx caddy.Context) error {
	if err := caddykit.CheckPlaceholders(h); err != nil {
		return err
	}
	g, err := caddykit.Part[app](ctx)
	if err != nil {
		return err
	}
	vnc, err := caddykit.Part[vncrelay.Server](ctx)
	if err != nil {
		return err
	}
	public, err := handlers.Public(ctx)
	if err != nil {
		return err
	}
	var origins []string
	if h.Origin != "" {
		origins = []string{h.Origin}
	}
	config := console.Config{
		Gateway: g, API: public, Desktop: desktops(vnc, origins, ctx.Logger()),
		OwnPage: func(r *http.Request) bool { return vncsocket.OwnPage(r, origins) },
		Origin:  h.Origin, Client: caddykit.Client, Tools: listTools, TraceURL: h.TraceURL, Logger: ctx.Logger(), Now: time.Now,
	}
	if config.Life, err = h.life(); err != nil {
		return err
	}
	if err := h.checkURLs(); err != nil {
		return err
	}
	if people, err := caddykit.Part[console.People](ctx); err == nil { // else no identity has a client
		config.People = people
	}
	var keyOf func(user string) string
	if h.SignIn != nil {
		users, err := h.SignIn.users(g)
		if err != nil {
			return err
		}
		config.Named, config.OnlyNamed, keyOf = users, true, users.Key
	} else if named, err := caddykit.Part[console.NamedCallers](ctx); err == nil { // else no identity has a placeholder
		config.Named = named
	}
	g.Serves(keyOf)
	h.console = console.New(config)
	return nil
}

func (h *Console) ServeHTTP(w http.ResponseWriter, r *http.Request, next caddyhttp.Handler) error {
	if r.URL.Path != console.Prefix && !strings.HasPrefix(r.URL.Path, console.Prefix+"/") && !h.console.Returns(r) {
		return next.ServeHTTP(w, r)
	}
	h.console.ServeHTTP(w, r)
	return nil
}

var (
	_ caddy.Provisioner           = (*Console)(nil)
	_ caddyhttp.MiddlewareHandler = (*Console)(nil)
)

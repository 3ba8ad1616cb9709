package console

import (
	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"
	"github.com/caddyserver/caddy/v2/caddyconfig/httpcaddyfile"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/gatehouse-proxy/gatehouse/internal/caddykit"
)

// The console comes after Caddy's authentication: a single sign-on may be one. It comes before the
// endpoints: where people sign in at an identity provider, both take some of those who come back.
func init() {
	httpcaddyfile.RegisterHandlerDirective("gatehouse_console", func(h httpcaddyfile.Helper) (caddyhttp.MiddlewareHandler, error) {
		c := new(Console)
		return c, c.UnmarshalCaddyfile(h.Dispenser)
	})
	httpcaddyfile.RegisterDirectiveOrder("gatehouse_console", httpcaddyfile.Before, "copy_response")
}

// UnmarshalCaddyfile reads the directive:
//
//	gatehouse_console [<matcher>] {
//		sign_in      key
//		sign_in      user <placeholder> {
//			<user> as <key>
//			*      as <key> | refuse
//		}
//		session_idle <duration>
//		session_max  <duration>
//		origin       <https://host>
//		trace_url    <url>
//	}
func (h *Console) UnmarshalCaddyfile(d *caddyfile.Dispenser) error {
	d.Next()
	if d.NextArg() {
		return d.ArgErr()
	}
	return caddykit.Options{
		"sign_in":      {Read: h.readSignIn},
		"session_idle": caddykit.Value(&h.SessionIdle, caddykit.ParseDuration),
		"session_max":  caddykit.Value(&h.SessionMax, caddykit.ParseDuration),
		"origin":       caddykit.Word(&h.Origin),
		"trace_url":    caddykit.Word(&h.TraceURL),
	}.Block(d)
}

func (h *Console) readSignIn(d *caddyfile.Dispenser) error {
	args := d.RemainingArgs()
	switch {
	case len(args) == 1 && args[0] == "key":
		if nesting := d.Nesting(); d.NextBlock(nesting) {
			return d.Err("sign_in key has no block")
		}
		return nil
	case len(args) == 2 && args[0] == "user":
		h.SignIn = &SignIn{User: args[1], Keys: make(map[string]string)}
		return h.SignIn.readUsers(d)
	}
	return d.Err("want \"sign_in key\", or \"sign_in user <placeholder>\" with a block of users")
}

// readUsers reads the keys of users.
func (s *SignIn) readUsers(d *caddyfile.Dispenser) error {
	others := false
	for nesting := d.Nesting(); d.NextBlock(nesting); {
		user, args := d.Val(), d.RemainingArgs()
		refused := len(args) == 1 && args[0] == "refuse" && user == "*"
		if !refused && (len(args) != 2 || args[0] != "as") {
			return d.Errf("user %s: want \"<user> as <key>\", \"* as <key>\" or \"* refuse\"", user)
		}
		if _, twice := s.Keys[user]; twice || user == "*" && others {
			return d.Errf("user %s is given twice", user)
		}
		switch {
		case refused:
			others = true
		case user == "*":
			others, s.Others = true, args[1]
		default:
			s.Keys[user] = args[1]
		}
	}
	return nil
}

package handlers

import (
	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"
	"github.com/caddyserver/caddy/v2/caddyconfig/httpcaddyfile"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/gatehouse-proxy/gatehouse/internal/caddykit"
)

// Each directive gets a place in Caddy's order: authentication before Caddy's
// own, the API before whatever else answers. Those of single endpoints are
// registered in endpoint.go.
func init() {
	register("gatehouse_auth", "basic_auth", func() directive { return new(Auth) })
	register("gatehouse", "respond", func() directive { return new(Gatehouse) })
}

type directive interface {
	caddyhttp.MiddlewareHandler
	caddyfile.Unmarshaler
}

func register(name, before string, make func() directive) {
	httpcaddyfile.RegisterHandlerDirective(name, func(h httpcaddyfile.Helper) (caddyhttp.MiddlewareHandler, error) {
		d := make()
		return d, d.UnmarshalCaddyfile(h.Dispenser)
	})
	httpcaddyfile.RegisterDirectiveOrder(name, httpcaddyfile.Before, before)
}

// UnmarshalCaddyfile reads the directive, which has no options:
//
//	gatehouse [<matcher>]
func (h *Gatehouse) UnmarshalCaddyfile(d *caddyfile.Dispenser) error {
	d.Next()
	if d.NextArg() {
		return d.ArgErr()
	}
	return caddykit.Options{}.Block(d)
}

// UnmarshalCaddyfile reads the directive; the arguments are scopes:
//
//	gatehouse_auth [<matcher>] [<scopes…>]
func (a *Auth) UnmarshalCaddyfile(d *caddyfile.Dispenser) error {
	d.Next()
	a.Scopes = d.RemainingArgs()
	return caddykit.Options{}.Block(d)
}

// UnmarshalCaddyfile reads the directive of one endpoint:
//
//	gatehouse_<endpoint> [<matcher>] {
//		family openai|openrouter
//	}
func (e *Endpoint) UnmarshalCaddyfile(d *caddyfile.Dispenser) error {
	d.Next()
	if d.NextArg() {
		return d.ArgErr()
	}
	return caddykit.Options{"family": caddykit.Word(&e.Family)}.Block(d)
}

package handlers

import (
	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"
	"github.com/caddyserver/caddy/v2/caddyconfig/httpcaddyfile"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/gatehouse-proxy/gatehouse/internal/caddykit"
)

// Each directive has a position in Caddy's order: probes before every authentication, ours before
// Caddy's own, the API before the handlers that answer. The directives of single endpoints are registered in endpoint.go.
func init() {
	register("gatehouse_health", "basic_auth", func() directive { return new(Health) }) // and so before gatehouse_auth
	register("gatehouse_auth", "basic_auth", func() directive { return new(Auth) })
	register("gatehouse", "respond", func() directive { return new(Gatehouse) })
}

type directive interface {
	caddyhttp.MiddlewareHandler
	caddyfile.Unmarshaler
}

func register(name, before string, create func() directive) {
	httpcaddyfile.RegisterHandlerDirective(name, func(h httpcaddyfile.Helper) (caddyhttp.MiddlewareHandler, error) {
		d := create()
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
func (h *Auth) UnmarshalCaddyfile(d *caddyfile.Dispenser) error {
	d.Next()
	h.Scopes = d.RemainingArgs()
	return caddykit.Options{}.Block(d)
}

// UnmarshalCaddyfile reads the directive of one endpoint:
//
//	gatehouse_<endpoint> [<matcher>] {
//		family openai|openrouter|anthropic|google
//	}
func (e *Endpoint) UnmarshalCaddyfile(d *caddyfile.Dispenser) error {
	d.Next()
	if d.NextArg() {
		return d.ArgErr()
	}
	return caddykit.Options{"family": caddykit.Word(&e.Family)}.Block(d)
}

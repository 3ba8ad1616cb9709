package identity

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"

	"github.com/gatehouse-proxy/gatehouse/caddymodule/core"
	"github.com/gatehouse-proxy/gatehouse/internal/caddykit"
	programs "github.com/gatehouse-proxy/gatehouse/internal/features/authserver"
)

// AuthorizationServer lets people sign in to programs, such as Claude Code: the gateway is their
// authorization server, and an identity with a client says who somebody is. It needs origin,
// encryption_secret and such an identity.
type AuthorizationServer struct {
	// TokenLife is how long a token is good, from 10s to 24h: after it, the identity provider is
	// asked whether the person may still come. Default: 1h.
	TokenLife caddy.Duration `json:"token_life,omitempty"`

	// RefreshLife is how long somebody stays signed in, at most 720h. Default: 720h.
	RefreshLife caddy.Duration `json:"refresh_life,omitempty"`

	// Clients are programs that need not register: the addresses to which browsers return, by the
	// client_id. They can have schemes of their own, such as cursor. Default: none.
	Clients map[string][]string `json:"clients,omitempty"`

	// ClientHosts are the hosts of other programs that are not on the person's machine: of their
	// metadata documents, and of the https addresses to which browsers return. Default: all.
	ClientHosts []string `json:"client_hosts,omitempty"`

	// NoClientDocuments says that the gateway does not fetch what programs publish of themselves,
	// because it cannot reach the internet. They register then. Default: false.
	NoClientDocuments bool `json:"no_client_documents,omitempty"`

	// ManagedSettings are files with settings of Claude Code, by the role whose people get them.
	// They can run commands on the machines of these people. Default: none.
	ManagedSettings map[string]string `json:"managed_settings,omitempty"`

	// Telemetry is the URL of a collector (OTLP over HTTP), such as http://otel:4318, which gets
	// what Claude Code sends of itself. Default: none, it is dropped.
	Telemetry string `json:"telemetry,omitempty"`
}

// read reads the block:
//
//	authorization_server {
//		token_life DURATION
//		refresh_life DURATION
//		client NAME URL…             # any number
//		client_hosts HOST…
//		no_client_documents
//		managed_settings ROLE FILE   # any number
//		telemetry URL
//	}
func (o *AuthorizationServer) read(d *caddyfile.Dispenser) error {
	if d.NextArg() {
		return d.ArgErr()
	}
	return caddykit.Options{
		"token_life":          caddykit.Value(&o.TokenLife, caddykit.ParseDuration),
		"refresh_life":        caddykit.Value(&o.RefreshLife, caddykit.ParseDuration),
		"client":              {Many: true, Read: o.readClient},
		"client_hosts":        caddykit.Words(&o.ClientHosts),
		"no_client_documents": caddykit.Flag(&o.NoClientDocuments),
		"managed_settings":    {Many: true, Read: o.readManaged},
		"telemetry":           caddykit.Word(&o.Telemetry),
	}.Block(d)
}

func (o *AuthorizationServer) readClient(d *caddyfile.Dispenser) error {
	args := d.RemainingArgs()
	if len(args) < 2 {
		return d.ArgErr()
	}
	if _, twice := o.Clients[args[0]]; twice {
		return d.Errf("client %s is configured twice", args[0])
	}
	if o.Clients == nil {
		o.Clients = map[string][]string{}
	}
	o.Clients[args[0]] = args[1:]
	return nil
}

func (o *AuthorizationServer) readManaged(d *caddyfile.Dispenser) error {
	var role, file string
	if !d.AllArgs(&role, &file) {
		return d.ArgErr()
	}
	if _, twice := o.ManagedSettings[role]; twice {
		return d.Errf("managed_settings of role %s are given twice", role)
	}
	if o.ManagedSettings == nil {
		o.ManagedSettings = map[string]string{}
	}
	o.ManagedSettings[role] = file
	return nil
}

// authorizationServer checks the block. Nil: there is none.
func (f *Feature) authorizationServer(encryption []string) (*programs.Config, error) {
	o := f.AuthorizationServer
	if o == nil {
		return nil, nil
	}
	switch {
	case !slices.ContainsFunc(f.Identities, func(i Identity) bool { return i.Client != nil }):
		return nil, errors.New("no identity has a client: nobody could sign in")
	case len(encryption) == 0:
		return nil, errors.New("encryption_secret is missing: it protects the tokens of identity providers in the database")
	}
	c := programs.Settings{
		Origin: f.Origin, TokenLife: time.Duration(o.TokenLife), RefreshLife: time.Duration(o.RefreshLife), Client: caddykit.Client,
		Keys: encryption, Clients: o.Clients, ClientHosts: o.ClientHosts, NoDocuments: o.NoClientDocuments, Managed: map[string]*programs.Managed{},
	}
	for role, file := range o.ManagedSettings {
		if !slices.ContainsFunc(f.Roles, func(r Role) bool { return r.Name == role }) {
			return nil, fmt.Errorf("managed_settings: there is no role %q", role)
		}
		text, err := core.ReadBounded("managed_settings", file, programs.MaxManaged)
		if err != nil {
			return nil, err
		}
		if c.Managed[role], err = programs.ParseManaged(role, text); err != nil {
			return nil, fmt.Errorf("managed_settings %q: %w", file, err)
		}
	}
	if o.Telemetry != "" {
		var err error
		if c.Collector, err = programs.NewCollector(o.Telemetry, http.DefaultClient); err != nil {
			return nil, err
		}
	}
	return programs.NewConfig(c)
}

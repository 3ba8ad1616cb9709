// Package authserver is the feature of a gateway by which people sign in to programs: the gateway
// is their authorization server, and an identity provider says who they are.
package authserver

import (
	"context"
	"net/http"
	"time"

	"go.uber.org/zap"

	"github.com/gatehouse-proxy/gatehouse/internal/authserver"
	"github.com/gatehouse-proxy/gatehouse/internal/features/authserver/upstream"
	people "github.com/gatehouse-proxy/gatehouse/internal/features/identity"
	"github.com/gatehouse-proxy/gatehouse/internal/gateway"
	"github.com/gatehouse-proxy/gatehouse/internal/keys"
	"github.com/gatehouse-proxy/gatehouse/internal/policy"
	"github.com/gatehouse-proxy/gatehouse/internal/store"
)

// Settings are what a configuration says of sign-ins to programs; see [authserver.Config].
type Settings struct {
	Origin                 string
	Keys                   []string
	TokenLife, RefreshLife time.Duration
	// Client returns the address of who asks.
	Client func(*http.Request) string
	// Clients, ClientHosts and NoDocuments are those of [authserver.Config].
	Clients     map[string][]string
	ClientHosts []string
	NoDocuments bool
	// Managed are the managed settings of Claude Code, by the role. None: nil.
	Managed map[string]*Managed
	// Collector takes what Claude Code sends of itself. Nil: nobody does.
	Collector *Collector
}

// Config is what a configuration says of sign-ins to programs, checked.
type Config struct {
	server    *authserver.Server
	managed   map[string]*Managed
	collector *Collector
}

// NewConfig checks the settings.
func NewConfig(s Settings) (*Config, error) {
	server, err := authserver.New(authserver.Config{
		Origin: s.Origin, Keys: s.Keys, TokenLife: s.TokenLife, RefreshLife: s.RefreshLife, Client: s.Client,
		Scopes: forPrograms.Names(), Clients: s.Clients, ClientHosts: s.ClientHosts, NoDocuments: s.NoDocuments,
	})
	return &Config{server, s.Managed, s.Collector}, err
}

// SignIns are those of a configuration.
type SignIns struct {
	*Operators
	Server *authserver.Server
	Pages  *authserver.Pages

	at        upstream.Provider
	managed   map[string]*Managed
	collector *Collector
	sampled   func() *zap.Logger
}

// KeptIn returns the sign-ins of a process.
func KeptIn(s *gateway.Slots, now func() time.Time) *authserver.State {
	return gateway.Kept(s, func() *authserver.State { return authserver.NewState(now) })
}

// Feature lets people sign in to programs; a nil config: nobody can, and tokens are not good. Also
// then operators end what people have begun, and keep them out, who are known by other means.
// SignIns and identities are the features by which people sign in at identity providers, and have
// roles; identities without Offers: nobody has.
func Feature(c gateway.Core, config *Config, identities, signIns gateway.Feature) gateway.Feature {
	state := KeptIn(c.Slots, c.Requests.Now)
	f := gateway.Feature{Offers: struct{}{}, Schemas: []store.Schema{authserver.Schema}}
	if !c.Several { // else the cluster opens it
		f.Open = func(ctx context.Context, opened *store.Store) error {
			return state.Open(ctx, authserver.NewSQLite(opened, c.Requests.Now))
		}
	}
	of, _ := identities.Offers.(*people.People)
	if of == nil {
		f.Apply = func() { state.Told(func(authserver.Person, time.Time) {}) }
		return f
	}
	of.KeptOut, of.Over = state.KeptOut, state.Over
	operators := &Operators{state, of, c}
	f.Offers = operators
	f.Apply = func() { state.Told(operators.ended) }
	if config == nil {
		return f
	}
	at := upstream.New(c, signIns, func(role string) []string { return (people.RightsOf(of, role) & forPrograms).Names() })
	s := &SignIns{Operators: operators, at: at, managed: config.managed, collector: config.collector, sampled: c.Requests.Sampled}
	s.Server = config.server.With(state, at, c.Requests.Logger)
	s.Pages = authserver.NewPages(s.Server)
	f.Offers, f.Keys = s, &tokens{server: s.Server, state: state, at: at, people: of, now: c.Requests.Now}
	return f
}

// ServeCallback is where a browser comes back from an identity provider.
func (s *SignIns) ServeCallback(w http.ResponseWriter, r *http.Request) { s.at.Finish(w, r, s.Pages) }

// Challenge says to a client that is refused at a resource where its person can sign in, if that
// helps: a role of the person has no more rights after it.
func (s *SignIns) Challenge(resource, role string, status int) string {
	if role != "" && people.RightsOf(s.people, role)&keys.MCPCall == 0 {
		return ""
	}
	return s.Server.Challenge(resource, status)
}

// Managed returns the managed settings of a caller's role, nil for none.
func (s *SignIns) Managed(limits *policy.KeyLimits) *Managed {
	if limits == nil || limits.Holder == nil {
		return nil
	}
	return s.managed[limits.Holder.Role]
}

// Package signin is the feature of a gateway by which people sign in with a browser at identity
// providers.
package signin

import (
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/features/identity"
	"github.com/gatehouse-proxy/gatehouse/internal/gateway"
	ids "github.com/gatehouse-proxy/gatehouse/internal/identity"
	"github.com/gatehouse-proxy/gatehouse/internal/report"
	"github.com/gatehouse-proxy/gatehouse/internal/request"
	"github.com/gatehouse-proxy/gatehouse/internal/signin"
)

// Client is what a configuration says of the gateway as a client of an identity provider.
type Client = signin.Client

// Settings are what a configuration says of sign-ins.
type Settings struct {
	Origin  string
	Clients []Client // at least one
	// Secrets encrypt what is kept of sign-ins. None: one that ends with the process.
	Secrets []string
	// HTTP asks identity providers.
	HTTP *http.Client
	Now  func() time.Time
}

// Config is what a configuration says of sign-ins, checked.
type Config struct{ signIns *signin.SignIns }

// NewConfig checks sign-ins at identities of the configuration.
func NewConfig(s Settings, identities *identity.Config) (*Config, error) {
	config := signin.Config{Origin: s.Origin, Clients: s.Clients, Issuers: identities.Issuers(), HTTP: s.HTTP, Now: s.Now}
	if len(s.Secrets) > 0 {
		sealer, err := signin.NewSealer(s.Secrets...)
		if err != nil {
			return nil, fmt.Errorf("encryption_secret: %w", err)
		}
		config.Sealer = sealer
	}
	signIns, err := signin.New(config)
	return &Config{signIns}, err
}

// SignIns are where people sign in.
type SignIns struct {
	*signin.SignIns
	people *identity.People
	core   gateway.Core
}

// Feature lets people sign in. People is the feature of identities.
func Feature(c gateway.Core, people gateway.Feature, config *Config) gateway.Feature {
	s := &SignIns{config.signIns, people.Offers.(*identity.People), c}
	sealer := s.Sealer()
	if sealer == nil {
		sealer = gateway.Kept(c.Slots, signin.OfTheProcess)
	}
	s.Share(sealer, gateway.Kept(c.Slots, signin.NewFlights))
	return gateway.Feature{Offers: s, Status: s.status}
}

// status says which identity providers are away.
func (s *SignIns) status() (all []report.PartStatus) {
	for _, name := range s.Names() {
		if err := s.Away(name); err != nil {
			all = append(all, report.PartStatus{
				Name: "sign-in " + name, State: report.PartDegraded,
				Detail: "nobody can sign in there: " + err.Error() + "; who is signed in stays so for up to an hour",
			})
		}
	}
	return all
}

// Caller returns what somebody may do who has signed in, until the end of the person. The error is
// that of a key that is not valid: the sign-in is over, or the configuration has changed.
func (s *SignIns) Caller(person ids.Person) (request.Caller, error) {
	credential, limits, err := s.people.SignedIn(person)
	var refusal *apierror.Error
	switch {
	case errors.As(err, &refusal):
		return request.Caller{}, refusal
	case err != nil:
		return request.Caller{}, apierror.New(apierror.InvalidAPIKey, "the sign-in is over: sign in again").WithCause(err)
	}
	return request.Caller{Credential: credential, SignedIn: person.Hash, User: person.Name, Limits: limits}, nil
}

// Ended ends at this gateway what a person has opened whom the identity provider does not let in
// any more.
func (s *SignIns) Ended(person ids.Person) { s.people.Ended(person.Hash) }

// Package ambient is the feature of a gateway by which those call without a key whom the server in
// front of it has authenticated: by a client certificate, another system, a VPN.
package ambient

import (
	"errors"
	"net/http"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/features/identity"
	"github.com/gatehouse-proxy/gatehouse/internal/gateway"
	"github.com/gatehouse-proxy/gatehouse/internal/request"
)

// Callers finds who has sent requests without a key.
type Callers struct {
	people *identity.People
	values Values
}

// Values returns the values of a placeholder for a request. There are none if it is not set, or if
// a client may have made it.
type Values func(r *http.Request, placeholder string) []string

// Feature lets those call whom placeholders name. People is the feature of identities.
func Feature(people gateway.Feature, values Values) gateway.Feature {
	return gateway.Feature{Offers: &Callers{people.Offers.(*identity.People), values}}
}

// NamedCaller returns who has sent a request, by what the server says of it alone. Named is false
// if it names nobody. The error is a refusal; the caller has the name of the person then.
func (c *Callers) NamedCaller(r *http.Request) (caller request.Caller, named bool, err error) {
	person, credential, limits, err := identity.OfRequest(c.people, func(placeholder string) []string { return c.values(r, placeholder) })
	var refusal *apierror.Error
	switch {
	case person.ID == "":
		return caller, false, nil
	case errors.As(err, &refusal):
		return request.Caller{User: person.Name}, true, refusal
	case err != nil:
		return request.Caller{User: person.Name}, true, apierror.New(apierror.InvalidAPIKey, "the gateway lets %s in no longer: ask its operator", person.Name)
	}
	return request.Caller{Credential: credential, SignedIn: person.Hash, User: person.Name, Limits: limits}, true, nil
}

// CallerWithoutKey is NamedCaller for a request to the API. Browsers add certificates, and what
// other systems know somebody by, to requests of the pages of all sites, also to those that open a
// WebSocket: these do not count.
func (c *Callers) CallerWithoutKey(r *http.Request) (caller request.Caller, named bool, err error) {
	site := r.Header.Get("Sec-Fetch-Site") // of Fetch Metadata; older browsers, and sites without TLS, have Origin alone
	if site == "same-origin" || site == "none" || site == "" && r.Header.Get("Origin") == "" {
		return c.NamedCaller(r)
	}
	return caller, true, apierror.New(apierror.InvalidAPIKey,
		"the page of another site has sent this request without a key: whom the gateway knows its sender to be does not count there")
}

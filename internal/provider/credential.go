package provider

import (
	"errors"
	"net/http"
	"strings"
	"sync/atomic"

	"github.com/gatehouse-proxy/gatehouse/caddymodule/guest"
)

// Credential proves to a provider who the gateway is. It is safe for concurrent use.
type Credential interface {
	// Sign, Refused and Secrets are those of [guest.Credential], which an account gives.
	Sign(r *http.Request) error
	Refused(status int) bool
	Secrets() []string
}

// Issued is a Credential that a cloud or an authorization server gives, mostly for a time.
type Issued = guest.Credential

// IssuedStatus says whether the source gives a credential.
type IssuedStatus = guest.CredentialStatus

// ErrNoCredential is wrapped by the error of a request that could not be authorized, and was not sent.
var ErrNoCredential = errors.New("no credential could be had")

// apiKey is a credential that is sent as it is.
type apiKey struct {
	fieldOf func(key string) (name, value string)
	current func() string // may change; "" for none
	field   atomic.Pointer[keyField]
}

// NewAPIKey returns a credential that is sent as it is, in a field of the header. Current returns the
// key at present, "" for none.
func NewAPIKey(current func() string, fieldOf func(key string) (name, value string)) Credential {
	return &apiKey{fieldOf: fieldOf, current: current}
}

// BearerField is the field of a header that has a key as a bearer token.
func BearerField(key string) (name, value string) { return "Authorization", "Bearer " + key }

// keyField is a field of a header, made once for a key.
type keyField struct {
	key, name string
	values    []string // shared by requests
	before    string   // the key that streams may still know; "" for none
}

// sets returns the field of the header that has the credential, and the option that sets it.
func (e EndpointConfig) sets(keyField func(key string) (name, value string)) (field, option string) {
	switch {
	case e.Auth != nil:
		return "Authorization", "auth"
	case e.Credential != nil:
		field, _ = keyField("")
	}
	return field, "api_key"
}

// Refused implements [Credential]. There is no other key.
func (k *apiKey) Refused(int) bool { return false }

// Secrets implements [Credential].
func (k *apiKey) Secrets() []string {
	secrets := []string{k.current()}
	if f := k.field.Load(); f != nil {
		secrets = append(secrets, f.key, f.before)
	}
	return secrets
}

// Sign implements [Credential].
func (k *apiKey) Sign(r *http.Request) error {
	key := k.current()
	if key == "" {
		return nil
	}
	f := k.field.Load()
	if f == nil || f.key != key {
		name, value := k.fieldOf(key)
		made := &keyField{key: key, name: name, values: []string{value}}
		if f != nil {
			made.before = f.key
		}
		f = made
		k.field.Store(f)
	}
	r.Header[f.name] = f.values
	return nil
}

// ValidCredential returns an error, which does not show the credential, if no Authorization header can
// carry it.
func ValidCredential(credential string) error {
	if strings.ContainsFunc(credential, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return errors.New("api_key has characters that no Authorization header can carry, such as a line end")
	}
	return nil
}

// Credential returns what authorizes the gateway there, nil for nothing but a header.
func (e *Endpoint) Credential() Credential { return e.peer.Credential }

// Secrets returns what the provider is sent to know the gateway by: the credential, and those of
// headers.
func (e *Endpoint) Secrets() (secrets []string) {
	return Secrets(e.peer.Credential, e.fields)
}

// Secrets returns what a credential, nil for none, and header fields have that errors do not show.
func Secrets(c Credential, fields []HeaderField) (secrets []string) {
	if c != nil {
		secrets = append(secrets, c.Secrets()...)
	}
	for _, f := range fields {
		if f.Secret != nil {
			secrets = append(secrets, f.Secret())
		}
	}
	return secrets
}

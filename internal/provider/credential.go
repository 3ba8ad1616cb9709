package provider

import (
	"errors"
	"net/http"
	"strings"
	"sync/atomic"
)

// credential proves to a provider who the gateway is.
type credential interface {
	// sign sets what authorizes a request. It is the last change to the request, whose URL, header and
	// body are final. It is called for every attempt, also for one that is repeated on a new
	// connection. It may wait as long as the request's context lasts.
	sign(r *http.Request, body *Body) error
	// secret is what errors and logs do not show, "" for none.
	secret() string
}

// apiKey is a credential that is sent as it is.
type apiKey struct {
	dialect Dialect
	current func() string // may change; "" for none
	field   atomic.Pointer[keyField]
}

// keyField is a field of a header, made once for a key.
type keyField struct {
	key, name string
	values    []string // shared by requests
}

func (k *apiKey) secret() string { return k.current() }

func (k *apiKey) sign(r *http.Request, _ *Body) error {
	key := k.current()
	if key == "" {
		return nil
	}
	f := k.field.Load()
	if f == nil || f.key != key {
		name, value := k.dialect.KeyField(key)
		f = &keyField{key, name, []string{value}}
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

// Secrets returns what the provider is sent to know the gateway by: the credential, and those of
// headers.
func (e *Endpoint) Secrets() (secrets []string) {
	if e.credential != nil {
		secrets = append(secrets, e.credential.secret())
	}
	for _, f := range e.fields {
		if f.Secret != nil {
			secrets = append(secrets, f.Secret())
		}
	}
	return secrets
}

package handlers

import (
	"cmp"
	"context"
	"net/http"
	"slices"
	"strings"

	"github.com/gatehouse-proxy/gatehouse/internal/request"

	"github.com/gatehouse-proxy/gatehouse/internal/api"
	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/keys"
)

type callerKey struct{}

// authenticated returns the caller that gatehouse_auth has found, or whose key the request has.
func authenticated(g Gateway, r *http.Request, a api.API, resource string) (request.Caller, error) {
	if c, ok := r.Context().Value(callerKey{}).(request.Caller); ok {
		return c, nil
	}
	return authenticate(g, r, a, resource)
}

// authenticate returns the caller whose key the request has or, without any, whom the server names:
// one of both, so that a key that is not good any more does not become somebody else.
func authenticate(g Gateway, r *http.Request, a api.API, resource string) (request.Caller, error) {
	key, err := credential(r, a)
	if err != nil {
		return request.Caller{}, err
	}
	if key == "" {
		if others, ok := Offered[ambient](g); ok {
			if caller, named, err := others.CallerWithoutKey(r); named {
				return caller, err
			}
		}
	}
	return g.Authenticate(key, resource)
}

// resourceOf returns the path to which a secret can be bound, where {id} is a name: that of an MCP
// server. It is "" elsewhere.
func resourceOf(a api.API, name string) string {
	if a == api.API(api.MCP{}) && name != "" {
		return api.MCPPrefix + name
	}
	return ""
}

// ambient is a part of a gateway that knows who has sent a request without a key.
type ambient interface {
	CallerWithoutKey(r *http.Request) (caller request.Caller, named bool, err error)
}

// noKey is what clients send that insist on a key, to say that they have none.
const noKey = "none"

const apiKeyHeader = "X-Api-Key"

// keyParameter is where Google's API takes a key too, in the query.
const keyParameter = "key"

// credential returns the key of a request: its bearer token or, without one, its X-Api-Key, which
// Anthropic's SDKs send. Clients of that family may send both. Two different keys there are refused,
// because which of them is meant is not clear: often one is a key for Anthropic itself. In the other
// families the bearer token counts, as another header may be meant for a backend. Google's family has its
// own header, and a parameter of the query. What says that there is no key is passed over.
func credential(r *http.Request, a api.API) (string, error) {
	token, key := orNone(bearer(r.Header)), orNone(r.Header.Get(apiKeyHeader))
	switch a.(type) {
	case api.Google:
		return cmp.Or(token, orNone(r.Header.Get(api.GoogleKeyHeader)), orNone(r.URL.Query().Get(keyParameter)), key), nil
	case api.Anthropic:
		if token != "" && key != "" && token != key {
			return "", apierror.New(apierror.InvalidAPIKey, "the request has two different keys: send the gateway's key in one header, or the same in both")
		}
	}
	return cmp.Or(token, key), nil
}

// orNone returns a key, "" for the text that stands for none.
func orNone(key string) string {
	if key == noKey {
		return ""
	}
	return key
}

// withCaller returns the request for the next handler: its context has the caller, and its header
// no key.
func withCaller(g Gateway, r *http.Request, c request.Caller) *http.Request {
	return withoutKeys(g, r.WithContext(context.WithValue(r.Context(), callerKey{}, c)))
}

// withoutKeys returns the request with a header of its own that has no Authorization and no value
// that is a key of a gateway, with or without a scheme, and without such a key in its query. Other values
// may be the backend's.
func withoutKeys(g Gateway, r *http.Request) *http.Request {
	r = r.WithContext(r.Context())
	r.Header = r.Header.Clone()
	r.Header.Del("Authorization")
	isKey := func(text string) bool { return g.IsKey(text) || keys.HasForm(text) }
	for name, values := range r.Header {
		r.Header[name] = slices.DeleteFunc(values, func(value string) bool {
			_, token, _ := strings.Cut(value, " ")
			return isKey(value) || isKey(strings.TrimSpace(token))
		})
		if len(r.Header[name]) == 0 {
			delete(r.Header, name)
		}
	}
	if q := r.URL.Query(); slices.ContainsFunc(q[keyParameter], isKey) {
		q.Del(keyParameter)
		at := *r.URL
		at.RawQuery = q.Encode()
		r.URL, r.RequestURI = &at, at.RequestURI()
	}
	return r
}

// bearer returns the token of the Authorization header (RFC 6750, 2.1). The scheme's case does not
// matter.
func bearer(h http.Header) string {
	scheme, token, _ := strings.Cut(h.Get("Authorization"), " ")
	if !strings.EqualFold(scheme, "Bearer") {
		return ""
	}
	return strings.TrimSpace(token)
}

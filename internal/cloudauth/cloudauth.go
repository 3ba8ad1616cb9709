// Package cloudauth authorizes requests to model providers and MCP servers by the accounts of clouds: tokens
// of Google and of Microsoft Entra ID, API keys of Amazon Bedrock, and requests signed for AWS. It also
// gets tokens of any OAuth authorization server, with the gateway's own client credentials.
//
//	request --Sign--> cache --has one--> a header, or a signature
//	                    | none, or about to expire
//	                    v
//	                  source: a token endpoint, a file, a metadata server
//
// A [Credential] keeps what its source gave until shortly before it expires, and asks for the next one
// in the background. The present one is used as long as it is valid. One that a provider refuses is renewed, and used until then.
//
// Sources: the SDKs of the vendors (google-auth, aws-sdk-go-v2, MSAL) and their documentation; RFC 6749 and
// RFC 8707. Nothing here was tried against an account.
package cloudauth

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/url"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/provider"
)

// Status is the state of a credential of a cloud.
type Status = provider.IssuedStatus

// Credential is one that a cloud issues.
type Credential = provider.Issued

// fetchTimeout bounds a request to a source.
const fetchTimeout = 10 * time.Second

// bearer authorizes by a token.
type bearer struct {
	kind   string
	tokens *cache[token]
}

// token is a bearer token, with the field that names who pays for the call; "" for none.
type token struct{ value, quotaProject string }

func newBearer(ctx context.Context, kind string, now func() time.Time, early time.Duration, fetch fetch[token]) *bearer {
	return &bearer{kind, newCache(ctx, now, early, fetch)}
}

// Sign implements [Credential].
func (b *bearer) Sign(r *http.Request) error {
	if err := Secure(r.URL); err != nil {
		return err
	}
	t, err := b.tokens.get(r.Context())
	if err != nil {
		return err
	}
	r.Header["Authorization"] = []string{"Bearer " + t.value}
	if t.quotaProject != "" {
		r.Header["X-Goog-User-Project"] = []string{t.quotaProject}
	}
	return nil
}

// Refused implements [Credential].
func (b *bearer) Refused(int) bool { return b.tokens.refused() }

// Secrets implements [Credential].
func (b *bearer) Secrets() (secrets []string) {
	for _, t := range b.tokens.known() {
		secrets = append(secrets, t.value)
	}
	return secrets
}

// Fetch implements [Credential].
func (b *bearer) Fetch(ctx context.Context) error { return b.tokens.renew(ctx) }

// Status implements [Credential].
func (b *bearer) Status() Status {
	s := b.tokens.status()
	s.Kind = b.kind
	return s
}

var errPlain = errors.New("a token is not sent over plain http")

// Secure returns an error for an address to which no token is sent, because others could read it.
func Secure(u *url.URL) error {
	if u.Scheme == "https" || u.Hostname() == "localhost" {
		return nil
	}
	if ip := net.ParseIP(u.Hostname()); ip != nil && ip.IsLoopback() {
		return nil
	}
	return errPlain
}

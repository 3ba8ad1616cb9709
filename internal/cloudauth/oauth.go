package cloudauth

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// OAuth says how the gateway gets tokens of an authorization server with credentials of its own (RFC 6749,
// 4.4: client credentials).
type OAuth struct {
	TokenURL string // https, or http on this machine; no fragment
	ClientID string
	Secret   func() string // at present
	Method   string        // how the secret is sent; "" = SecretBasic
	Scope    string        // with spaces between; "" = what the server gives
	Audience string        // of servers that want it; "" = none
	Resource string        // what the token is for (RFC 8707); "" = none
}

// The ways to send the secret of a client (RFC 6749, 2.3.1; the names are those of RFC 7591, 2).
const (
	SecretBasic = "client_secret_basic"
	SecretPost  = "client_secret_post"
)

const (
	oauthEarly = 2 * time.Minute
	// oauthLife is for a token of which the server does not say how long it lives (RFC 6749, 5.1 only
	// recommends it). One that ends earlier is renewed when it is refused.
	oauthLife = 10 * time.Minute
)

// NewOAuth returns a credential of an authorization server. The context ends its work in the background.
func NewOAuth(ctx context.Context, o OAuth, client *http.Client, now func() time.Time) (Credential, error) {
	if err := o.check(); err != nil {
		return nil, err
	}
	return newBearer(ctx, "oauth", now, oauthEarly, func(ctx context.Context) (token, time.Time, error) {
		r, err := o.request(ctx)
		if err != nil {
			return token{}, time.Time{}, err
		}
		value, expires, err := askToken(client, r, now, oauthLife)
		return token{value: value}, expires, err
	}), nil
}

func (o *OAuth) check() error {
	endpoint, err := url.Parse(o.TokenURL)
	switch {
	case err != nil || endpoint.Scheme != "http" && endpoint.Scheme != "https" || endpoint.Host == "":
		return fmt.Errorf("token_url %q: write the address of the token endpoint, https://host/…", o.TokenURL)
	case endpoint.User != nil || endpoint.Fragment != "":
		return errors.New("token_url: no user and no fragment is possible")
	case Secure(endpoint) != nil:
		return fmt.Errorf("token_url %q: a secret is not sent over plain http: write https://", o.TokenURL)
	case o.ClientID == "":
		return errors.New("client_id is missing: the authorization server has given it to the gateway")
	case o.Secret == nil:
		return errors.New("client_secret is missing")
	case o.Method != "" && o.Method != SecretBasic && o.Method != SecretPost:
		return fmt.Errorf("auth_method %q: want %s or %s", o.Method, SecretBasic, SecretPost)
	}
	if o.Resource != "" {
		resource, err := url.Parse(o.Resource)
		if err != nil || !resource.IsAbs() || resource.Fragment != "" {
			return fmt.Errorf("resource %q: want an absolute URI without a fragment", o.Resource)
		}
	}
	for _, p := range []struct{ option, value string }{{"client_id", o.ClientID}, {"scope", o.Scope}, {"audience", o.Audience}} {
		if strings.ContainsFunc(p.value, func(r rune) bool { return r < ' ' || r > '~' }) {
			return fmt.Errorf("%s %q: it has characters that OAuth does not allow", p.option, p.value)
		}
	}
	return nil
}

// request makes the request for a token.
func (o *OAuth) request(ctx context.Context) (*http.Request, error) {
	form := url.Values{"grant_type": {"client_credentials"}}
	for name, value := range map[string]string{"scope": o.Scope, "audience": o.Audience, "resource": o.Resource} {
		if value != "" {
			form.Set(name, value)
		}
	}
	if o.Method == SecretPost {
		form.Set("client_id", o.ClientID)
		form.Set("client_secret", o.Secret())
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, o.TokenURL, strings.NewReader(form.Encode()))
	if err != nil {
		return nil, err
	}
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.Header.Set("Accept", "application/json")
	if o.Method != SecretPost { // both are encoded as in a form before they are joined
		joined := url.QueryEscape(o.ClientID) + ":" + url.QueryEscape(o.Secret())
		r.Header.Set("Authorization", "Basic "+base64.StdEncoding.EncodeToString([]byte(joined)))
	}
	return r, nil
}

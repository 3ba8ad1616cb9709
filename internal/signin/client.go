package signin

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"sync"
	"time"

	"golang.org/x/oauth2"

	"github.com/gatehouse-proxy/gatehouse/internal/identity"
)

const (
	// freshFor is how long it is known what an identity provider says of itself; an older word is
	// good while it does not answer.
	freshFor = time.Hour
	// pause is how long an identity provider is left alone that did not answer: those who wait for
	// it are told at once.
	pause = 5 * time.Second
	// requestTimeout bounds one request to an identity provider.
	requestTimeout = 5 * time.Second
	// maxAnswer bounds an answer, in bytes: three tokens with the groups of a person.
	maxAnswer = 64 << 10
	// maxAsking is how many codes, and how many refresh tokens, a provider is asked about at once:
	// others wait as long as they may. Anybody can end a sign-in with a code that is none, and
	// holds up nobody who is signed in.
	maxAsking = 32
	// maxCodes is how many codes are asked about or wait: the next is refused at once.
	maxCodes = 8 * maxAsking
	// toldFor is how long it is said that a provider did not answer, unless it has answered since.
	toldFor = 5 * time.Minute
	// maxRefresh bounds a refresh token, in bytes: it is kept with each sign-in.
	maxRefresh = 8 << 10
)

// client asks one identity provider.
type client struct {
	Client
	issuer  string // its URL
	issuers *identity.Issuers
	http    *http.Client
	now     func() time.Time
	turns   turns

	mu     sync.Mutex // guards the following, and is held while the provider is asked what it is
	at     identity.Discovered
	read   time.Time // when that was read; zero: never
	paused time.Time // until then it is not asked
	failed failed    // zero: it has answered
}

// turns have an element for each code and each refresh token that is asked about; finishing has one
// also for each code that waits.
type turns struct{ codes, refreshes, finishing chan struct{} }

// failed is when and why a provider did not answer.
type failed struct {
	at    time.Time
	cause error
}

func newClient(of Client, c *Config) (*client, error) {
	switch {
	case of.ID == "":
		return nil, errors.New("its id is missing")
	case of.Secret == "":
		return nil, errors.New("its secret is missing")
	}
	if len(of.Scopes) == 0 {
		of.Scopes = DefaultScopes
	}
	if !slices.Contains(of.Scopes, "openid") {
		return nil, errors.New("scopes: openid is needed, without which no issuer says who signs in")
	}
	bounded := *c.HTTP
	bounded.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse } // a secret is sent
	if bounded.Timeout = requestTimeout; bounded.Transport == nil {
		bounded.Transport = http.DefaultTransport
	}
	bounded.Transport = limited{bounded.Transport}
	return &client{
		Client: of, issuer: c.Issuers.URL(of.Identity), issuers: c.Issuers, http: &bounded, now: c.Now,
		turns: turns{make(chan struct{}, maxAsking), make(chan struct{}, maxAsking), make(chan struct{}, maxCodes)},
	}, nil
}

// limited bounds answers: the rest of a larger one is not read.
type limited struct{ http.RoundTripper }

func (l limited) RoundTrip(r *http.Request) (*http.Response, error) {
	answer, err := l.RoundTripper.RoundTrip(r)
	if err == nil {
		answer.Body = struct {
			io.Reader
			io.Closer
		}{io.LimitReader(answer.Body, maxAnswer), answer.Body}
	}
	return answer, err
}

// discovered returns what the identity provider says of itself.
func (c *client) discovered(ctx context.Context) (identity.Discovered, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := c.now()
	if !c.read.IsZero() && (now.Sub(c.read) < freshFor || now.Before(c.paused)) {
		return c.at, nil
	}
	if now.Before(c.paused) {
		return c.at, ErrUnavailable
	}
	at, err := c.issuers.Discover(context.WithoutCancel(ctx), c.Identity) // others wait for it too
	if err == nil && (!isEndpoint(at.Authorization) || !isEndpoint(at.Token) || at.UserInfo != "" && !isEndpoint(at.UserInfo)) {
		err = errors.New("its OpenID configuration has no endpoints with https")
	}
	switch {
	case err == nil:
		c.at, c.read, c.failed = at, now, failed{}
		return at, nil
	case !c.read.IsZero():
		c.paused = c.now().Add(pause)
		return c.at, nil
	}
	c.failed = failed{c.now(), err}
	c.paused = c.failed.at.Add(pause)
	return at, fmt.Errorf("%w: %w", ErrUnavailable, err)
}

// note notes whether the provider has answered.
func (c *client) note(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.failed = (failed{}); errors.Is(err, ErrUnavailable) {
		c.failed = failed{c.now(), err}
	}
}

// away returns why the provider did not answer, nil if it has.
func (c *client) away() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.now().Sub(c.failed.at) >= toldFor {
		return nil
	}
	return c.failed.cause
}

// ask asks the token endpoint in its turn.
func (c *client) ask(ctx context.Context, asking chan struct{}, question func(context.Context) (*oauth2.Token, error)) (*oauth2.Token, error) {
	select {
	case asking <- struct{}{}:
	case <-ctx.Done():
		return nil, fmt.Errorf("%w: too many wait for it", ErrUnavailable)
	}
	defer func() { <-asking }()
	token, err := question(context.WithValue(ctx, oauth2.HTTPClient, c.http))
	err = c.failure(err)
	c.note(err)
	return token, err
}

func isEndpoint(text string) bool {
	u, err := url.Parse(text)
	return err == nil && u.Host != "" && u.Fragment == "" && (u.Scheme == "https" || u.Scheme == "http" && identity.OnThisMachine(u.Hostname()))
}

func (c *client) config(at *identity.Discovered, origin string) *oauth2.Config {
	config := &oauth2.Config{
		ClientID: c.ID, ClientSecret: c.Secret, Scopes: c.Scopes, RedirectURL: origin + CallbackPath,
		// The default is client_secret_basic (OpenID Connect Discovery 1.0, section 3).
		Endpoint: oauth2.Endpoint{AuthURL: at.Authorization, TokenURL: at.Token, AuthStyle: oauth2.AuthStyleInHeader},
	}
	if len(at.AuthMethods) > 0 && !slices.Contains(at.AuthMethods, "client_secret_basic") {
		config.Endpoint.AuthStyle = oauth2.AuthStyleInParams
	}
	return config
}

func (c *client) exchange(ctx context.Context, at *identity.Discovered, origin, code, verifier string) (*oauth2.Token, error) {
	select {
	case c.turns.finishing <- struct{}{}:
	default:
		return nil, fmt.Errorf("%w: too many sign-ins end at once", ErrUnavailable)
	}
	defer func() { <-c.turns.finishing }()
	return c.ask(ctx, c.turns.codes, func(ctx context.Context) (*oauth2.Token, error) {
		return c.config(at, origin).Exchange(ctx, code, oauth2.VerifierOption(verifier))
	})
}

// refreshed asks for new tokens of somebody who is signed in.
func (c *client) refreshed(ctx context.Context, at *identity.Discovered, refresh string) (*oauth2.Token, error) {
	return c.ask(ctx, c.turns.refreshes, func(ctx context.Context) (*oauth2.Token, error) {
		return c.config(at, "").TokenSource(ctx, &oauth2.Token{RefreshToken: refresh}).Token()
	})
}

// ended are the errors after which a person has to sign in again.
var ended = []string{"invalid_grant", "interaction_required", "login_required", "consent_required"}

// failure is an error of the token endpoint. What else it has answered is not repeated: nobody
// knows what is in it.
func (c *client) failure(err error) error {
	var answer *oauth2.RetrieveError
	var lost *url.Error
	switch {
	case err == nil:
		return nil
	case errors.As(err, &answer) && slices.Contains(ended, answer.ErrorCode):
		return fmt.Errorf("%w: %s", ErrGone, answer.ErrorCode)
	case errors.As(err, &answer):
		return fmt.Errorf("%w: status %d, error %q", ErrUnavailable, answer.Response.StatusCode, errorCode(answer.ErrorCode))
	case errors.As(err, &lost):
		return fmt.Errorf("%w: %w", ErrUnavailable, lost)
	}
	return fmt.Errorf("%w: the answer of its token endpoint cannot be read", ErrUnavailable)
}

// person returns whom the tokens of an identity provider are of, and the token with which it can be
// asked again, also if others of its answers are missing: it takes the token before no more.
func (c *client) person(ctx context.Context, at *identity.Discovered, token *oauth2.Token, nonce string) (p identity.Person, refresh string, err error) {
	if refresh = token.RefreshToken; len(refresh) > maxRefresh {
		return p, "", fmt.Errorf("%w: its refresh token has more than %d bytes", identity.ErrInvalid, maxRefresh)
	}
	var said *identity.Claims
	text, _ := token.Extra("id_token").(string)
	switch {
	case text != "":
		said, err = c.issuers.IDToken(c.Identity, text, nonce)
	case nonce != "":
		err = fmt.Errorf("%w: there is no ID token", identity.ErrInvalid)
	default: // of a refresh, where it may be left out (OpenID Connect Core 1.0, section 12.2)
		said, err = c.userInfo(ctx, at, token)
	}
	if err != nil {
		return p, refresh, unavailable(err)
	}
	if text != "" && said.Lack() && at.UserInfo != "" {
		more, err := c.userInfo(ctx, at, token)
		if err == nil {
			err = said.Add(more)
		}
		if err != nil {
			return p, refresh, err
		}
	}
	p, err = said.Person(c.now(), Life)
	return p, refresh, err
}

// unavailable makes one error of those that say that an issuer is away.
func unavailable(err error) error {
	if errors.Is(err, identity.ErrUnavailable) {
		return fmt.Errorf("%w: %w", ErrUnavailable, err)
	}
	return err
}

// userInfo asks who has an access token (OpenID Connect Core 1.0, section 5.3).
func (c *client) userInfo(ctx context.Context, at *identity.Discovered, token *oauth2.Token) (*identity.Claims, error) {
	if at.UserInfo == "" {
		return nil, fmt.Errorf("%w: it names nobody: there is neither an ID token nor a userinfo endpoint", ErrGone)
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, at.UserInfo, nil)
	if err != nil {
		return nil, err
	}
	r.Header.Set("Authorization", "Bearer "+token.AccessToken)
	r.Header.Set("Accept", "application/json")
	answer, err := c.http.Do(r)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrUnavailable, err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body) // bounded by limited
	if err != nil || answer.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("%w: its userinfo endpoint answers with status %d", ErrUnavailable, answer.StatusCode)
	}
	return c.issuers.UserInfo(c.Identity, text)
}

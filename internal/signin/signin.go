// Package signin is the gateway as a client of identity providers (OpenID Connect Core 1.0, the
// authorization code flow with PKCE): people sign in there with their browser.
//
//	signIns, err := signin.New(config)
//	err = signIns.Begin(w, r, "okta", next)        // sends the browser to the identity provider
//	signIns.Of(r)                                  // at CallbackPath: what the sign-in is for
//	result, err := signIns.Finish(w, r)            // who it is
//	result, err = signIns.Again(ctx, name, id, result.Refresh) // later: who it is by now
//
// A sign-in under way is in a cookie of the browser that has begun it, encrypted, and nowhere else.
package signin

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"time"

	"golang.org/x/oauth2"

	"github.com/gatehouse-proxy/gatehouse/internal/identity"
)

const (
	// CallbackPath is where identity providers send browsers back to, on the host where the sign-in
	// has begun.
	CallbackPath = "/.gatehouse/callback"

	// Life is how long somebody is signed in before the identity provider must be asked again.
	Life = time.Hour

	// underWay is how long a person has at the identity provider.
	underWay = 10 * time.Minute
	// finishTimeout bounds all that is asked of the identity provider to finish a sign-in.
	finishTimeout = 10 * time.Second
	// againTimeout bounds it for somebody who is signed in, and waits.
	againTimeout = 3 * time.Second

	// maxNext bounds the data of a Next, in bytes: it is in a cookie, of which browsers keep 4 KiB.
	maxNext = 1 << 10
	// maxCode bounds a code of the identity provider and its state, in bytes.
	maxCode = 4 << 10
)

var (
	// ErrNotBegun says that this browser has begun no such sign-in, or too long ago, or that it is
	// finished.
	ErrNotBegun = errors.New("this browser has begun no such sign-in, or more than ten minutes ago, or has finished it")
	// ErrGone is wrapped if the identity provider lets somebody in no longer.
	ErrGone = errors.New("the identity provider ends the sign-in")
	// ErrUnavailable is wrapped if the identity provider cannot be asked.
	ErrUnavailable = errors.New("the identity provider does not answer")
)

// RefusedError says that the identity provider has refused a sign-in.
type RefusedError struct {
	Code string // of RFC 6749, 4.1.2.1, or of OpenID Connect: "access_denied"
}

func (e *RefusedError) Error() string {
	return fmt.Sprintf("the identity provider has refused the sign-in: %s", e.Code)
}

// Next is what a sign-in is for. Browsers can neither read nor change it.
type Next struct {
	Purpose string
	Data    string // at most 1 KiB
}

// Result is who has signed in.
type Result struct {
	Identity string // the name of its block
	Person   identity.Person
	Refresh  string // of the identity provider, "" for none: a secret
	Next     Next   // of Finish
}

// Client is the gateway as a client of an identity provider.
type Client struct {
	Identity string // the name of its block
	ID       string
	Secret   string
	// Scopes are asked for. Default: DefaultScopes.
	Scopes []string
}

// DefaultScopes are those of a client without any.
var DefaultScopes = []string{"openid", "profile", "email"}

// Config is what a configuration says of sign-ins.
type Config struct {
	// Origin is where browsers see the gateway: "https://ai.example.com".
	Origin  string
	Clients []Client
	Issuers *identity.Issuers
	Sealer  *Sealer // nil: Share sets it later
	// HTTP asks identity providers. Redirects are not followed.
	HTTP *http.Client
	Now  func() time.Time
}

// SignIns are those of a configuration, at an origin. They are safe for concurrent use.
type SignIns struct {
	origin  string
	clients []*client
	issuers *identity.Issuers
	sealer  *Sealer
	flights *Flights
	now     func() time.Time
}

// New checks the configuration.
func New(c Config) (*SignIns, error) {
	if err := CheckOrigin(c.Origin); err != nil {
		return nil, err
	}
	s := &SignIns{origin: c.Origin, issuers: c.Issuers, sealer: c.Sealer, flights: NewFlights(), now: c.Now}
	for _, of := range c.Clients {
		made, err := newClient(of, &c)
		if err != nil {
			return nil, fmt.Errorf("identity %q: client: %w", of.Identity, err)
		}
		s.clients = append(s.clients, made)
	}
	return s, nil
}

// CheckOrigin returns an error unless a text is an origin as browsers send it.
func CheckOrigin(origin string) error {
	u, err := url.Parse(origin)
	switch {
	case origin == "":
		return errors.New("origin is missing: people come back there from their identity provider, as in origin https://ai.example.com")
	case err != nil || u.Host == "" || u.String() != u.Scheme+"://"+strings.ToLower(u.Host) || u.User != nil || u.Port() == "443" && u.Scheme == "https":
		return fmt.Errorf("origin %q: want https:// and a host as browsers send it, without a path or :443, as in https://ai.example.com", origin)
	case u.Scheme != "https" && (u.Scheme != "http" || !identity.OnThisMachine(u.Hostname())):
		return fmt.Errorf("origin %q: http is only possible on this machine (127.0.0.1, localhost)", origin)
	}
	return nil
}

// Sealer is that of the configuration, nil for none yet.
func (s *SignIns) Sealer() *Sealer { return s.sealer }

// Share sets what outlives a configuration, before anybody signs in: the sealer, and what is asked
// of identity providers.
func (s *SignIns) Share(sealer *Sealer, flights *Flights) { s.sealer, s.flights = sealer, flights }

// At returns the sign-ins at another origin, where browsers see a part of the gateway.
func (s *SignIns) At(origin string) *SignIns {
	other := *s
	other.origin = origin
	return &other
}

// Origin is where browsers come back.
func (s *SignIns) Origin() string { return s.origin }

// Names are those of the identities where people can sign in, in the order of the configuration.
func (s *SignIns) Names() (names []string) {
	for _, c := range s.clients {
		names = append(names, c.Identity)
	}
	return names
}

// Away returns why an identity provider did not answer in the last minutes, nil if it has.
func (s *SignIns) Away(name string) error {
	if c := s.client(name); c != nil {
		return c.away()
	}
	return nil
}

func (s *SignIns) client(name string) *client {
	for _, c := range s.clients {
		if c.Identity == name {
			return c
		}
	}
	return nil
}

// Begin sends the browser to an identity provider to sign in. The error is for an identity without
// a client or a Next that is too long, or wraps ErrUnavailable.
func (s *SignIns) Begin(w http.ResponseWriter, r *http.Request, name string, next Next) error {
	c := s.client(name)
	if c == nil {
		return fmt.Errorf("nobody can sign in at an identity %q", name)
	}
	if len(next.Purpose)+len(next.Data) > maxNext {
		return fmt.Errorf("what the sign-in is for has more than %d bytes", maxNext)
	}
	at, err := c.discovered(r.Context())
	if err != nil {
		return err
	}
	f := flow{
		Identity: name, Origin: s.origin, State: random(), Nonce: random(), Verifier: oauth2.GenerateVerifier(), Next: next, Ends: s.now().Add(underWay).Unix(),
	}
	s.keep(w, r, &f)
	to := c.config(&at, s.origin).AuthCodeURL(f.State, oauth2.S256ChallengeOption(f.Verifier), oauth2.SetAuthURLParam("nonce", f.Nonce))
	http.Redirect(w, r, to, http.StatusSeeOther)
	return nil
}

// Of returns what the sign-in is for that a request to CallbackPath ends; ok is false if this
// browser has not begun it.
func (s *SignIns) Of(r *http.Request) (next Next, ok bool) {
	f, ok := s.kept(r)
	return f.Next, ok
}

// Finish returns who has signed in, when the browser comes back. It takes the cookie away, whatever
// the end: a sign-in is finished once. The error is or wraps ErrNotBegun, ErrUnavailable,
// identity.ErrInvalid, a *RefusedError or an *identity.NoRoleError; then the result has Identity
// and Next, if they are known.
func (s *SignIns) Finish(w http.ResponseWriter, r *http.Request) (result Result, err error) {
	f, ok := s.kept(r)
	c := s.client(f.Identity)
	if !ok || c == nil {
		return result, ErrNotBegun
	}
	s.forget(w, f.State)
	result = Result{Identity: f.Identity, Next: f.Next}
	ctx, cancel := context.WithTimeout(r.Context(), finishTimeout)
	defer cancel()
	at, err := c.discovered(ctx)
	if err != nil {
		return result, err
	}
	q := r.URL.Query()
	// RFC 9207: an answer of another provider must not be taken for one of this.
	if iss, sent := q["iss"]; (sent || at.NamesItself) && (len(iss) != 1 || iss[0] != c.issuer) {
		return result, fmt.Errorf("%w: another issuer has sent the browser back", identity.ErrInvalid)
	}
	if code := q.Get("error"); code != "" {
		return result, &RefusedError{errorCode(code)}
	}
	code := q.Get("code")
	if code == "" || len(code) > maxCode {
		return result, fmt.Errorf("%w: the browser came back without a code", identity.ErrInvalid)
	}
	token, err := c.exchange(ctx, &at, s.origin, code, f.Verifier)
	if errors.Is(err, ErrGone) {
		return result, fmt.Errorf("%w: the code is not good", identity.ErrInvalid)
	}
	if err != nil {
		return result, err
	}
	result.Person, result.Refresh, err = c.person(ctx, &at, token, f.Nonce)
	return result, err
}

var errorCodeForm = regexp.MustCompile(`^[a-z_]{1,64}$`)

// errorCode is the code of an identity provider, as far as it has the form of one: anybody can send
// a browser here with a text.
func errorCode(code string) string {
	if errorCodeForm.MatchString(code) {
		return code
	}
	return "for a reason that is not shown"
}

// randomBytes is how much of chance is in a state and a nonce.
const randomBytes = 32

func random() string {
	raw := make([]byte, randomBytes)
	_, _ = rand.Read(raw) // never fails
	return base64.RawURLEncoding.EncodeToString(raw)
}

func equal(a, b string) bool {
	x, y := sha256.Sum256([]byte(a)), sha256.Sum256([]byte(b))
	return subtle.ConstantTimeCompare(x[:], y[:]) == 1
}

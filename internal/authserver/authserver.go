// Package authserver signs people in to programs: it is an OAuth authorization server (RFC 6749)
// for clients of the gateway, and asks an identity provider who somebody is.
//
//	state := authserver.NewState(time.Now)
//	err := state.Open(ctx, store)            // what earlier processes have signed in
//	s, err := authserver.New(config)         // checks it
//	s = s.With(state, provider, logger)
//	s.ServeToken(w, r)                       // and the others
//	in, err := s.Find(ctx, token)            // whose a token is
//
// A sign-in is a person at one client. It has access tokens, which are good for an hour or so, and
// refresh tokens, each good once: whoever refreshes gets another, and the identity provider is
// asked whether the person may still come. A refresh token that is used twice ends the sign-in (RFC
// 9700, section 4.14.2), but shortly after its first use, for the answer may have been lost.
package authserver

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"
)

const (
	// DefaultTokenLife is how long an access token is good: the longest that somebody works on who
	// has left and whose identity provider says so.
	DefaultTokenLife = time.Hour
	// DefaultRefreshLife is how long a sign-in lasts.
	DefaultRefreshLife = 30 * 24 * time.Hour

	// codeLife is how long a code waits for a person, and interval how often a client asks (RFC
	// 8628, section 3.2).
	codeLife = 10 * time.Minute
	interval = 5 * time.Second

	// reuseGrace is how long a used refresh token is still good: an answer may have been lost, and
	// processes of a client that share their tokens may refresh at once.
	reuseGrace = 30 * time.Second
	// againTimeout bounds the question to the identity provider at a refresh.
	againTimeout = 3 * time.Second
	// storeTimeout bounds a question to the store.
	storeTimeout = 5 * time.Second

	// maxOfPerson bounds the sign-ins of one person, those for resources apart from the others: a
	// machine that signs in at each start of a program must not fill the store, and clients of
	// tools sign in for each server. The oldest ends first.
	maxOfPerson = 50
	// maxTokens bounds the access tokens, and the refresh tokens, of a sign-in that are good at
	// once: about as many processes as one machine has that share the tokens of a client.
	maxTokens = 16
)

var (
	// ErrUnavailable is wrapped if the identity provider, or the store, cannot be asked now.
	ErrUnavailable = errors.New("it cannot be asked now")
	// ErrAway is ErrUnavailable where it is the identity provider.
	ErrAway = fmt.Errorf("the identity provider: %w", ErrUnavailable)
	// ErrRefused is wrapped if an identity provider does not let somebody in any more, or no role
	// is for them.
	ErrRefused = errors.New("the identity provider does not let the person in")
	// ErrGone says that a sign-in, or a code, is not there, or not good any more.
	ErrGone = errors.New("there is no such sign-in")
)

// Person is somebody whom an identity provider has named.
type Person struct {
	// ID is the same for all sign-ins of a person: see internal/identity.
	ID string `json:"id"`
	// Hash stands for a secret, of which a person has none that stays the same.
	Hash string `json:"hash"`
	// Name is for display: nothing depends on it.
	Name string `json:"name"`
	// Identity is the block of the identity provider.
	Identity string `json:"identity"`
	// Role is what the person may do.
	Role string `json:"role"`
	// By tells the configuration that has chosen the role; "" of an earlier version.
	By string `json:"by,omitempty"`
}

// Provider is how people sign in.
type Provider interface {
	// Choices are the identity providers at which people can sign in.
	Choices() []string
	// Begin returns where the browser has to go to sign in at one of the choices, and sets cookies
	// without which nobody can finish it. Code comes back then, see [Server.Finish]. The error may
	// wrap ErrUnavailable.
	Begin(w http.ResponseWriter, r *http.Request, identity, code string) (location string, err error)
	// Again asks the identity provider whether a person may still come, by the refresh token that
	// it has given, and returns the person as it is now, and the next token. The error wraps
	// ErrRefused or ErrUnavailable; with the latter there may be a next token too.
	Again(ctx context.Context, p Person, refresh string) (now Person, next string, err error)
	// Still reports whether the configuration is the one by which a person has a role.
	Still(p Person) bool
	// Rights are those of a role that programs can be given.
	Rights(role string) []string
	// MaxLife bounds how long a role is good at a choice; 0: nothing does.
	MaxLife(identity string) time.Duration
}

// Config is what a server works with.
type Config struct {
	// Origin is where clients reach the gateway, such as https://ai.example.com.
	Origin string
	// Keys protect what the server gives out and keeps. The first is used, the others are known.
	Keys                   []string
	TokenLife, RefreshLife time.Duration
	// Client returns the address of who asks. Default: that of the connection.
	Client func(*http.Request) string

	// Scopes are the rights that programs can be given. Those of a resource have ResourceScope.
	Scopes []string
	// Clients are those that need not register: the addresses to which browsers return, by the ID.
	Clients map[string][]string
	// ClientHosts are the hosts where other clients can be that are not on the person's machine.
	// None: all.
	ClientHosts []string
	// NoDocuments says that no metadata document can be fetched: clients register then.
	NoDocuments bool
	// Documents fetches the metadata documents of clients. Default: from public addresses alone.
	Documents *http.Client
}

// MinKey is the shortest key, in bytes. 32 random bytes have 43 characters in base64.
const MinKey = 32

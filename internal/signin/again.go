package signin

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/identity"
)

// Again asks an identity provider whether somebody, by the ID of the person, is still let in, with
// the refresh token of the last answer. It takes at most 3 s. The result has the claims as they are
// now and the next refresh token. The error wraps ErrGone: who it was must sign in again;
// ErrUnavailable: nobody knows, or what it says is not valid, ask again, with the refresh token of
// the result if it has one; or is an *identity.NoRoleError.
//
// Those who ask with the same token at once, or within 2 minutes, get one answer: most providers
// take a token once, and end all if it comes again. Who leaves is waited for, so that the next
// token is kept.
func (s *SignIns) Again(ctx context.Context, name, id, refresh string) (Result, error) {
	c := s.client(name)
	if c == nil || refresh == "" {
		return Result{}, fmt.Errorf("%w: it gives no token to ask with", ErrGone)
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), againTimeout)
	defer cancel()
	old := func(r Result) bool { return r.Person.By != "" && !s.issuers.Still(r.Person) } // an answer by other rules
	result, err := s.flights.do(ctx, s.now, sha256.Sum256([]byte(name+"\n"+id+"\n"+refresh)), func(r Result) bool {
		return old(r) && (r.Refresh == "" || r.Refresh == refresh) // and no other token to ask with
	}, func(ctx context.Context) (Result, error) { return c.again(ctx, id, refresh) })
	if old(result) {
		return Result{Refresh: result.Refresh}, fmt.Errorf("%w since the configuration has changed", ErrUnavailable)
	}
	return result, err
}

// Issuers are the identities of sign-ins.
func Issuers(s *SignIns) *identity.Issuers { return s.issuers }

func (c *client) again(ctx context.Context, id, refresh string) (Result, error) {
	at, err := c.discovered(ctx)
	if err != nil {
		return Result{}, err
	}
	token, err := c.refreshed(ctx, &at, refresh)
	if err != nil {
		return Result{}, err
	}
	result := Result{Identity: c.Identity}
	result.Person, result.Refresh, err = c.person(ctx, &at, token, "")
	if result.Person.ID != "" && result.Person.ID != id {
		return Result{}, fmt.Errorf("%w: its new token is of somebody else", ErrGone)
	}
	if errors.Is(err, identity.ErrInvalid) { // by a key that is not known yet, or a clock: no word that somebody is out
		err = fmt.Errorf("%w with what is valid: %w", ErrUnavailable, err)
	}
	if errors.Is(err, ErrUnavailable) && result.Refresh == refresh {
		result.Refresh = "" // nothing to keep: it is taken again
	}
	return result, err
}

const (
	// lostAnswer is how long an answer is kept for those who have not got it: they ask again after
	// half a minute, with the token that is used up.
	lostAnswer = 2 * time.Minute
	// maxFlights bounds the answers that are kept: four thousand people are asked for in that time.
	maxFlights = 4000
)

// Flights are questions to identity providers under way, and their answers. Configurations of a
// process share them: the one before and the next have the same sign-ins. They are safe for
// concurrent use.
type Flights struct {
	mu sync.Mutex // guards the following
	of map[[sha256.Size]byte]*flight
}

type flight struct {
	done   chan struct{}
	result Result
	err    error
	ended  time.Time // zero: under way
}

// NewFlights returns none.
func NewFlights() *Flights { return &Flights{of: map[[sha256.Size]byte]*flight{}} }

// do asks once for all who wait, and again if the kept answer is stale. A caller who leaves does
// not end it for the others.
func (s *Flights) do(ctx context.Context, now func() time.Time, of [sha256.Size]byte, stale func(Result) bool,
	ask func(context.Context) (Result, error),
) (Result, error) {
	s.mu.Lock()
	s.drop(now())
	f := s.of[of]
	if f == nil || !f.ended.IsZero() && stale(f.result) {
		f = &flight{done: make(chan struct{}), err: ErrUnavailable}
		s.of[of] = f
		go func() {
			defer func() { s.end(of, f, recover(), now()) }()
			ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), againTimeout)
			defer cancel()
			f.result, f.err = ask(ctx)
		}()
	}
	s.mu.Unlock()
	select {
	case <-f.done:
		return f.result, f.err
	case <-ctx.Done():
		return Result{}, fmt.Errorf("%w: %w", ErrUnavailable, ctx.Err())
	}
}

// end tells an answer to those who wait, also if there was a fault: what a provider says ends no
// process.
func (s *Flights) end(of [sha256.Size]byte, f *flight, fault any, now time.Time) {
	if fault != nil {
		f.err = fmt.Errorf("%w: a fault of the gateway: %v", ErrUnavailable, fault)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if f.ended = now; errors.Is(f.err, ErrUnavailable) && f.result.Refresh == "" {
		delete(s.of, of) // the token may be good still
	}
	close(f.done)
}

// drop takes out answers that are old, and where there is no room some other; mu is held.
func (s *Flights) drop(now time.Time) {
	for of, f := range s.of {
		if !f.ended.IsZero() && (now.Sub(f.ended) > lostAnswer || len(s.of) >= maxFlights) {
			delete(s.of, of)
		}
	}
}

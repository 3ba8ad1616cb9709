package authserver

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/authserver"
	people "github.com/gatehouse-proxy/gatehouse/internal/features/identity"
	"github.com/gatehouse-proxy/gatehouse/internal/gateway"
	"github.com/gatehouse-proxy/gatehouse/internal/policy"
)

// Listing is what operators see of sign-ins.
type Listing struct {
	SignIns []Row     `json:"data"`
	Blocked []Blocked `json:"blocked"`
}

// Row is a sign-in, as operators see it.
type Row struct {
	User      string    `json:"user"` // for display
	Key       string    `json:"key"`  // who it is, in records and limits
	Role      string    `json:"role"`
	Client    string    `json:"client"`
	Address   string    `json:"address"`
	Created   time.Time `json:"created_at"`
	Refreshed time.Time `json:"refreshed_at"`
	Ends      time.Time `json:"ends_at"`
}

// Blocked is somebody who is kept out.
type Blocked struct {
	Key   string    `json:"key"`
	Since time.Time `json:"since"`
}

// Operators see who has signed in, and end what people have begun.
type Operators struct {
	state  *authserver.State
	people *people.People
	core   gateway.Core
}

// Operate does what an operator asks for: "list", or "end", "block" or "unblock" with a user.
func (s *Operators) Operate(ctx context.Context, what, user string) (any, error) {
	switch what {
	case "end":
		return s.end(ctx, user)
	case "block":
		return s.block(ctx, user)
	case "unblock":
		return nil, s.unblock(ctx, user)
	}
	return s.list(), nil
}

// list returns the sign-ins that have not ended, the newest first, and who is blocked.
func (s *Operators) list() Listing {
	all := Listing{SignIns: []Row{}, Blocked: []Blocked{}}
	for _, in := range s.state.List() {
		all.SignIns = append(all.SignIns, Row{
			in.Person.Name, in.Person.ID, in.Person.Role, in.Client, in.Address, in.Created.UTC(), in.Refreshed.UTC(), in.Ends.UTC(),
		})
	}
	for id, at := range s.state.Blocks() {
		all.Blocked = append(all.Blocked, Blocked{id, at.UTC()})
	}
	slices.SortFunc(all.Blocked, func(a, b Blocked) int { return strings.Compare(a.Key, b.Key) })
	return all
}

// Ended is what the end of somebody's sign-ins has done.
type Ended struct {
	Key   string `json:"key"`
	Ended int    `json:"ended"` // sign-ins
}

// end ends all that a user has begun: the name for display, or the key.
func (s *Operators) end(ctx context.Context, user string) (Ended, error) {
	p, err := s.named(user)
	if err != nil {
		return Ended{}, err
	}
	n, err := s.state.End(ctx, p)
	s.revoke(p.ID)
	return Ended{p.ID, n}, failed(err)
}

// block keeps a user out of everything that takes tokens of the person, and ends the sign-ins.
func (s *Operators) block(ctx context.Context, user string) (Ended, error) {
	p, err := s.named(user)
	if err != nil {
		return Ended{}, err
	}
	n, err := s.state.Block(ctx, p)
	s.revoke(p.ID)
	return Ended{p.ID, n}, failed(err)
}

// unblock lets a user in again, by the key.
func (s *Operators) unblock(ctx context.Context, key string) error {
	found, err := s.state.Unblock(ctx, key)
	if err == nil && !found {
		return apierror.New(apierror.NotFound, "nobody with the key %q is blocked", key)
	}
	return failed(err)
}

// revoke ends the desktops of a person, and addresses of them, at all gateways.
func (s *Operators) revoke(id string) {
	for _, tenant := range s.people.Tenants() {
		s.core.Desktops.Revoke(tenant, id)
	}
}

// ended ends at this gateway what somebody has opened until a time: zero if one sign-in has ended,
// and then nothing as long as there is another, or a token.
func (s *Operators) ended(p authserver.Person, until time.Time) {
	now, hash := s.core.Requests.Now(), people.HashOf(p.ID)
	switch {
	case !until.IsZero():
		s.people.Ended(hash)
	case s.state.Last(hash) != nil || s.people.IsKnown(hash):
		return
	default:
		until = now
	}
	for _, tenant := range s.people.Tenants() {
		s.core.Desktops.RevokedElsewhere(tenant, p.ID, until, now)
	}
}

func failed(err error) error {
	if err == nil {
		return nil
	}
	return apierror.New(apierror.StorageUnavailable, "the sign-ins cannot be changed now; look at the list before you repeat it").WithCause(err)
}

// named returns somebody by the name for display of those who are signed in to a program, or known
// at this gateway, or by the key.
func (s *Operators) named(user string) (p authserver.Person, err error) {
	if s.people.IsSubject(policy.KeySubject(user)) {
		return authserver.Person{ID: user, Hash: people.HashOf(user)}, nil
	}
	var all []string
	for _, in := range s.state.List() {
		if in.Person.Name == user {
			all = append(all, in.Person.ID)
		}
	}
	for _, id := range append(all, s.people.Named(user)...) {
		if p.ID != "" && p.ID != id {
			return p, apierror.New(apierror.InvalidValue, "several people are called %q: name one by the key, as the list has it", user)
		}
		p = authserver.Person{ID: id, Hash: people.HashOf(id)}
	}
	if p.ID == "" {
		return p, apierror.New(apierror.NotFound, "nobody who is signed in is called %q; who is not signed in is named by the key, as in records", user)
	}
	return p, nil
}

package authserver

import (
	"context"
	"errors"
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
	Makers  []Maker   `json:"makers"`
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

// Maker is somebody who has made gateway keys, which outlive what the person has signed in with.
type Maker struct {
	User string `json:"user"`
	Key  string `json:"key"`
	Keys int    `json:"keys"`
}

// makers are the people who have made keys, by the ID.
func (s *Operators) makers() []Maker {
	all := []Maker{}
	for _, made := range s.core.Made() {
		for id, name := range made.Owners() {
			at, found := slices.BinarySearchFunc(all, id, func(m Maker, id string) int { return strings.Compare(m.Key, id) })
			if !found {
				all = slices.Insert(all, at, Maker{User: name, Key: id})
			}
			all[at].Keys++
		}
	}
	return all
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
		return s.endAll(ctx, user, s.state.End)
	case "block":
		return s.endAll(ctx, user, s.state.Block)
	case "unblock":
		return nil, s.unblock(ctx, user)
	}
	return s.list(), nil
}

// list returns the sign-ins that have not ended, the newest first, and who is blocked.
func (s *Operators) list() Listing {
	all := Listing{SignIns: []Row{}, Blocked: []Blocked{}, Makers: s.makers()}
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
	Keys  int    `json:"keys"`  // that the person has made
}

// endAll ends all that a user has begun, with the keys that the person has made: by the name for
// display, or the key. End ends the sign-ins, or keeps the person out too.
func (s *Operators) endAll(ctx context.Context, user string, end func(context.Context, authserver.Person) (int, error)) (Ended, error) {
	p, err := s.named(user)
	if err != nil {
		return Ended{}, err
	}
	n, err := end(ctx, p)
	s.revoke(p.ID)
	ended := Ended{Key: p.ID, Ended: n}
	for _, made := range s.core.Made() {
		keys, failed := made.EndOf(ctx, p.ID)
		ended.Keys, err = ended.Keys+keys, errors.Join(err, failed)
	}
	return ended, failed(err)
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
	case s.state.Last(hash, nil) != nil || s.people.IsKnown(hash):
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
	isMaker := func(m Maker) bool { return m.Key == user } // perhaps of an identity that is gone
	if s.people.IsSubject(policy.KeySubject(user)) || slices.ContainsFunc(s.makers(), isMaker) {
		return authserver.Person{ID: user, Hash: people.HashOf(user)}, nil
	}
	var all []string
	for _, in := range s.state.List() {
		if in.Person.Name == user {
			all = append(all, in.Person.ID)
		}
	}
	for _, m := range s.makers() {
		if m.User == user {
			all = append(all, m.Key)
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

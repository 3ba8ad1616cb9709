package authserver

import (
	"crypto/subtle"
	"encoding/json"
	"slices"
	"time"
)

// SignIn is a person at one client. A value never changes.
type SignIn struct {
	ID ID `json:"-"`

	version int64

	Person Person `json:"person"`
	// Client is what the client says to be, such as "claude_code": nothing depends on it.
	Client string `json:"client"`
	Grant  Grant  `json:"grant,omitzero"`
	// Address is where the client has asked from.
	Address   string    `json:"address"`
	Created   time.Time `json:"created"`
	Refreshed time.Time `json:"refreshed"` // Created before the first time
	// Ends is when somebody has to sign in again.
	Ends time.Time `json:"ends"`
	// Ended reports whether it has ended before that.
	Ended bool `json:"ended,omitempty"`

	// Access are its access tokens, the newest first.
	Access []accessToken `json:"access"`
	// Refresh are the refresh tokens that are good, and Used those that were until Refreshed.
	Refresh []Sum `json:"refresh"`
	Used    []Sum `json:"used"`
	// Upstream is the refresh token of the identity provider, encrypted; nil without one.
	Upstream []byte `json:"upstream,omitempty"`
	// Asked is since when a gateway asks the identity provider; zero: none does.
	Asked time.Time `json:"asked,omitzero"`
}

// Grant is what a client may do that has named itself, and what it is good for.
type Grant struct {
	// Client is the SHA-256 of the ID of the client; zero for one that has none (RFC 8628).
	Client Sum `json:"client,omitzero"`
	// Resource is the path at which alone its tokens are good, such as "/mcp/github". "": all.
	Resource string `json:"resource,omitempty"`
	// Scopes are the rights that its tokens have as far as the person has them. None: see
	// [Config.Scopes].
	Scopes []string `json:"scopes,omitempty"`
}

type accessToken struct {
	Sum   Sum       `json:"sum"`
	Until time.Time `json:"until"`
}

// Good reports whether the sign-in has not ended.
func (s *SignIn) Good(now time.Time) bool { return !s.Ended && now.Before(s.Ends) }

// Until returns when the last of its access tokens ends.
func (s *SignIn) Until() time.Time {
	if len(s.Access) == 0 {
		return time.Time{}
	}
	return s.Access[0].Until
}

// has returns when an access token ends.
func (s *SignIn) has(sum Sum) (until time.Time, ok bool) {
	for i := range s.Access {
		if t := &s.Access[i]; subtle.ConstantTimeCompare(t.Sum[:], sum[:]) == 1 {
			return t.Until, true
		}
	}
	return time.Time{}, false
}

// use is what a refresh token is to a sign-in.
type use int

const (
	unknown use = iota // or used long ago
	good
	again // used a moment ago
)

func (s *SignIn) use(sum Sum, now time.Time) use {
	switch {
	case slices.Contains(s.Refresh, sum):
		return good
	case slices.Contains(s.Used, sum) && now.Before(s.Refreshed.Add(reuseGrace)):
		return again
	}
	return unknown
}

// renewed returns the sign-in with new tokens, for a refresh token that is good. It has
// fewer than maxTokens refresh tokens then, if the token was used a moment ago.
func (s SignIn) renewed(access accessToken, refresh Sum, used use, now time.Time) SignIn {
	s.Access = slices.DeleteFunc(slices.Insert(slices.Clone(s.Access), 0, access), func(t accessToken) bool { return !now.Before(t.Until) })
	s.Access = s.Access[:min(len(s.Access), maxTokens)]
	if used == again {
		s.Refresh = slices.Insert(slices.Clone(s.Refresh), 0, refresh)
		return s
	}
	s.Used, s.Refresh, s.Refreshed = s.Refresh, []Sum{refresh}, now
	return s
}

// over returns the sign-in after its end.
func (s SignIn) over() SignIn {
	s.Ended, s.Access, s.Refresh, s.Used, s.Upstream = true, nil, nil, nil, nil
	return s
}

// toldFor is how long it is kept that something has ended, so that all gateways learn of it.
const toldFor = 24 * time.Hour

func (s SignIn) record(now time.Time) (Record, error) {
	body, err := json.Marshal(s)
	r := Record{ID: s.ID, Kind: kindSignIn, Ends: s.Ends, Body: body}
	if s.Ended {
		r.Ends = now.Add(toldFor)
	}
	return r, err
}

func signInOf(r *Record) (s SignIn, err error) {
	if r == nil || r.Kind != kindSignIn {
		return s, ErrGone
	}
	err = json.Unmarshal(r.Body, &s)
	s.ID, s.version = r.ID, r.Version
	return s, err
}

// MarshalText encodes a hash for JSON.
func (s Sum) MarshalText() ([]byte, error) { return encodeHex(s[:]), nil }

// UnmarshalText is the opposite of MarshalText.
func (s *Sum) UnmarshalText(text []byte) error { return decodeHex(s[:], text) }

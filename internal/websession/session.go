// Package websession keeps who is signed in to the console.
//
//	store := websession.NewMemory(time.Now)                    // or NewShared, of several gateways
//	id, err := store.Create(ctx, session, life)                // the cookie
//	session, ok, err := store.Find(ctx, id, life)              // at each request
//	session, ok, err := store.Peek(ctx, id, life)              // at those that a page sends by itself
//	stop := store.OnEnd(id, life, used, func() { … })          // an open desktop
//	err = store.Update(ctx, id, session)                       // the provider was asked again
//	err = store.Delete(ctx, id)                                // sign-out
//	store.Retain(func(s Session) bool { … })                   // after a reload
//
// A session has an ID of 256 random bits. Only the browser has it: the stores know its SHA-256. They
// hold no key either, but the key's name and the hash of its secret, so that the key is judged again at
// each request.
package websession

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"time"
)

const (
	// MaxOfOwner is how many sessions a key and user may have. A further sign-in ends the one that
	// would end first.
	MaxOfOwner = 10
	// MaxSessions bounds the sessions of all in the same way: about 5 MiB, and with grants of
	// identity providers about 30.
	MaxSessions = 10_000

	// touchShare is how exactly the last use is kept: a session is written when a 60th of its idle time
	// has passed since it was written last.
	touchShare = 60

	idBytes = 32
)

// Session is one browser that is signed in.
type Session struct {
	Tenant  string
	Key     string // name
	KeyHash string // of the secret, as [keys.Credential] has it; "" for single sign-on
	User    string // whom another system has signed in; "" for a key
	// Grant is what is kept of a sign-in at an identity provider; "" for others.
	Grant string

	Started, Used time.Time // set by the store
}

// owner is whose sessions are counted together.
func (s *Session) owner() string {
	sum := sha256.Sum256([]byte(s.Tenant + "\x00" + s.Key + "\x00" + s.User))
	return hex.EncodeToString(sum[:])
}

// Life is how long a session lives. A configuration may make it shorter for the sessions that exist.
type Life struct {
	Idle time.Duration // since a person's last request, or key or pointer event at a desktop
	Max  time.Duration // since the sign-in
}

func (l Life) end(s *Session) time.Time {
	idle, last := s.Used.Add(l.Idle), s.Started.Add(l.Max)
	if last.Before(idle) {
		return last
	}
	return idle
}

// Store keeps sessions. An error says that it cannot be asked at present, so nobody can be proved to
// be signed in. It is safe for concurrent use.
type Store interface {
	// Create keeps a new session and returns its ID.
	Create(ctx context.Context, s Session, life Life) (id string, err error)
	// Find returns a session that lives, and notes that it is used.
	Find(ctx context.Context, id string, life Life) (s Session, ok bool, err error)
	// Peek is Find for a request that no person has made: it is no use of the session.
	Peek(ctx context.Context, id string, life Life) (s Session, ok bool, err error)
	// Update replaces what is known of a session that lives, but for its times. One that does not
	// exist is no error.
	Update(ctx context.Context, id string, s Session) error
	// Delete ends a session, here and at other gateways. One that does not exist is no error.
	Delete(ctx context.Context, id string) error
	// Retain ends the sessions for which keep is false, here and at other gateways. It waits for nothing:
	// several gateways do it with their next poll. Keep is called by one goroutine, without a lock.
	Retain(keep func(Session) bool)
	// OnEnd calls f once when the session ends, unless stop is called before. Used returns when a person
	// has last used what f ends, which is use of the session; the zero time is none. Neither may wait for
	// anything. F may still be called while stop runs.
	OnEnd(id string, life Life, used func() time.Time, f func()) (stop func())
	// Len is the number of sessions. It waits for nothing: several gateways know it from their last
	// poll, a few seconds ago.
	Len() int
}

// newID returns the ID of a new session and the hash by which a store knows it.
func newID() (id, hash string) {
	raw := make([]byte, idBytes)
	_, _ = rand.Read(raw) // never fails
	id = base64.RawURLEncoding.EncodeToString(raw)
	hash, _ = hashOf(id)
	return id, hash
}

var idLen = base64.RawURLEncoding.EncodedLen(idBytes)

// hashOf returns the hash of an ID. Ok is false for a text that cannot be one.
func hashOf(id string) (hash string, ok bool) {
	if len(id) != idLen {
		return "", false
	}
	sum := sha256.Sum256([]byte(id))
	return hex.EncodeToString(sum[:]), true
}

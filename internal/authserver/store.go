package authserver

import (
	"context"
	"time"
)

// Kind is what a record is of.
type Kind string

// The kinds of records.
const (
	kindSignIn  Kind = "sign_in"
	kindAttempt Kind = "device" // its first kind
	kindBlock   Kind = "block"
)

// Record is a row of a store.
type Record struct {
	ID   ID
	Kind Kind
	// Ends is when it may be forgotten.
	Ends time.Time
	// Body is JSON.
	Body []byte
	// Version grows with each change.
	Version int64
}

// Store keeps records. It forgets those that have ended, sooner or later.
type Store interface {
	// Load yields all records of some kinds.
	Load(ctx context.Context, kinds []Kind, yield func(Record)) error
	// Get returns a record. Ok is false if there is none.
	Get(ctx context.Context, id ID) (r Record, ok bool, err error)
	// Change puts what edit makes of a record in its place; edit gets nil if there is none. No
	// other change of the record comes between, and it is kept when Change returns. The error is
	// that of edit, and then nothing has changed, or wraps ErrUnavailable.
	Change(ctx context.Context, id ID, edit func(*Record) (Record, error)) error
	// Loading reports whether nothing is known yet, since Load could not read it: a change of
	// another gateway will bring it.
	Loading() bool
	// Follow has a function called with each record that another gateway has changed. It is called
	// before Load.
	Follow(changed func(Record))
}

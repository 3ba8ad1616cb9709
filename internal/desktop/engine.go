package desktop

import (
	"context"
	"errors"
	"net/netip"
	"time"
)

// Engine has the tokens and the sessions of several gateways. Each method is one message, which may
// arrive twice. After an error its effect is unknown.
type Engine interface {
	// Issue makes a token live, for life until its first use and at most for longest.
	Issue(ctx context.Context, t *SharedToken, life, longest time.Duration, most int) (IssueOutcome, error)
	// Find returns what a viewer's token is; it changes nothing.
	Find(ctx context.Context, shown Shown, terms Terms) (Found, error)
	// Prefixes are those of tokens that live, or died in the last hour.
	Prefixes(ctx context.Context) ([]string, error)
	// Join opens a session, and ends those that it replaces.
	Join(ctx context.Context, x *SharedSession, terms Terms) (Joined, error)
	// Restate says again what this gateway knows of a token, and of its session unless x is nil. It
	// returns why the session must end, "" if it goes on.
	Restate(ctx context.Context, t *SharedToken, x *SharedSession, rule Conflict) (Reason, error)
	// Leave ends sessions of this gateway.
	Leave(ctx context.Context, sessions ...string) error
	// End ends a session by a key, and revokes its token. It reports whether there is such a session.
	End(ctx context.Context, id ID, session, key string) (bool, error)
	// Release ends all at a workstation, by a key: tokens of a generation before this one. Generation 0 is a
	// release that is not stored: no token is issued until Reopen or a later release. It returns how
	// many sessions of other gateways end.
	Release(ctx context.Context, id ID, generation int64, key string) (elsewhere int, err error)
	// Reopen takes back a release that was not stored.
	Reopen(ctx context.Context, id ID) error
	// Revoke ends at a time all tokens that a key has asked for so far.
	Revoke(ctx context.Context, tenant, key string, end time.Time) error
	// Desks returns the tokens and sessions of some workstations; nil: of all with sessions.
	Desks(ctx context.Context, ids []ID) ([]Desk, error)
	// Attend states the sessions of this gateway, and returns what the engine knows of them.
	Attend(ctx context.Context, sessions []*SharedSession) (Attendance, error)
}

// SharedToken is a token as gateways share it.
type SharedToken struct {
	Hash        string // hex of its SHA-256
	Prefix      string // "" unless VNC authentication was on
	Workstation ID
	Issuer      Issuer
	ViewOnly    bool
	Shared      bool
	Once        bool
	Claim       Claim
	Issued      int64 // by the engine's clock, in microseconds
	Until       time.Time
	Deadline    time.Time
	Client      netip.Addr
	Generation  int64 // of the workstation when it was issued
}

// SharedSession is a session as gateways share it.
type SharedSession struct {
	SessionView
	Token     *SharedToken
	Reconnect time.Duration // for which its token lives after it
}

// Shown is what a viewer shows of its token: one of them.
type Shown struct{ Hash, Prefix string }

// Terms are the rules for a viewer.
type Terms struct {
	Client      netip.Addr // without a zone, IPv4 as such
	Rule        Conflict
	MaxSessions int // in all gateways
	Pin         bool
	Generation  int64 // of the workstation, as this gateway knows it
}

// Found is a token that a viewer has shown.
type Found struct {
	Token SharedToken
	Code  RefusalCode // why the token is dead, "" while it lives
	Look  RefusalCode // what Join would say now
}

// Joined is the outcome of Join.
type Joined struct {
	Code     RefusalCode // "" if the session is open
	Started  time.Time
	Until    time.Time
	Replaced []string // sessions
}

// Desk is what a workstation has at all gateways.
type Desk struct {
	ID       ID
	Tokens   int // live
	Sessions []SessionView
}

// Attendance is what the engine knows of a gateway's sessions.
type Attendance struct {
	Held    []string          // open for the engine
	Ended   map[string]Reason // that must end
	Revoked []Revocation      // of keys that sessions have
}

// Revocation is the end of the tokens that a key has asked for up to a time.
type Revocation struct {
	Tenant, Key string
	Before      int64 // when it was revoked, by the engine's clock
	End         time.Time
}

// reaches reports whether a token ends by the revocation.
func (r *Revocation) reaches(by Issuer, issued int64) bool {
	return by.Tenant == r.Tenant && by.Key == r.Key && issued <= r.Before
}

// IssueOutcome is what became of a new token.
type IssueOutcome string

// The outcomes of Issue.
const (
	IssueOK       IssueOutcome = "ok"
	IssueTaken    IssueOutcome = "taken"    // another token begins with the same characters
	IssueExceeded IssueOutcome = "exceeded" // the workstation has so many live tokens
	IssueReleased IssueOutcome = "released"
	IssueStale    IssueOutcome = "stale" // the workstation was released since this gateway last looked
)

// ErrAway is wrapped by Records.CatchUp if the records cannot be read now.
var ErrAway = errors.New("the records of workstations cannot be read now")

// Records keep registrations and release marks where all gateways read them. Every change has a
// number, and a reader sees the changes in the order of their numbers.
type Records interface {
	// Store returns the record with its numbers.
	Store(ctx context.Context, r StoredRecord) (StoredRecord, error)
	// Delete deletes a record unless it has changed after a number.
	Delete(ctx context.Context, id ID, seen int64) error
	// CatchUp returns when Sharing.Apply has had all changes that were made before, or ErrAway.
	CatchUp(ctx context.Context) error
}

// StoredRecord is the record of a workstation as gateways share it.
type StoredRecord struct {
	ID         ID
	Value      []byte // JSON as in record.go; nil: deleted
	Released   bool
	ReleasedBy string // the key, "" where it is not known
	Seq        int64  // the number of its last change
	Generation int64  // the number of its last release, 0 before the first
}

package desktop

import (
	"context"
	"slices"
	"time"
)

// Store has the tokens and the sessions of all gateways, by workstation. It stores and compares; the
// rules are those of [Workstation]. After an error its effect is unknown.
type Store interface {
	// Find returns what a viewer's token is.
	Find(ctx context.Context, shown Shown) (Found, error)
	// Load returns workstations, in the order of their names. One of which the store knows nothing is
	// empty.
	Load(ctx context.Context, ids ...ID) ([]*Workstation, error)
	// Open returns the workstations with sessions for lists; without a name all that have some. A
	// store of one gateway returns none: that knows its sessions.
	Open(ctx context.Context, ids ...ID) ([]*Workstation, error)
	// Swap stores a workstation unless it has changed since it was loaded.
	Swap(ctx context.Context, c *Change) (Outcome, error)
	// Prefixes returns the first characters of tokens that live, or died in the last hour.
	Prefixes(ctx context.Context) ([]string, error)
	// IssuedTo returns the workstations where a key may have tokens or sessions.
	IssuedTo(ctx context.Context, tenant, key string) ([]ID, error)
	// Node names this gateway in the store; "" where there is no other.
	Node() string
	// Own returns the workstations with tokens that no other gateway can know; none where gateways
	// share the store.
	Own() []ID
}

// Shown is what a viewer shows of its token: one of them.
type Shown struct {
	Hash   Hash
	Prefix string
}

// Found is the token that a viewer has shown, and its workstation.
type Found struct {
	Workstation *Workstation
	Token       *Token
	Code        RefusalCode // why there is none, "" if there is one
	Sessions    int         // open ones at all workstations
}

// Change replaces a workstation in the store.
type Change struct {
	Before   *Workstation // as it was loaded
	After    *Workstation
	Most     int  // sessions of all workstations before a new one opens; 0: any number
	Restates bool // it says what a gateway knows, for a store that has lost it
}

// Outcome is what became of a change.
type Outcome uint8

// The outcomes.
const (
	Stored  Outcome = iota
	Changed         // the workstation is not as it was loaded
	Taken           // a viewer could mean another token by a new one
	Full            // there are so many sessions
)

// Issued returns the tokens that are new.
func (c *Change) Issued() (tokens []*Token) {
	for _, t := range c.After.Tokens {
		if c.Before.Token(t.Hash) == nil {
			tokens = append(tokens, t)
		}
	}
	return tokens
}

// Opened returns the sessions that count from now on, at their gateway.
func (c *Change) Opened() []*SessionRecord { return counted(c.After, c.Before) }

// Closed returns the sessions that no longer count.
func (c *Change) Closed() []*SessionRecord { return counted(c.Before, c.After) }

// counted returns the open sessions of one state of a workstation that are not open in the other.
func counted(one, other *Workstation) (sessions []*SessionRecord) {
	for _, x := range one.Sessions {
		if there := other.session(x.ID); x.Ended == "" && (there == nil || there.Ended != "" || there.Node != x.Node) {
			sessions = append(sessions, x)
		}
	}
	return sessions
}

// Concerns reports whether another gateway than node should know of the change: a session of its own
// ends, the input at one of its sessions has another holder, or a token ends that it has issued.
func (c *Change) Concerns(node string) bool {
	for _, x := range c.Before.Sessions {
		now := c.After.session(x.ID)
		if x.Node != node && now != nil && (now.Ended != x.Ended || now.Until.Before(x.Until) || c.Before.Hold != c.After.Hold) {
			return true
		}
	}
	for _, t := range c.Before.Tokens {
		if now := c.After.Token(t.Hash); now != nil && now.Until.Before(t.Until) {
			return true
		}
	}
	return slices.ContainsFunc(c.After.Dead, func(t DeadToken) bool {
		return t.Why == RefusedRevoked || t.Why == RefusedReleased
	})
}

// nothing reports whether the change changes nothing.
func (c *Change) nothing() bool {
	a, b := c.Before, c.After
	return a.Generation == b.Generation && a.Shut == b.Shut && a.Refreshed.Equal(b.Refreshed) && a.Hold == b.Hold && len(b.Dead) == 0 &&
		slices.Equal(a.Tokens, b.Tokens) && slices.Equal(a.Sessions, b.Sessions)
}

// RecentDeath is how long ago a token died of which a viewer may still show the first characters.
const RecentDeath = time.Hour

// Remembered is how long a dead token is known as one.
const Remembered = 24 * time.Hour
